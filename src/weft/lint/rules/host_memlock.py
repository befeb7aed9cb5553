"""Memory that RDMA has to pin is limited.

What it checks: memlock in limits.conf, systemd units, ulimit -l and containers; Slurm's
PropagateResourceLimits.
Why it matters: registering memory fails with "Cannot allocate memory": NCCL stops, often only
when the job grows.
What to do: unlimited, for all users and in all units that start jobs.
References: limits.conf(5); systemd.exec(5), LimitMEMLOCK; NCCL user guide, troubleshooting.
"""

from typing import TYPE_CHECKING, Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

if TYPE_CHECKING:
    from weft.lint.facts import Option

_FREE: Final = frozenset({"unlimited", "infinity", "-1"})


_ITEMS: Final = frozenset(
    {
        "as", "chroot", "core", "cpu", "data", "fsize", "locks", "maxlogins", "maxsyslogins",
        "memlock", "msgqueue", "nice", "nofile", "nonewprivs", "nproc", "priority", "rss",
        "rtprio", "sigpending", "stack",
    }
)  # fmt: skip


def _check(case: Case) -> Found:
    for one in case.options("limits"):
        item = one.name.partition(" ")[0]
        if item not in _ITEMS:
            yield problem(
                one,
                f"limits.conf knows no {item}",
                "is memlock meant?",
                severity=Severity.ERROR,
            )
        if one.name.startswith("memlock") and one.value not in _FREE:
            yield problem(one, f"{one.device} may pin {one.value} KiB", "write unlimited")
    yield from _halves(case)
    for one in case.options("ulimit", "memlock"):
        if one.value not in _FREE and one.value.isdecimal():
            yield problem(
                one, f"the script pins {one.value} KiB at the most", "ulimit -l unlimited"
            )
    for one in case.options("systemd", "Service.LimitMEMLOCK"):
        if one.value not in _FREE:
            yield problem(one, f"{one.device} may pin {one.value}", "LimitMEMLOCK=infinity")
    daemons = [
        one
        for one in case.options("systemd", "Service.ExecStart")
        if any(word in one.value for word in ("slurmd", "containerd", "dockerd"))
    ]
    for one in daemons:
        limits = [
            o for o in case.options("systemd", "Service.LimitMEMLOCK") if o.device == one.device
        ]
        if not limits:
            yield problem(
                one,
                f"{one.device} starts jobs with the default limit of pinned memory",
                "add LimitMEMLOCK=infinity",
            )


def _halves(case: Case) -> Found:
    """Yield domains whose soft or hard limit alone is lifted: the other one still holds."""
    kinds: dict[tuple[str, str], list[Option]] = {}
    for one in case.options("limits"):
        if one.name.startswith("memlock"):
            kinds.setdefault((one.at.text.name, one.device), []).append(one)
    for rows in kinds.values():
        names = {one.name.rpartition(" ")[2] for one in rows}
        if len(names) == 1 and names != {"-"}:
            other = "hard" if names == {"soft"} else "soft"
            yield problem(
                rows,
                f"memlock has a {min(names)} limit for {rows[0].device} and no {other} one, "
                "which stays at its default",
                f"add {rows[0].device} {other} memlock unlimited",
            )


host_memlock = Rule(
    layer=Layer.HOSTS,
    severity=Severity.ERROR,
    reference="https://man7.org/linux/man-pages/man5/limits.conf.5.html",
    check=_check,
)

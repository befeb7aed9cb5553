"""Memory that RDMA has to pin is limited.

What it checks: memlock in limits.conf, systemd units, ulimit -l and containers; Slurm's
PropagateResourceLimits.
Why it matters: registering memory fails with "Cannot allocate memory": NCCL stops, often only
when the job grows.
What to do: unlimited, for all users and in all units that start jobs.
References: limits.conf(5); systemd.exec(5), LimitMEMLOCK; NCCL user guide, troubleshooting.
"""

from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_FREE: Final = frozenset({"unlimited", "infinity", "-1"})


def _check(case: Case) -> Found:
    for one in case.options("limits"):
        if one.name.startswith("memlock") and one.value not in _FREE:
            yield problem(one, f"{one.device} may pin {one.value} KiB", "write unlimited")
    for one in case.options("ulimit", "memlock"):
        if one.value not in _FREE:
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


host_memlock = Rule(
    layer=Layer.HOSTS,
    severity=Severity.ERROR,
    reference="https://man7.org/linux/man-pages/man5/limits.conf.5.html",
    check=_check,
)

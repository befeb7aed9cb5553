"""Master and standby would run the subnet differently.

What it checks: every option but the priority, the GUID and paths of logs, over the
configurations of one subnet.
Why it matters: when the standby takes over at night, routes, lanes and partitions change under
running jobs.
What to do: the same file on both, but for sm_priority.
References: man opensm; NVIDIA, subnet manager high availability.
"""

from typing import TYPE_CHECKING, Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

if TYPE_CHECKING:
    from weft.lint.facts import Option

_OWN: Final = frozenset(
    {
        "sm_priority",
        "guid",
        "log_file",
        "dump_files_dir",
        "babbling_port_policy",
        "event_db_dump_file",
        "console",
        "console_port",
        "daemon",
        "m_key",
    }
)


def _check(case: Case) -> Found:
    by_name: dict[str, dict[str, Option]] = {}
    for one in case.options("opensm"):
        by_name.setdefault(one.name, {})[one.device] = one
    files = {one.device for one in case.options("opensm")}
    for name, rows in by_name.items():
        if name in _OWN or len(files) < 2:  # noqa: PLR2004 - two that differ
            continue
        values = {one.value for one in rows.values()}
        if len(values) > 1:
            yield problem(
                rows.values(),
                f"{name} differs between the subnet managers",
                "give both the same",
            )
        elif len(rows) < len(files):
            yield problem(
                rows.values(),
                f"{name} is set for one of the subnet managers alone",
                "give both the same",
                severity=Severity.WARNING,
            )


ib_managers_differ = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)

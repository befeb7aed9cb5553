"""More than one subnet manager would be master, or none is sure to be.

What it checks: sm_priority of the configurations of a subnet: a single highest, 0 to 15, and
subnet prefixes that agree.
Why it matters: equal priorities leave the choice to the GUIDs: after a restart the mastership
moves, routes are computed anew, and jobs stall; two with different settings fight.
What to do: 15 for the master, 14 for the standby, one of each.
References: man opensm, sm_priority; InfiniBand specification, SM priority.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MOST: Final = 15


def _check(case: Case) -> Found:
    rows = case.options("opensm", "sm_priority")
    numbers = [(one, whole(one.value)) for one in rows]
    for one, value in numbers:
        if value is None or not 0 <= value <= _MOST:
            yield problem(one, f"sm_priority {one.value}", f"use 0 to {_MOST}")
    held = [(one, value) for one, value in numbers if value is not None]
    files = {one.at.text.name for one in case.options("opensm")}
    top = max((value for _, value in held), default=None)
    masters = [one for one, value in held if value == top]
    if len(masters) > 1:
        yield problem(
            masters,
            f"{len(masters)} subnet managers have the highest priority {top}: "
            "their GUIDs decide who is master",
            "give the standby less",
        )
    if len(files) > 1 and len(held) < len(files):
        without = [
            one
            for one in case.options("opensm")
            if one.at.text.name not in {o.at.text.name for o in rows}
        ]
        if without:
            yield problem(
                without,
                "this subnet manager has no sm_priority: it is 0 as any other's",
                "give each its own",
                severity=Severity.WARNING,
            )
    yield from _prefixes(case)


def _prefixes(case: Case) -> Found:
    rows = case.options("opensm", "subnet_prefix")
    values = {one.value.lower() for one in rows}
    if len(values) > 1:
        yield problem(
            rows, "the subnet managers of one subnet have different prefixes", "use one prefix"
        )


ib_managers = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)

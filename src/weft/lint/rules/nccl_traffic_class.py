"""The traffic class is not a DSCP with two bits of ECN.

What it checks: NCCL_IB_TC (and NCCL_IB_FIFO_TC, cma_roce_tos): a DSCP written in place of the
class, ECN bits that say "congestion experienced", and values beyond a byte.
Why it matters: the class is DSCP x 4 + ECN: 26 in place of 104 is DSCP 6, which no switch keeps
lossless; with the last two bits at 3 every packet looks marked, and senders crawl.
What to do: write DSCP x 4 (+ 2, ECN-capable): 104 or 106 for DSCP 26.
References: NCCL user guide, NCCL_IB_TC; RFC 2474 and RFC 3168, the byte of DSCP and ECN.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Map, Mapped, Mark
from weft.lint.quality import DSCPS, ECN_BITS
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_CONGESTED: Final = 3
_USUAL: Final = frozenset({24, 26, 34, 46, 48})
"""Classes that switches keep apart where nobody says which."""


def _check(case: Case) -> Found:
    if case.fabric == "infiniband":
        return
    jobs = [
        (one, one.name, whole(one.value))
        for one in case.variables("NCCL_IB_TC", "NCCL_IB_FIFO_TC")
    ]
    hosts = [(mark, mark.tool, mark.traffic_class) for mark in case.of(Mark)]
    for fact, name, value in [*jobs, *hosts]:
        if value is None:
            continue
        if value > 255 or value < 0:  # noqa: PLR2004 - a byte
            yield problem(
                fact, f"{name} {value} does not fit into a byte", "write DSCP x 4 + 2"
            )
        elif value % ECN_BITS == _CONGESTED:
            yield problem(
                fact,
                f"{name} {value} ends in 3, which says 'congestion experienced' on "
                "every packet",
                f"write {value - 1}",
            )
        elif 0 < value < DSCPS and _is_dscp(case, value):
            yield problem(
                fact,
                f"{name} {value} is DSCP {value // ECN_BITS}; DSCP {value} seems to be meant",
                f"write {value * ECN_BITS + 2}",
            )
        elif value == 1 or value % ECN_BITS == 1:
            yield problem(
                fact,
                f"{name} {value} has the ECN bits 01, which newer congestion control (L4S) "
                "takes for itself",
                f"write {value + 1}",
                severity=Severity.INFO,
            )


def _is_dscp(case: Case, value: int) -> bool:
    """Return whether a number is a class of its own as a DSCP, and not as a traffic class."""
    rows = [one for one in case.of(Mapped) if one.kind is Map.DSCP_TO_CLASS]
    said = {one.source for one in rows if one.target != 0} if rows else _USUAL
    return value in said and value // ECN_BITS not in said


nccl_traffic_class = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc3168",
    check=_check,
)

"""The GID index is set by hand where NCCL finds it.

What it checks: NCCL_IB_GID_INDEX on RoCE with NCCL 2.21 or newer; and before 2.21, its absence
where nothing else can choose RoCE v2.
Why it matters: the index of RoCE v2 moves when an address is added, differs between hosts and
inside pods; a wrong one ends in time-outs.
What to do: unset it (from 2.21 NCCL takes the GID of RoCE v2 with an address of
NCCL_IB_ADDR_FAMILY); before 2.21 read it with show_gids on every host.
References: NCCL user guide, NCCL_IB_GID_INDEX, NCCL_IB_ROCE_VERSION_NUM, NCCL_IB_ADDR_FAMILY.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_AUTOMATIC: Final = (2, 21)


def _check(case: Case) -> Found:
    if case.fabric == "infiniband" or (case.nccl is not None and case.nccl < _AUTOMATIC):
        return
    for one in case.variables("NCCL_IB_GID_INDEX"):
        index = whole(one.value)
        if index is None or index < 0:
            continue
        yield problem(
            one,
            f"NCCL_IB_GID_INDEX={index} is a guess that NCCL 2.21 and newer need not make",
            "unset it; say NCCL_IB_ADDR_FAMILY where IPv6 is meant",
            severity=Severity.WARNING if case.fabric == "roce" or index == 0 else Severity.INFO,
        )


nccl_gid_by_hand = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

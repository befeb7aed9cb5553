"""A GID index is set on InfiniBand, which has nothing to choose.

What it checks: NCCL_IB_GID_INDEX and RoCE's version where the fabric is InfiniBand.
Why it matters: InfiniBand routes by LID, and index 0 is the only GID there is; another index is
empty, and connections fail or take a path of luck.
What to do: unset it; it was copied from a guide for RoCE.
References: NCCL user guide, NCCL_IB_GID_INDEX (RoCE); InfiniBand specification, GID table.
"""

from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_NAMES: Final = ("NCCL_IB_GID_INDEX", "NCCL_IB_ROCE_VERSION_NUM")


def _check(case: Case) -> Found:
    if case.fabric != "infiniband":
        return
    for one in case.variables(*_NAMES):
        if one.value.strip() not in {"", "-1", "0"}:
            yield problem(
                one, f"{one.name} is for RoCE, and the fabric is InfiniBand", "unset it"
            )


nccl_gid_on_infiniband = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

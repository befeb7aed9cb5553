"""Adapters of different PCIe switches are merged into one.

What it checks: NCCL_NET_MERGE_LEVEL above PORT, and NCCL_NET_FORCE_MERGE.
Why it matters: a merged adapter is as far from a GPU as the farther of its parts: GPUDirect is
lost, and rails are mixed.
What to do: keep PORT, which merges the two ports of one NIC.
References: NCCL source, NCCL_NET_MERGE_LEVEL; NCCL user guide, NCCL_IB_MERGE_NICS.
"""

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_NET_MERGE_LEVEL"):
        if one.value.strip().upper() not in {"LOC", "PORT", ""}:
            yield problem(one, f"adapters are merged over {one.value}", "unset it, or set PORT")
    for one in case.variables("NCCL_NET_FORCE_MERGE"):
        if one.value.strip():
            yield problem(one, "adapters are merged by hand", "unset it")


nccl_merged_adapters = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

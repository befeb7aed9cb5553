"""NCCL is told a P_Key that is not in the NIC's table.

What it checks: NCCL_IB_PKEY on Ethernet, where a table has one key alone, and values that are a
key and not the index of one.
Why it matters: the queue pair cannot be made: the job stops at its first collective.
What to do: unset it on Ethernet; on InfiniBand give the index of the partition.
References: NCCL user guide, NCCL_IB_PKEY; RoCE annex A16, P_Key.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LARGEST_TABLE: Final = 128
"""Keys that a port of a ConnectX holds."""


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_PKEY"):
        value = whole(one.value)
        if value is None or not value:
            continue
        if case.on_ethernet:
            yield problem(
                one, f"RoCE has P_Key index 0 alone, and NCCL_IB_PKEY={one.value}", "unset it"
            )
        elif value >= _LARGEST_TABLE:
            yield problem(
                one,
                f"NCCL_IB_PKEY={one.value} is a key, or no index that a port has",
                "give the index of the key: /sys/class/infiniband/DEVICE/ports/1/pkeys",
            )


nccl_partition_key = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""Queue pairs are multiplied where that does not help, or split without being multiplied.

What it checks: NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS, by fabric.
Why it matters: on InfiniBand, or behind adaptive routing, more queue pairs only cost cache of
the NIC; beyond 16 they cost more than they spread; splitting over one does nothing.
What to do: 1 on InfiniBand; 2 to 8 where ECMP hashes flows, measured.
References: NCCL user guide, NCCL_IB_QPS_PER_CONNECTION; Meta, SIGCOMM 2024, section 4.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MANY: Final = 16


def _check(case: Case) -> Found:
    pairs = [(one, whole(one.value)) for one in case.variables("NCCL_IB_QPS_PER_CONNECTION")]
    for one, count in pairs:
        if count is not None and count > _MANY:
            yield problem(
                one,
                f"{count} queue pairs a connection overrun the NIC's cache",
                "measure 1, 2, 4 and 8",
            )
        elif count is not None and count > 1 and case.fabric == "infiniband":
            yield problem(
                one,
                f"{count} queue pairs a connection: InfiniBand routes by "
                "destination or adaptively, not by flow",
                "unset it",
            )
    for one in case.variables("NCCL_IB_SPLIT_DATA_ON_QPS"):
        alone = not any(count is not None and count > 1 for _, count in pairs)
        if one.value.strip() == "1" and alone:
            yield problem(
                one,
                "messages are split over queue pairs, of which there is one",
                "unset it, or set NCCL_IB_QPS_PER_CONNECTION",
                severity=Severity.INFO,
            )


nccl_queue_pairs = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

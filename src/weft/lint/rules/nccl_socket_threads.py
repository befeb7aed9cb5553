"""Socket threads and sockets multiply beyond what NCCL allows.

What it checks: NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD against 64, and both where RDMA
carries the data.
Why it matters: beyond 64 NCCL warns and cuts; on RDMA they do nothing but suggest tuning.
What to do: keep the product at 64 or less; on RDMA remove both.
References: NCCL user guide, NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MOST: Final = 64
_RDMA: Final = frozenset({"infiniband", "roce"})


def _check(case: Case) -> Found:
    threads = case.variables("NCCL_SOCKET_NTHREADS")
    sockets = case.variables("NCCL_NSOCKS_PERTHREAD")
    for one in threads:
        for other in sockets:
            product = (whole(one.value) or 0) * (whole(other.value) or 0)
            if one.device == other.device and product > _MOST:
                yield problem(
                    [one, other],
                    f"{product} sockets a connection; NCCL takes {_MOST}",
                    f"keep the product at {_MOST} or less",
                )
    if case.fabric in _RDMA:
        for one in [*threads, *sockets]:
            yield problem(
                one,
                f"{one.name} is for TCP, and RDMA carries the data",
                "remove it",
                severity=Severity.INFO,
            )


nccl_socket_threads = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

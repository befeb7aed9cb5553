"""RDMA is switched off.

What it checks: NCCL_IB_DISABLE=1, NCCL_NET=Socket and plug-ins that force sockets, unless the
fabric is known to be TCP, or nothing else speaks of RDMA.
Why it matters: a job falls back to TCP: a fraction of the bandwidth at many times the latency,
and nothing fails.
What to do: unset it; it is for finding faults, not for running.
References: NCCL user guide, NCCL_IB_DISABLE and NCCL_NET.
"""

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    if case.fabric == "tcp":
        return
    found = [one for one in case.variables("NCCL_IB_DISABLE") if one.value.strip() == "1"]
    found += [
        one for one in case.variables("NCCL_NET") if one.value.strip().lower() == "socket"
    ]
    sure = bool(case.fabric) or bool(case.variables("NCCL_IB_HCA", "NCCL_IB_TC", "NCCL_IB_SL"))
    for one in found:
        yield problem(
            one,
            f"{one.name}={one.value} turns RDMA off: NCCL uses TCP sockets",
            "unset it, unless this job is meant to use TCP",
            severity=Severity.ERROR if sure else Severity.WARNING,
        )


nccl_rdma_off = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""A label is set that this fabric does not read.

What it checks: NCCL_IB_TC on InfiniBand (which has no DSCP) and on fabrics without RDMA, and
NCCL_IB_ADAPTIVE_ROUTING=0 on InfiniBand.
Why it matters: it shows that settings of another cluster were copied; the next one of them may
do harm.
What to do: remove it; on InfiniBand the service level (NCCL_IB_SL) chooses the lane.
References: NCCL user guide, NCCL_IB_TC and NCCL_IB_SL.
"""

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    if case.fabric == "infiniband":
        for one in case.variables("NCCL_IB_TC", "NCCL_IB_FIFO_TC"):
            if one.value.strip() != "0":
                yield problem(
                    one,
                    f"{one.name} is a label of IP, and InfiniBand has none",
                    "remove it; NCCL_IB_SL chooses the lane",
                )
        for one in case.variables("NCCL_IB_ADAPTIVE_ROUTING"):
            if one.value.strip() == "0":
                yield problem(one, "adaptive routing is kept from NCCL's traffic", "unset it")
    elif case.fabric == "tcp":
        for one in case.of(Variable):
            if one.name.startswith("NCCL_IB_") and one.name != "NCCL_IB_DISABLE":
                yield problem(
                    one, f"{one.name} is for RDMA, and the fabric is TCP", "remove it"
                )


nccl_traffic_class_unread = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""RoCE v1 is asked for, which no router forwards.

What it checks: NCCL_IB_ROCE_VERSION_NUM and the mode that cma_roce_mode sets.
Why it matters: RoCE v1 has no IP header: it does not leave its subnet, has no DSCP, and PFC by
DSCP does not protect it.
What to do: use RoCE v2 everywhere.
References: NCCL user guide, NCCL_IB_ROCE_VERSION_NUM; RoCEv2, annex A17 of the IBTA.
"""

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_ROCE_VERSION_NUM"):
        if one.value.strip() == "1":
            yield problem(one, "NCCL is told to use RoCE v1", "unset it, or set 2")
    for option in case.options("cma_roce_mode", "mode"):
        if option.value != "2":
            yield problem(
                option, f"cma_roce_mode -m {option.value}: only 2 is RoCE v2", "set -m 2"
            )


nccl_roce_version = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""Settings for old versions of the EFA stack are kept.

What it checks: RDMAV_FORK_SAFE, FI_EFA_FORK_SAFE, FI_EFA_USE_DEVICE_RDMA and FI_PROVIDER other
than efa, wherever libfabric's variables are set.
Why it matters: RDMAV_FORK_SAFE makes registration slow and can break a job; the others were
needed before libfabric 1.18 and pin what the plug-in would choose.
What to do: remove them; with libfabric 1.18 and aws-ofi-nccl 1.7 only FI_EFA_USE_HUGE_PAGE=0
may be wanted.
References: aws-ofi-nccl; awsome-distributed-training, EFA cheat sheet.
"""

from typing import Final

from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OLD: Final = frozenset({"FI_EFA_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA"})


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        if one.name == "RDMAV_FORK_SAFE":
            yield problem(
                one, "RDMAV_FORK_SAFE slows registration and can break a job", "remove it"
            )
        elif one.name in _OLD:
            yield problem(
                one,
                f"{one.name} is for versions before libfabric 1.18",
                "remove it",
                severity=Severity.INFO,
            )
        elif one.name == "FI_PROVIDER" and case.fabric == "efa" and one.value != "efa":
            yield problem(
                one,
                f"FI_PROVIDER={one.value} leaves EFA unused",
                "remove it",
                severity=Severity.ERROR,
            )


launch_efa_fork = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://github.com/aws/aws-ofi-nccl",
    check=_check,
)

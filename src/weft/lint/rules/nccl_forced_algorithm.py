"""An algorithm or a protocol is forced for every size and every operation.

What it checks: NCCL_ALGO and NCCL_PROTO, which NVIDIA counts among debugging variables. EFA and
TCPX bring values of their own, which stay.
Why it matters: NCCL's tuning chooses by size and operation; what is best for one size costs
others a multiple, and a forced protocol can be incorrect on some paths (LL128).
What to do: unset it; use a tuner plug-in where measurements say that NCCL chooses wrongly.
References: NCCL user guide, NCCL_ALGO and NCCL_PROTO.
"""

from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_PLUGINS: Final = frozenset({"efa", "tcpx", "tcpxo"})


def _check(case: Case) -> Found:
    if case.fabric in _PLUGINS or case.variables("NCCL_FASTRAK_IFNAME"):
        return
    for one in case.variables("NCCL_ALGO", "NCCL_PROTO"):
        if one.value.strip():
            yield problem(
                one,
                f"{one.name}={one.value} forces one choice for every size",
                "unset it, and let NCCL's tuning choose",
            )


nccl_forced_algorithm = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

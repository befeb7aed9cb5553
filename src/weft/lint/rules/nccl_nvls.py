"""The reduction inside NVSwitch is switched off or forced.

What it checks: NCCL_NVLS_ENABLE where the GPUs have NVLink SHARP, or do not have it.
Why it matters: off, an all-reduce inside a host moves twice the bytes; forced, NCCL fails on
hosts without it, and takes memory for it everywhere.
What to do: unset it: NCCL finds out.
References: NCCL user guide, NCCL_NVLS_ENABLE.
"""

from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_PROVIDERS: Final = frozenset({"tcpx", "tcpxo"})


def _check(case: Case) -> Found:
    has = None
    if case.cluster is not None:
        has = case.cluster.cluster.host.scale_up.in_network_reduction
    for one in case.variables("NCCL_NVLS_ENABLE"):
        value = one.value.strip()
        if value == "0" and has is not False and case.fabric not in _PROVIDERS:
            yield problem(
                one,
                "NVLink SHARP is switched off",
                "unset it, unless memory is short",
                severity=None if has else Severity.INFO,
            )
        elif value == "1" and has is False:
            yield problem(
                one, "NVLink SHARP is asked for, and these GPUs have none", "unset it"
            )


nccl_nvls = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""Adaptive routing is not on for the service level of collectives.

What it checks: the mask of service levels of adaptive routing (MLNXSM, UFM) against NCCL_IB_SL;
a routing engine that is none of adaptive routing where its options are set.
Why it matters: collectives keep to static paths, and a hot uplink holds all of them back, while
the configuration reads as if the fabric adapted.
What to do: set the bit of NCCL's level in ar_sl_mask; routing_engine ar_updn or ar_ftree.
References: NVIDIA UFM and MLNXSM, adaptive routing (ar_sl_mask).
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Option
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LEVELS: Final = 16


def _check(case: Case) -> Found:
    for one in _options(case, "ar_sl_mask"):
        yield from _levels(case, one)
    for one in _options(case, "enable_ar_by_device_cap"):
        if one.value.upper() == "FALSE" and _asked(case, one):
            yield problem(
                one, "adaptive routing is set up and not switched on",
                "enable_ar_by_device_cap TRUE",
            )  # fmt: skip
    for one in _options(case, "routing_engine"):
        masks = [o for o in _options(case, "ar_sl_mask") if o.device == one.device]
        if masks and "ar_" not in one.value and not one.value.startswith("dor"):
            yield problem(
                [one, masks[0]],
                f"the engine {one.value} has static routes alone, beside a mask of "
                "adaptive routing",
                "use ar_updn, ar_ftree or ar_dor",
            )


def _options(case: Case, *names: str) -> list[Option]:
    return [*case.options("opensm", *names), *case.options("mlnxsm", *names)]


def _levels(case: Case, one: Option) -> Found:
    mask = whole(one.value)
    if mask is None:
        return
    for variable in case.variables("NCCL_IB_SL"):
        level = whole(variable.value)
        if level is not None and 0 <= level < _LEVELS and not mask >> level & 1:
            yield problem(
                [one, variable],
                f"ar_sl_mask {one.value} leaves out level {level}, which NCCL uses",
                f"set its bit: {mask | 1 << level:#06x}",
            )


def _asked(case: Case, one: Option) -> bool:
    return any(
        other.name == "ar_sl_mask" or (other.name == "routing_engine" and "ar_" in other.value)
        for other in _options(case)
        if other.device == one.device
    )


ib_adaptive_routing = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking/display/ufmenterpriseumv6190/",
    check=_check,
)

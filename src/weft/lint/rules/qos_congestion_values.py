"""A parameter of DCQCN lies outside what the NIC takes or what makes sense.

What it checks: ranges of the parameters in sysfs: CNP interval, increases, timers, alpha.
Why it matters: the driver refuses the value and keeps the old one, or flows never recover.
What to do: go back to the firmware's default unless a measurement says otherwise.
References: NVIDIA DOCA, DCQCN parameters; firmware defaults as mlxconfig shows them.
"""

from typing import Final

from weft.lint.facts import Congestion
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_RANGES: Final = {
    "cnp_dscp": (0, 63),
    "cnp_802p_prio": (0, 7),
    "min_time_between_cnps": (0, 4095),
    "rpg_ai_rate": (1, 10_000),
    "rpg_hai_rate": (1, 50_000),
    "rpg_time_reset": (1, 131_071),
    "rpg_byte_reset": (1, 32_767),
    "rpg_threshold": (1, 31),
    "rpg_gd": (0, 15),
    "rpg_min_dec_fac": (0, 100),
    "dce_tcp_g": (1, 1023),
    "dce_tcp_rtt": (0, 131_071),
    "initial_alpha_value": (1, 1023),
    "rate_reduce_monitor_period": (1, 1000),
}
_CNPS_US: Final = 100


def _check(case: Case) -> Found:
    values: dict[str, Congestion] = {}
    for one in case.of(Congestion):
        span = _RANGES.get(one.name)
        values[one.name] = one
        if span and not span[0] <= one.value <= span[1]:
            yield problem(
                one,
                f"{one.name} {one.value} lies outside {span[0]} to {span[1]}",
                "use the firmware's default",
                severity=Severity.ERROR,
            )
        elif one.name == "min_time_between_cnps" and one.value > _CNPS_US:
            yield problem(
                one,
                f"a sender hears of congestion every {one.value} us at most: its "
                "rate has long been too high",
                "use 2 to 50 us",
            )
    slow, fast = values.get("rpg_ai_rate"), values.get("rpg_hai_rate")
    if slow and fast and slow.value > fast.value:
        yield problem(
            [slow, fast],
            f"the additive increase {slow.value} is above the hyper increase {fast.value}",
            "exchange them",
        )


qos_congestion_values = Rule(
    layer=Layer.QOS,
    severity=Severity.WARNING,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
)

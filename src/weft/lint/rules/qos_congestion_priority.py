"""DCQCN works on another priority than the lossless one, or on one side only.

What it checks: ecn/roce_np and ecn/roce_rp of the NIC against its PFC priorities, and both
against each other.
Why it matters: a NIC that does not react to marks sends on until PFC stops whole links; one
that does not notify leaves senders without the news.
What to do: enable both on the lossless priority of every NIC.
References: Zhu et al., SIGCOMM 2015; mlx5 driver, ecn in sysfs.
"""

from weft.lint.facts import Congestion, Side
from weft.lint.quality import host_pauses
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    lossless = {priority for one in host_pauses(case) for priority in one.priorities}
    enables = [one for one in case.of(Congestion) if one.priority is not None]
    on = {(one.name, one.priority) for one in enables if one.value}
    for one in enables:
        if one.value and lossless and one.priority not in lossless:
            yield problem(
                [one, *host_pauses(case)[:1]],
                f"DCQCN is on for priority {one.priority}, and PFC protects {min(lossless)}",
                f"enable it on priority {min(lossless)}",
            )
        elif not one.value and one.priority in lossless:
            yield problem(
                one,
                f"{one.name.removesuffix('_enable')} is off on the lossless priority "
                f"{one.priority}: PFC alone holds the senders",
                "enable it",
                severity=Severity.WARNING,
            )
    for name, other in (
        ("roce_np_enable", "roce_rp_enable"),
        ("roce_rp_enable", "roce_np_enable"),
    ):
        for one in enables:
            alone = one.name == name and one.value and (other, one.priority) not in on
            if alone and not any(
                o.name == other and o.priority == one.priority for o in enables
            ):
                yield problem(
                    one, f"{name} is on and {other} is not: one half of DCQCN", "enable both"
                )


qos_congestion_priority = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
    needs=(Side.HOST,),
)

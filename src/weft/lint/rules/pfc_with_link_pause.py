"""The pause of the whole link is on beside PFC.

What it checks: 802.3x flow control (ethtool -A, flowcontrol, link-pause) on ports and hosts
that use PFC.
Why it matters: a pause of the link stops every priority, CNPs too; most NICs refuse to do both
and silently keep one.
What to do: switch it off wherever PFC is on.
References: IEEE 802.3 annex 31B and 802.1Qbb; mlnx_qos(8).
"""

from weft.lint.facts import LinkPause, Side
from weft.lint.quality import host_pauses, paused
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(LinkPause):
        if one.side is Side.HOST:
            both = bool(host_pauses(case)) or case.fabric == "roce"
        else:
            both = any(paused(switch) for switch in case.switches if switch.name == one.device)
        if one.on and both:
            yield problem(
                one,
                "the whole link can be paused, beside PFC by priority",
                "switch the pause of the link off",
            )


pfc_with_link_pause = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.WARNING,
    reference="https://standards.ieee.org/ieee/802.3/10422/",
    check=_check,
)

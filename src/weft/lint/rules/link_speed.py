"""A port runs at another speed than its like.

What it checks: ports of one switch whose speed differs from that of the others of their role
(to hosts, to switches), and speeds against the NIC of the cluster document.
Why it matters: one slow uplink or rail is the bottleneck of every collective that uses it, and
ECMP sends as much over it as over the others.
What to do: the planned speed on every port; change the cable or the breakout.
References: IEEE 802.3; weft plan, link.rate.
"""

from collections import Counter
from typing import Final

from weft.lint.facts import Port
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_FEW_RATIO: Final = 0.25


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        names = {switch.name for switch in fleet} | case.absent
        for switch in fleet:
            for up in (True, False):
                ports = [one for one in switch.of(Port) if one.speed_gbit and one.peer]
                rows = [one for one in ports if (one.peer in names) is up]
                counts = Counter(one.speed_gbit for one in rows)
                if len(counts) < 2:  # noqa: PLR2004 - two that differ
                    continue
                usual = counts.most_common(1)[0][0]
                for one in rows:
                    rare = counts[one.speed_gbit] <= _FEW_RATIO * len(rows)
                    if one.speed_gbit != usual and rare:
                        yield problem(
                            one,
                            f"{switch.name} {one.name} runs at {one.speed_gbit:g} "
                            f"Gb/s, its like at {usual:g}",
                            "find out why",
                        )


link_speed = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://standards.ieee.org/ieee/802.3/10422/",
    check=_check,
)

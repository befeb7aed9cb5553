"""Switches of one fabric mark at different fills.

What it checks: ECN thresholds of the lossless queue over the switches, and over the colours of
a profile.
Why it matters: flows through the early one starve beside flows through the late one; rings are
as slow as their slowest flow.
What to do: the same thresholds for links of the same speed.
References: Zhu et al., SIGCOMM 2015, section 6.
"""

from collections import Counter

from weft.lint.facts import Marking, Port
from weft.lint.quality import lossless_queues, marked
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for fleet in case.fleets():
        rows: list[tuple[Device, Marking]] = []
        for switch in fleet:
            queues = lossless_queues(switch)
            rows += [(switch, m.marking) for m in marked(switch) if m.queue in queues]
        values = [(one.kmin_bytes, one.kmax_bytes, one.pmax_percent) for _, one in rows]
        counts = Counter(values)
        if len(counts) < 2 or _by_speed(fleet):  # noqa: PLR2004 - two that differ
            continue
        usual = counts.most_common(1)[0][0]
        shown = next(one for _, one in rows if _of(one) == usual)
        for place in {one.at: (switch, one) for switch, one in rows}.values():
            switch, one = place
            if _of(one) != usual:
                yield problem(
                    [one, shown],
                    f"{switch.name} marks from {one.kmin_bytes} to "
                    f"{one.kmax_bytes} B at {one.pmax_percent} %, others from {usual[0]} to "
                    f"{usual[1]} B at {usual[2]} %",
                    "use one set of thresholds",
                )


def _of(one: Marking) -> tuple[float | None, float | None, float | None]:
    return one.kmin_bytes, one.kmax_bytes, one.pmax_percent


def _by_speed(fleet: list[Device]) -> bool:
    """Return whether ports have several speeds, so that thresholds may well differ."""
    speeds = {one.speed_gbit for switch in fleet for one in switch.of(Port)} - {None}
    return len(speeds) > 1


ecn_switches_differ = Rule(
    layer=Layer.QOS,
    severity=Severity.WARNING,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
)

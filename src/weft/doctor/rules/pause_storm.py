"""A port pauses its neighbour without end, and the pause spreads through the network.

What it checks: the switch's PFC watchdog, the adapter's own storm events, and one adapter that
sends pauses while its fellows send next to none.
Why it matters: one host that does not take packets stops all that share a switch with it.
What to do: isolate the host that sends the pauses (its adapter or PCI link is sick), then look
at headroom and at ECN, which should act before PFC.
References: IEEE 802.1Qbb; SONiC PFC watchdog; Guo et al., RDMA over Commodity Ethernet at
Scale, SIGCOMM 2016.
"""

import re
from collections.abc import Iterator

from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts import Counter, Fact, PauseWatchdog

_PAUSE = re.compile(r"tx_(?:prio\d_|global_)?pause(?:_ctrl_phy)?$")
_STORM = re.compile(r"tx_pause_storm_(?:error|warning)_events$")
_LOUD = 10_000
_TIMES = 100
_LOOK = (
    "show pfcwd stats; show pfc counters; ethtool -S <interface> | grep pause   # every host"
)


def _check(facts: Facts) -> Iterator[Finding]:
    caught: list[Fact] = [
        one for one in facts.of(PauseWatchdog)
        if one.status.lower() == "stormed" or (one.storms_detected or 0) > 0
    ]  # fmt: skip
    caught += [one for one in facts.of(Counter) if _STORM.match(one.name) and one.value > 0]
    if caught:
        yield _storm(caught, 0.9, Severity.ERROR)
        return
    loud = _one_alone(facts)
    if loud:
        yield _storm([loud], 0.55, Severity.WARNING)


def _storm(seen: list[Fact], confidence_ratio: float, severity: Severity) -> Finding:
    places = (getattr(one, "port", None) or getattr(one, "where", "") for one in seen)
    return finding(
        "pfc-storm",
        seen,
        confidence_ratio,
        severity=severity,
        subject=", ".join(dict.fromkeys(str(one) for one in places if one)),
        message="a port pauses its neighbour without end",
        advice="isolate the host that sends the pauses; then check headroom and ECN thresholds",
        next_command=_LOOK,
        explains=("roce-packet-loss", Symptom.TRANSPORT_RETRY, Symptom.WATCHDOG),
        fault=Fault.MISTUNED,
    )


def _one_alone(facts: Facts) -> Counter | None:
    """Return the adapter's counter that stands far above those of all its fellows."""
    sent = [one for one in facts.of(Counter) if _PAUSE.match(one.name) and not one.on_switch]
    ranked = sorted(sent, key=lambda one: -one.value)
    if len({_place(one) for one in sent}) > 2 and ranked[0].value > _LOUD:  # noqa: PLR2004 - fellows
        first = _place(ranked[0])
        rest = [one.value for one in ranked if _place(one) != first]
        if ranked[0].value > _TIMES * max(rest[0], 1):
            return ranked[0]
    return None


def _place(counter: Counter) -> tuple[str, str]:
    """Return whose counter it is; where nothing names it, each file is of another."""
    return counter.host or counter.evidence.file, counter.where


pause_storm = Rule(causes=("pfc-storm",), check=_check)

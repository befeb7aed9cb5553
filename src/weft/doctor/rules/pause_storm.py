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
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.service_quality import PauseWatchdog

_PAUSE = re.compile(
    r"tx_(?:prio\d_|global_)?pause(?:_ctrl_phy)?$|tx_priority_\d_xoff(?:\.nic)?$|"
    r"tx_pfc_ena_frames_pri\d$|pfc_pri\d_tx_transitions$|frames_tx_pri(?:pause|_\d)$|"
    r"mac_tx_pfc_pri\d_pkt_num$|tx_pause_frames$|link_xoff_tx(?:\.nic)?$"
)
"""Pauses sent, as mlx5, ice, bnxt_en, ionic and hns3 count them."""
_RECEIVED = re.compile(
    r"rx_(?:vport_)?(?:rdma_)?(?:unicast(?:_packets)?|packets(?:_phy)?|prio\d_packets|"
    r"ucast_frames|good_frames|ok)(?:\.nic)?$|frames_rx_unicast$|mac_rx_uni_pkt_num$"
)
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
        over = [one for one in caught if isinstance(one, PauseWatchdog) and _is_over(one)]
        if len(over) < len(caught):
            yield _storm(caught, 0.9, Severity.ERROR)
        elif not _at_rest(facts, over):
            yield _storm(caught, 0.75, Severity.WARNING)
        return
    stuck = _stuck(facts)
    if stuck:
        yield _storm([*stuck], 0.75, Severity.ERROR)
        return
    loud = _one_alone(facts)
    if loud:
        yield _storm([loud], 0.55, Severity.WARNING)


def _is_over(watched: PauseWatchdog) -> bool:
    """Return whether the switch says that every storm it saw of a queue has ended."""
    return (
        watched.status.lower() == "operational"
        and watched.storms_detected == watched.storms_restored
    )


def _at_rest(facts: Facts, over: list[PauseWatchdog]) -> bool:
    """Return whether no queue that had a storm took a pause between two readings."""
    rise = risen(facts.of(Counter))
    ports = {one.port for one in over}
    seen = [by for (_, where, _, name), by in rise.items()
            if where in ports and "pause" in name]  # fmt: skip
    return bool(seen) and not any(seen)


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


def _stuck(facts: Facts) -> list[Counter]:
    """Return pauses that an adapter kept sending while it took in nothing at all."""
    counters = [one for one in facts.of(Counter) if not one.on_switch]
    if not any(_PAUSE.match(one.name) for one in counters):
        return []
    rise = risen(counters)
    took: dict[tuple[str, str], int] = {}
    for (host, where, _, name), by in rise.items():
        if _RECEIVED.match(name):
            took[host, where] = took.get((host, where), 0) + by
    return [
        one for one in counters
        if _PAUSE.match(one.name)
        and rise.get((one.host, one.where, one.port, one.name), 0) > _LOUD
        and took.get((one.host, one.where)) == 0
    ]  # fmt: skip


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

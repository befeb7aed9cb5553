"""RoCE traffic travels outside the priority that the network keeps lossless.

What it checks: the priorities with PFC against the priority in which packets are counted, and
ports that sort by 802.1p although the traffic is marked by DSCP; queues of switches.
Why it matters: unprotected packets are dropped under load, and RoCE repeats whole windows.
What to do: trust DSCP on hosts and switches, mark the traffic (NCCL_IB_TC, cma_roce_tos) for
the lossless priority, and watch that priority's counters rise.
References: mlnx_qos(8); NCCL user guide, NCCL_IB_TC; IEEE 802.1Qbb.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
)
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.programs import Setting
from weft.observe.facts.service_quality import (
    ClassMatch,
    DscpPriority,
    PauseSetting,
    TrustState,
)

_SENT = re.compile(r"tx_prio(\d)_(?:packets|bytes)$")
_QUEUE = re.compile(r"(?:uc|queue)(?P<queue>\d)_(?P<dropped>dropped_)?packets$")
_BUSY = 1_000_000
_ECN_BITS = 2
"""The traffic class is the DSCP with the two bits of ECN behind it [RFC 3168]."""
_OTHER_RATIO = 0.01
_LOOK = "mlnx_qos -i <interface>; ethtool -S <interface> | grep prio; echo $NCCL_IB_TC"


def _check(facts: Facts) -> Iterator[Finding]:
    lossless = {one for setting in facts.of(PauseSetting) for one in setting.priorities}
    if not lossless:
        yield from _trust(facts)
        return
    sent = _sent_by_priority(facts)
    inside = sum(count for priority, (count, _) in sent.items() if priority in lossless)
    outside = {p: count for p, (count, _) in sent.items() if p not in lossless}
    total = sum(outside.values())
    if total >= _BUSY and inside < total * _OTHER_RATIO:
        worst = max(outside, key=lambda priority: outside[priority])
        seen: list[Fact] = [sent[worst][1], *facts.of(PauseSetting), *facts.of(TrustState)]
        yield finding(
            "qos-dscp-mismatch",
            seen,
            0.8,
            message=f"traffic leaves in priority {worst}, PFC protects "
            + " and ".join(str(one) for one in sorted(lossless)),
            advice="trust DSCP on every port and mark RoCE for the lossless priority",
            next_command=_LOOK,
            explains=("roce-packet-loss", Symptom.TRANSPORT_RETRY),
            fault=Fault.MISTUNED,
        )
    elif queued := _queued_elsewhere(facts, lossless):
        yield queued
    else:
        yield from _trust(facts)
        yield from _apart(facts)
        yield from _marked_elsewhere(facts, lossless)
        yield from _unprotected(facts)


def _marked_elsewhere(facts: Facts, lossless: set[int]) -> Iterator[Finding]:
    """Find a DSCP of the job that the host itself puts outside the lossless priority."""
    for setting in job.settings(facts, "NCCL_IB_TC"):
        dscp = int(setting.value) >> _ECN_BITS if setting.value.isdigit() else None
        into = [one for one in facts.of(DscpPriority) if dscp in one.dscp]
        wrong = [one for one in into if one.priority not in lossless]
        if wrong and len(wrong) == len(into):
            yield finding(
                "qos-dscp-mismatch",
                [setting, *wrong, *facts.of(PauseSetting)],
                0.8,
                message=f"NCCL_IB_TC={setting.value} is DSCP {dscp}, which goes to priority "
                f"{wrong[0].priority}; PFC protects {sorted(lossless)}",
                advice="map this DSCP to the lossless priority, or mark traffic for it",
                next_command=_LOOK,
                explains=("roce-packet-loss", Symptom.TRANSPORT_RETRY),
                fault=Fault.MISTUNED,
            )
            return


def _queued_elsewhere(facts: Facts, lossless: set[int]) -> Finding | None:
    """Find a port that sends what it has through a queue that drops, none through the lossless.

    Where no job of RDMA is seen the queue may hold what needs no protection.
    """
    for queues in _queues(facts).values():
        kept = [one for number, one in queues.items() if number in lossless]
        busy = [
            one for number, one in queues.items()
            if number not in lossless and one.dropped and one.packets.value >= _BUSY
        ]  # fmt: skip
        inside = sum(one.packets.value for one in kept)
        if not kept or not busy or inside >= _OTHER_RATIO * busy[0].packets.value:
            continue
        drops = [one.dropped for one in busy if one.dropped]
        marks: list[Fact] = [*job.settings(facts, "NCCL_IB_TC"), *facts.of(ClassMatch)]
        marks += [one for one in facts.of(TrustState) if one.trust != "dscp"]
        rdma = any(one.name.startswith("NCCL_IB_") for one in facts.of(Setting))
        sure = rdma or job.verbs_adapters(facts)
        return finding(
            "qos-dscp-mismatch",
            [*drops, *(one.packets for one in [*busy, *kept]), *marks],
            0.8 if sure else 0.6,
            severity=Severity.ERROR if sure else Severity.WARNING,
            subject=busy[0].packets.where,
            message="a port drops what it sends in a queue without PFC, and its lossless queue "
            "is idle",
            advice="trust DSCP on every port and mark RoCE for the lossless priority",
            next_command=_LOOK,
            explains=("roce-packet-loss", "switch-buffer-exhausted", Symptom.TRANSPORT_RETRY),
            fault=Fault.MISTUNED,
        )
    return None


@dataclass(frozen=True, slots=True)
class _Queue:
    """What a queue of a port sent, and dropped if it did."""

    packets: Counter
    dropped: Counter | None


def _queues(facts: Facts) -> dict[tuple[str, str], dict[int, _Queue]]:
    """Return the queues of each port of a switch, by their number."""
    sent: dict[tuple[str, str], dict[int, Counter]] = {}
    drops: dict[tuple[str, str, int], Counter] = {}
    for one in facts.of(Counter):
        found = _QUEUE.match(one.name) if one.on_switch else None
        if found and found["dropped"] and one.value:
            drops[one.host, one.where, int(found["queue"])] = one
        elif found and not found["dropped"]:
            sent.setdefault((one.host, one.where), {})[int(found["queue"])] = one
    return {
        place: {
            number: _Queue(counter, drops.get((*place, number)))
            for number, counter in queues.items()
        }
        for place, queues in sent.items()
    }


def _apart(facts: Facts) -> Iterator[Finding]:
    """Find hops that protect priorities of which none is the other's, or sort otherwise."""
    places: dict[frozenset[int], PauseSetting] = {}
    for one in facts.of(PauseSetting):
        if one.priorities:
            places.setdefault(frozenset(one.priorities), one)
    unlike: list[Fact] = [
        one for some, one in places.items()
        if any(not some & others for others in places if others != some)
    ]  # fmt: skip
    seen = unlike or _sorted_otherwise(facts)
    if seen:
        yield finding(
            "qos-dscp-mismatch",
            seen,
            0.75,
            severity=Severity.WARNING,
            message="PFC protects other priorities on one hop than on another" if unlike
            else "switches put the same DSCP into different classes, of which one is lossless",
            advice="one map of DSCP and one lossless priority on every host and switch",
            next_command=_LOOK,
            explains=("roce-packet-loss",),
            fault=Fault.MISTUNED,
        )  # fmt: skip


def _unprotected(facts: Facts) -> Iterator[Finding]:
    """Find the few ports of a switch on which PFC is off while it is on on most."""
    ports = [one for one in facts.of(PauseSetting) if one.on_switch]
    off = [one for one in ports if not one.priorities]
    if off and len(ports) - len(off) > len(off):
        yield finding(
            "qos-dscp-mismatch",
            off,
            LIKELY_RATIO,
            severity=Severity.INFO,
            subject=", ".join(one.interface for one in off[:4]),
            message="PFC is off on a port of a switch on which it is on elsewhere",
            advice="switch it on by hand where DCBX does not agree; unused ports do not matter",
            next_command="show interface priority-flow-control",
            missing=("whether RoCE traffic crosses this port",),
        )


def _sorted_otherwise(facts: Facts) -> list[Fact]:
    """Return maps of switches that disagree about a DSCP which one of them holds lossless."""
    lossless = {one for setting in facts.of(PauseSetting) for one in setting.priorities}
    found: dict[int, dict[int, DscpPriority]] = {}
    for one in facts.of(DscpPriority):
        for dscp in one.dscp if one.on_switch else ():
            found.setdefault(dscp, {})[one.priority] = one
    for classes in found.values():
        places = {one.host or one.evidence.file for one in classes.values()}
        if len(classes) > 1 and len(places) > 1 and set(classes) & lossless - {0}:
            return [*classes.values()]
    return []


def _sent_by_priority(facts: Facts) -> dict[int, tuple[int, Counter]]:
    """Return what was sent in each priority: the rise where there is one, else the count."""
    rise = risen(facts.of(Counter))
    found: dict[int, tuple[int, Counter]] = {}
    for one in facts.of(Counter):
        match = _SENT.match(one.name)
        if match:
            count = rise.get((one.host, one.where, one.port, one.name), one.value)
            before = found.get(int(match[1]), (0, one))[0]
            found[int(match[1])] = (max(count, before), one)
    return found


def _trust(facts: Facts) -> Iterator[Finding]:
    pcp = [one for one in facts.of(TrustState) if one.trust == "pcp" and not one.on_switch]
    unsorted = [
        one for one in facts.of(TrustState) if one.on_switch and one.trust in {"pcp", "none"}
    ]
    marked = job.settings(facts, "NCCL_IB_TC")
    by_dscp = [one for one in facts.of(TrustState) if one.trust == "dscp"]
    if by_dscp and any(one.trust == "pcp" for one in facts.of(TrustState)) and not marked:
        apart = [one for one in facts.of(TrustState) if one.trust == "pcp"]
        yield finding(
            "qos-dscp-mismatch",
            [*apart, *by_dscp],
            0.6,
            severity=Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.interface for one in apart)),
            message="some ports sort packets by DSCP and others by 802.1p",
            advice="trust DSCP on every port on the way of RoCE",
            next_command=_LOOK,
            missing=("whether RoCE passes over the ports that sort by 802.1p",),
            fault=Fault.MISTUNED,
        )
    elif (pcp or unsorted) and marked:
        yield finding(
            "qos-dscp-mismatch",
            [*pcp, *unsorted, *marked],
            0.6,
            severity=Severity.WARNING,
            message="NCCL_IB_TC marks packets by DSCP, and the port does not sort by it",
            advice="trust DSCP on every RoCE port (mlnx_qos --trust=dscp on hosts)",
            next_command=_LOOK,
            fault=Fault.MISTUNED,
        )


traffic_class = Rule(causes=("qos-dscp-mismatch",), check=_check)

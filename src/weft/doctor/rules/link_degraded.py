"""A link trained to fewer lanes or a lower speed than both ends can do.

What it checks: active against supported and enabled width and speed of a port, what the
fabric's sweep says a cable could be, and ports of a host that are slower than their fellows.
Enabled below supported: set by hand. Active below enabled: negotiated, so cable or peer.
Why it matters: one link at a quarter of its rate slows every ring that passes over it.
What to do: set width and speed back to all, reset the port; else replace the cable.
References: ibportstate(8); InfiniBand Architecture Specification, link width and speed.
"""

import re
from collections import Counter as Count
from collections.abc import Iterator
from dataclasses import replace

from weft import units
from weft.doctor import job, links
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.adapters import AdapterPort, AdapterSeen, LinkTraining
from weft.observe.facts.base import Fact, LinkLayer, PhysicalState, PortState
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import FabricCheck, FabricLink
from weft.observe.facts.transports import AdapterChosen

_WIDTH, _SPEED = "ib-link-degraded-width", "ib-link-degraded-speed"
_RESET = (
    "ibportstate <lid> <port> width 15; ibportstate <lid> <port> reset; mlxlink -d <adapter> -m"
)
_USUAL_LANES = 4
_SPLIT_LANES = 2
# HDR100 and NDR200 are whole ports of two lanes; no slower generation was sold so.
_SPLIT_LANE_BYTES_PER_S = units.rate_from_gbit(50.0)
_FELLOWS = 3
_OF_ANOTHER_PURPOSE_RATIO = 0.2
_GIGABIT_PER_S = units.rate_from_gbit(1.0)
_UNEXPECTED = re.compile(
    r"[Uu]nexpected (?:actual )?(?:link )?(?:speed|width)|"
    r"operates? in .{1,20}(?:speed|width) mode|[Nn]on-?optimal link (?:speed|width)"
)
_BOTH = "both ends can do more"


def _check(facts: Facts) -> Iterator[Finding]:
    trained = list(_trained(facts))
    yield from trained
    cables = list(_cables(facts))
    yield from cables
    yield from _far_below(facts)
    if not trained and not cables:
        yield from _words(facts)
        yield from _slower_than_its_fellows(facts)
        yield from _slower_interface(facts)
        yield from _below_the_check(facts)
        yield from _complained(facts)


def _complained(facts: Facts) -> Iterator[Finding]:
    """Find links of which a check of the fabric says that they should be wider or faster."""
    for one in facts.of(FabricCheck):
        said = _UNEXPECTED.search(one.text)
        if said:
            cause = _WIDTH if "width" in said[0].lower() else _SPEED
            yield _degraded(cause, [one], 0.8, 0.5, "so says the check of the fabric", "",
                            Severity.ERROR if one.errors else Severity.WARNING)  # fmt: skip


def _degraded(  # noqa: PLR0917 - called in this file alone
    cause: str, seen: list[Fact], confidence_ratio: float, left_ratio: float, how: str,
    subject: str, severity: Severity = Severity.ERROR,
) -> Finding:  # fmt: skip
    what = "fewer lanes" if cause == _WIDTH else "a lower speed"
    return finding(
        cause,
        seen,
        confidence_ratio,
        severity=severity,
        subject=subject,
        message=f"{subject or 'a link'} runs with {what} than it can: {how}",
        advice="allow every width and speed and reset the port; then swap the cable",
        next_command=_RESET,
        explains=(Symptom.FEWER_LINKS,),
        fault=Fault.LINK_NARROW,
        left_ratio=left_ratio,
    )


def _trained(facts: Facts) -> Iterator[Finding]:
    for one in facts.of(LinkTraining):
        if one.state is PortState.DOWN or one.physical_state is PhysicalState.POLLING:
            continue
        subject = f"{one.where} port {one.port}" if one.port else one.where
        if _split(facts, one):
            yield _degraded(
                _WIDTH, [one], 0.5, _SPLIT_LANES / _USUAL_LANES,
                "two lanes, unless it is a port or a split cable of two", subject,
                Severity.WARNING,
            )  # fmt: skip
            continue
        yield from _below(
            _WIDTH, one, subject, one.width_active, one.width_enabled, one.width_supported
        )
        yield from _below(
            _SPEED, one, subject, one.lane_bytes_per_s_active, one.lane_bytes_per_s_enabled,
            one.lane_bytes_per_s_supported,
        )  # fmt: skip


def _split(facts: Facts, port: LinkTraining) -> bool:
    """Return whether two lanes may be what was bought: nothing complains or is wider."""
    rate = port.lane_bytes_per_s_active or 0.0
    return (
        port.width_active == _SPLIT_LANES
        and port.width_supported == _USUAL_LANES
        and rate >= 0.99 * _SPLIT_LANE_BYTES_PER_S
        and rate >= (port.lane_bytes_per_s_supported or 0.0)
        and port.width_enabled in {None, _USUAL_LANES}
        and not any(one.software == "mlxlink" for one in facts.of(Message))
        and not any(one.name == "link_downed" and one.value for one in facts.of(Counter))
        and not any(
            one.width_active == _USUAL_LANES and one.lane_bytes_per_s_active == rate
            for one in facts.of(LinkTraining)
        )
    )


def _below(  # noqa: PLR0917 - as above
    cause: str, seen: LinkTraining, subject: str, active: float | None, enabled: float | None,
    supported: float | None,
) -> Iterator[Finding]:  # fmt: skip
    if not active or not supported or active >= supported:
        return
    by_hand = enabled is not None and enabled < supported
    # Without the peer, a speed below the supported one may be all that the peer can do.
    sure = 0.9 if by_hand or cause == _WIDTH else 0.6
    yield _degraded(
        cause, [seen], sure, active / supported,
        "it was set by hand" if by_hand else "it was negotiated", subject,
        Severity.ERROR if by_hand or cause == _WIDTH else Severity.WARNING,
    )  # fmt: skip


def _cables(facts: Facts) -> Iterator[Finding]:
    """Find cables that could be more; where all are alike the sweep, or a design, says so."""
    up = [one for one in facts.of(FabricLink) if one.state is PortState.ACTIVE]
    odd = [one for one in up if _could_be_more(one)]
    alike = len(odd) == len(up)
    severity = Severity.WARNING if alike else Severity.ERROR
    for one in odd:
        subject = f"{one.name} port {one.port}"
        sure = 0.5 if alike else 0.85
        if one.could_be_lanes and one.lanes and one.lanes < _possible(one.could_be_lanes):
            left = one.lanes / one.could_be_lanes
            yield _degraded(_WIDTH, [one], sure, left, _BOTH, subject, severity)
        could = one.could_be_lane_bytes_per_s
        if could and one.lane_bytes_per_s and one.lane_bytes_per_s < could:
            left = one.lane_bytes_per_s / could
            yield _degraded(_SPEED, [one], sure, left, _BOTH, subject, severity)


def _could_be_more(link: FabricLink) -> bool:
    wider = link.could_be_lanes and link.lanes and link.lanes < _possible(link.could_be_lanes)
    could = link.could_be_lane_bytes_per_s
    return bool(wider or (could and link.lane_bytes_per_s and link.lane_bytes_per_s < could))


def _possible(lanes: int) -> int:
    """Return the lanes a cable has: ports claim twelve, cages and cables have four."""
    return min(lanes, _USUAL_LANES)


def _words(facts: Facts) -> Iterator[Finding]:
    up = {(one.host, one.adapter) for one in job.active_ports(facts)}
    for port in facts.of(AdapterPort):
        told = port.state is PortState.UNKNOWN and (port.host, port.adapter) in up
        one = replace(port, state=PortState.ACTIVE) if told else port
        words = one.rate_text.upper()
        if one.link_layer is LinkLayer.ETHERNET:  # one lane of 25 Gbit/s is a whole port there
            continue
        if one.state is PortState.ACTIVE and "1X" in words:
            yield _degraded(_WIDTH, [one], 0.7, 1 / _USUAL_LANES, "one lane alone", one.adapter)
        elif one.state is PortState.ACTIVE and "2X" in words and _whole_fellow(facts, one):
            yield _degraded(_WIDTH, [one], 0.7, 2 / _USUAL_LANES, "its fellows have four lanes",
                            one.adapter)  # fmt: skip
        elif one.state is PortState.ACTIVE and "FDR10" in words:
            yield _degraded(_SPEED, [one], 0.55, 1.0, "FDR10 is rarely what was bought",
                            one.adapter, Severity.WARNING)  # fmt: skip


def _below_the_check(facts: Facts) -> Iterator[Finding]:
    """Find ports that are up below the rate that a health check of the site asks for."""
    for said in job.said(facts, links.ASKED_RATE.pattern):
        asked = links.ASKED_RATE.search(said.evidence.text)
        if asked is None:
            continue
        for one in links.below_asked(facts, asked):
            left = (one.rate_bytes_per_s or 0.0) / units.rate_from_gbit(float(asked["rate"]))
            cause = _WIDTH if re.search(r"\b[12]X", one.rate_text) else _SPEED
            yield _degraded(cause, [said, one], 0.75, left, "the site's check asks for more",
                            asked["adapter"])  # fmt: skip


def _whole_fellow(facts: Facts, port: AdapterPort) -> bool:
    """Return whether another port of the host runs four lanes of the same speed.

    Two lanes alone may be a split cable, which is a design.
    """
    speed = port.rate_text.upper().replace("2X", "").strip("() 0123456789./GBSEC")
    return bool(speed) and any(
        one.host == port.host and one.state is PortState.ACTIVE
        and "4X" in one.rate_text.upper() and speed in one.rate_text.upper()
        for one in facts.of(AdapterPort)
    )  # fmt: skip


def _far_below(facts: Facts) -> Iterator[Finding]:
    """Find interfaces at 10 or 100 Mbit/s that can do a thousand or more.

    Pairs of the cable are broken. One step below what an adapter can do may be all that its
    switch can.
    """
    for one in facts.of(Interface):
        able, runs = one.possible_bytes_per_s or 0.0, one.rate_bytes_per_s or 0.0
        name = f"{one.host} {one.interface}".strip()
        if 0 < runs < _GIGABIT_PER_S <= able and one.carrier is not False:
            yield _degraded(_SPEED, [one], 0.7, runs / able, "it was negotiated", name,
                            Severity.WARNING)  # fmt: skip


def _slower_than_its_fellows(facts: Facts) -> Iterator[Finding]:
    """Find the one port that is slower than all its fellows, which are alike."""
    rates: dict[tuple[str, str], list[AdapterPort | AdapterChosen]] = {}
    for chosen in job.verbs_adapters(facts):
        if chosen.rate_bytes_per_s and chosen.process.host:
            key = (chosen.process.host, chosen.link_layer)
            rates.setdefault(key, []).append(chosen)
    for one in facts.of(AdapterPort):
        if one.state in {PortState.ACTIVE, PortState.UNKNOWN} and one.rate_bytes_per_s:
            rates.setdefault((one.host, one.link_layer), []).append(one)
    for ports in rates.values():
        usual, count = Count(one.rate_bytes_per_s for one in ports).most_common(1)[0]
        below = [one for one in ports if (one.rate_bytes_per_s or 0) < (usual or 0)]
        slow = list({one.adapter: one for one in below}.values())
        enough = _FELLOWS - 1 if _of_one_make(facts, ports) else _FELLOWS
        if len(slow) == 1 and count >= enough:
            left = (slow[0].rate_bytes_per_s or 0) / (usual or 1)
            cause = _WIDTH if _narrow(slow[0]) else _SPEED
            yield _degraded(cause, [*slow], 0.55, left, "its fellows are faster",
                            slow[0].adapter, Severity.WARNING)  # fmt: skip


def _slower_interface(facts: Facts) -> Iterator[Finding]:
    """Find the one interface that is slower than all of its name and host, which are alike.

    One that is far slower is for another purpose.
    """
    rates: dict[tuple[str, str], dict[str, Interface]] = {}
    for one in facts.of(Interface):
        if one.rate_bytes_per_s and one.carrier is not False and one.kind != "switch port":
            sort = re.sub(r"\d+", "", one.interface)
            rates.setdefault((one.host, sort), {})[one.interface] = one
    for alike in rates.values():
        counts = Count(one.rate_bytes_per_s or 0.0 for one in alike.values())
        usual, count = counts.most_common(1)[0]
        slow = [one for one in alike.values() if (one.rate_bytes_per_s or 0.0) < usual]
        left = (slow[0].rate_bytes_per_s or 0.0) / usual if slow else 0.0
        if len(slow) == 1 and count >= _FELLOWS and left > _OF_ANOTHER_PURPOSE_RATIO:
            yield _degraded(_SPEED, [*slow], 0.5, left, "its fellows are faster",
                            slow[0].interface, Severity.WARNING)  # fmt: skip


def _narrow(port: AdapterPort | AdapterChosen) -> bool:
    """Return whether a port says that it runs fewer than four lanes."""
    return re.search(r"\b[12]X\b", getattr(port, "rate_text", "")) is not None


def _of_one_make(facts: Facts, ports: list[AdapterPort | AdapterChosen]) -> bool:
    """Return whether all these ports belong to InfiniBand adapters of one model."""
    kinds = {one.adapter: one.kind for one in facts.of(AdapterSeen) if one.kind}
    makes = {kinds.get(one.adapter, "") for one in ports}
    layers = {one.link_layer for one in ports}
    return len(makes) == 1 and "" not in makes and layers == {LinkLayer.INFINIBAND}


link_degraded = Rule(causes=(_WIDTH, _SPEED), check=_check)

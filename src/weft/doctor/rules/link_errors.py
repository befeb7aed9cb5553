"""A link makes errors or goes up and down: cable, transceiver or port.

What it checks: error counters of ports (their rise where they were read twice), port errors the
library reported, and interfaces that went down and came back.
Why it matters: each recovery stops the link for a while; each loss of link ends the job.
What to do: clean and reseat or replace the cable of the worst port, then watch the rates.
References: InfiniBand Architecture Specification, PortCounters; ibqueryerrors(8); perfquery(8).
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding, suspect
from weft.observe.facts.adapters import AdapterPort, CableEvent
from weft.observe.facts.base import NOBODY, Fact, PortState
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.hosts import Uptime
from weft.observe.facts.interfaces import Counter, LinkEvent
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import FabricCheck
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError
from weft.observe.layouts import readings, series

_ERRORS = frozenset(
    {
        "symbol_error",
        "link_error_recovery",
        "port_rcv_errors",
        "local_link_integrity_errors",
        "excessive_buffer_overrun_errors",
        "rx_symbol_err_phy",
        "rx_pcs_symbol_err_phy",
    }
)
_DAMAGED = re.compile(
    r"(?:^|[_.])(?:rx_)?(?:crc|fcs|symbol|align(?:ment)?)_?err(?:or)?s?(?:_frames|_phy)?"
    r"(?:\.nic)?$|(?:^|_)rx_(?:crc|symbol|align)_errors$|^fec_uncorr\w*$|"
    r"uncorrectable_(?:blocks|errors|bits|codewords)|^rx_fec_uncorr\w*$|^port_rx_crc\w*$",
    re.IGNORECASE,
)
"""Frames that were damaged on the wire, as drivers and switches of many makers count them."""
_ON_SWITCHES = frozenset({"fcs", "symbol", "align", "crc", "fcs_err", "align_err"})
_LOST = frozenset({"link_downed", "link_down_events_phy", "link_down_events"})
_MADE_ANEW = "link_error_recovery"
_NO_LID = (None, 0, 0xFFFF)
_CHANGES = frozenset({"carrier_changes", "carrier_down_count", "link_flaps"})
_OFTEN = 20
_TIMES_ITS_FELLOWS = 10
_COMPLAINT = re.compile(
    r"BER .{0,40}exceed|exceeds? .{0,30}BER|(?:symbol|link|rcv|integrity|recovery|downed)\w*"
    r"[\" ]{1,3}.{0,20}increased during the run|(?:symbol|link_error|rcv_err)\w* .{0,40}exceed|"
    r"Cable (?:High|Low) \w+.{0,40}(?:alarm|detected)|"
    r"(?:symbol error|link error recovery|link integrity|rc?v error|receive error|\bber\b)"
    r".{0,60}(?:threshold|exceed)",
    re.IGNORECASE,
)
"""What ibdiagnet says of links that make errors."""
_FEW = 10
_HOUR_S = 3600.0
_MINUTE_S = 60.0
"""A link that flaps is back within seconds; a host takes minutes to start."""
_TRAPS = 3
_ALLOWED_PER_HOUR = 120.0
"""Errors of a link of 32 Gbit/s at a bit error rate of 1e-12 [InfiniBand Architecture
Specification, links]; faster links may make more."""
_MANY = 1000
_LOOK = "ibqueryerrors -c; sleep 60; ibqueryerrors   # which counters rise"
_FOLLOW = (Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG)


def _check(facts: Facts) -> Iterator[Finding]:
    yield from _counted(facts)
    yield from _sick_modules(facts)
    yield from _flapping(facts)
    yield from _unsteady(facts)
    yield from _often_lost(facts)
    yield from _restless(facts)
    yield from _odd_switch_ports(facts)
    yield from _said(facts)


def _said(facts: Facts) -> Iterator[Finding]:
    """Find errors of links that a check of the fabric, or the subnet manager, complains of."""
    checked: list[Fact] = [
        one for one in facts.of(FabricCheck)
        if _COMPLAINT.search(one.text) and (one.errors or one.warnings)
    ]  # fmt: skip
    trapped = job.said(facts, r"trap 1(29|30|31)\b|link integrity threshold")
    if checked or trapped:
        yield finding(
            "ib-link-errors",
            [*checked, *trapped],
            0.65,
            severity=Severity.WARNING,
            message="a check of the fabric complains of errors on links",
            advice="reseat or replace the cable of the port named, then check again",
            next_command=_LOOK,
            missing=("the counters of this port over a minute",),
            explains=_FOLLOW,
        )


_Key = tuple[str, str, int | None, str]


def risen(counters: Sequence[Counter]) -> dict[_Key, int]:
    """Return by how much each counter rose between its samples, where it was read twice.

    Files are compared whose names differ in the moment alone (`layouts.series`).
    Tools that list only what is not zero leave a counter out of the first sample: it was zero.
    """
    first: dict[tuple[str, _Key], Counter] = {}
    earliest: dict[str, int] = {}
    for one in counters:
        group = readings(one.evidence.file)
        earliest[group] = min(earliest.get(group, _sample(one)), _sample(one))
    rise: dict[_Key, int] = {}
    for one in counters:
        key, group = (one.host, one.where, one.port, one.name), series(one.evidence.file)
        before = first.setdefault((group, key), one)
        if _sample(one) > _sample(before):
            rise[key] = one.value - before.value
        elif _sample(one) < _sample(before):
            rise[key] = before.value - one.value
            first[group, key] = one
        elif one.on_switch and _sample(one) != earliest[readings(one.evidence.file)]:
            rise[key] = one.value
    return rise


def _sample(counter: Counter) -> int:
    """Return the number of the reading; the first of a file has none."""
    return 0 if counter.sample is None else counter.sample


def _counted(facts: Facts) -> Iterator[Finding]:
    counters = [one for one in facts.of(Counter) if _is_error(one) and one.value > 0]
    rise = risen(facts.of(Counter))
    rising = [
        one for one in counters if rise.get((one.host, one.where, one.port, one.name), 0) > 0
    ]
    if rising and _only_breaks(rise):
        return  # the link is made anew, no frame is damaged: `_flapping` tells of it
    still = {key for key, by in rise.items() if by == 0}
    bad = [
        one for one in counters
        if (one.saturated or one.value >= _MANY)
        and (one.host, one.where, one.port, one.name) not in still
        and not _within_bounds(facts, one)
    ]  # fmt: skip
    some = [one for one in counters if one.value >= _FEW and not _within_bounds(facts, one)]
    told = [
        one for one in facts.of(Message)
        if one.software == "mlxlink" and "signal integrity" in one.text.lower()
    ]  # fmt: skip
    if told and not (rising or bad):
        yield _errors([*told, *some], 0.75, Severity.ERROR)
        return
    if rising or bad:
        worst = sorted([*rising, *bad], key=lambda one: (not one.saturated, -one.value))
        grave = rising or _are_grave(facts, bad)
        severity = Severity.ERROR if grave else Severity.WARNING
        yield _errors(worst, 0.85 if rising else 0.75, severity)
    elif some and not still:
        yield _errors(some, 0.5, Severity.WARNING)


def _are_grave(facts: Facts, many: Sequence[Counter]) -> bool:
    """Return whether many errors say more than that a link is old.

    They came in a known time, there were more than can be counted, or transfers failed.
    """
    timed = any(one.saturated or _per_hour(facts, one) is not None for one in many)
    return timed or facts.any_of(CompletionError)


def _per_hour(facts: Facts, counter: Counter) -> float | None:
    """Return how fast a counter of a host grew since the host is up, if that is known."""
    if counter.on_switch or counter.saturated:
        return None
    ups = facts.of(Uptime)
    own = [one for one in ups if one.host == counter.host]
    known = own or (ups if len(ups) == 1 and not (counter.host and ups[0].host) else [])
    return counter.value / (known[-1].up_s / _HOUR_S) if known else None


def _within_bounds(facts: Facts, counter: Counter) -> bool:
    """Return whether a sound link may have made so many errors in so long a time."""
    rate = _per_hour(facts, counter)
    return rate is not None and rate < _ALLOWED_PER_HOUR


def _often_lost(facts: Facts) -> Iterator[Finding]:
    """Find a port that lost its link again and again since its host is up."""
    odd = [
        one for one in facts.of(Counter)
        if one.name in _LOST and one.value >= _FEW and (_per_hour(facts, one) or 0) >= 1
    ]  # fmt: skip
    if odd:
        ports = dict.fromkeys(f"{one.host} {one.where}".strip() for one in odd)
        yield finding(
            "ib-link-flap",
            [*odd, *facts.of(Uptime)],
            0.65,
            severity=Severity.WARNING,
            subject=", ".join(list(ports)[:4]),
            message="a port has lost its link more than once an hour since its host is up",
            advice="replace the cable or transceiver of this port, then watch the count",
            next_command="read link_downed again after ten minutes",
            missing=("whether the count still rises",),
            explains=(*_FOLLOW, "port-down", "fabric-path-unreachable"),
        )


def _only_breaks(rise: Mapping[_Key, int]) -> bool:
    """Return whether links were lost while they were watched, and nothing was damaged."""
    rose = {name for (_, _, _, name), by in rise.items() if by > 0}
    damage = any(name in _ERRORS or _DAMAGED.search(name) for name in rose - {_MADE_ANEW})
    return bool(_LOST & rose) and not damage


def _is_error(counter: Counter) -> bool:
    """Return whether a counter counts damage on the wire."""
    if counter.name in _ERRORS or _DAMAGED.search(counter.name):
        return True
    return counter.on_switch and counter.name in _ON_SWITCHES


def _unsteady(facts: Facts) -> Iterator[Finding]:
    """Find ports that went up and down far more often than their fellows."""
    changes = [one for one in facts.of(Counter) if one.name in _CHANGES]
    rise = risen(facts.of(Counter))
    usual = sorted(one.value for one in changes)[len(changes) // 2 - 1] if changes[1:] else 0
    odd = [
        one for one in changes
        if rise.get((one.host, one.where, one.port, one.name), 0) > 0
        or one.value >= max(_OFTEN, _TIMES_ITS_FELLOWS * usual)
    ]  # fmt: skip
    if odd:
        ports = dict.fromkeys(f"{one.host} {one.where}".strip() for one in odd if one.where)
        yield finding(
            "ib-link-flap",
            odd,
            0.6,
            severity=Severity.WARNING,
            subject=", ".join(list(ports)[:4]),
            message="a port has gone up and down far more often than its fellows",
            advice="replace the cable or transceiver of this port, then watch the count",
            next_command="read the count of changes again after ten minutes",
            missing=("whether the count still rises",),
            explains=(*_FOLLOW, "port-down", "fabric-path-unreachable"),
        )


def _odd_switch_ports(facts: Facts) -> Iterator[Finding]:
    """Find the few ports of a switch that count errors of receipt while others count none."""
    ports = [one for one in facts.of(Counter) if one.on_switch and one.name == "rx_errors"]
    odd = [one for one in ports if one.value >= _MANY]
    clean = sum(one.value < _FEW for one in ports)
    if odd and clean >= len(odd):
        yield finding(
            "ib-link-errors",
            odd,
            0.5,
            severity=Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.where for one in odd[:4])),
            message="a switch counts errors of receipt on a port, and none on its fellows",
            advice="look whether frames are damaged (cable) or too long (MTU)",
            next_command="show interfaces counters errors; show interfaces transceiver",
            missing=("whether these are damaged frames, and still rise",),
            explains=_FOLLOW,
        )


def _restless(facts: Facts) -> Iterator[Finding]:
    """Find ports that were down at one reading and up at another; one address is one port."""
    states: dict[tuple[str, str, object], dict[PortState, AdapterPort]] = {}
    for one in facts.of(AdapterPort):
        own = one.lid if one.lid not in _NO_LID else one.guid
        if own and one.state in {PortState.DOWN, PortState.ACTIVE}:
            states.setdefault((one.host, one.adapter, own), {})[one.state] = one
    seen = [port for found in states.values() if len(found) > 1 for port in found.values()]
    used = job.by_host(job.verbs_adapters(facts))
    lacking = any(
        one.adapter not in {chosen.adapter for chosen in ports}
        for ports in used.values() for one in seen
    )  # fmt: skip
    if seen:
        yield finding(
            "ib-link-flap",
            seen,
            0.55 if lacking else 0.5,
            severity=Severity.ERROR if lacking else Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.adapter for one in seen)),
            message="a port was down at one reading and up at another",
            advice="replace the cable or transceiver of this port, then watch it",
            next_command="dmesg -T | grep -i link; read the state of the port again",
            missing=("whether somebody took the port down or brought it up between the two",),
            explains=(*_FOLLOW, "port-down", "fabric-path-unreachable", "hca-set-mismatch"),
        )


def _errors(
    seen: Sequence[Counter | Message], confidence_ratio: float, severity: Severity
) -> Finding:
    ports = dict.fromkeys(
        f"{one.where} port {one.port}" if one.port else one.where
        for one in seen
        if isinstance(one, Counter) and one.where
    )
    return finding(
        "ib-link-errors",
        seen,
        confidence_ratio,
        severity=severity,
        subject=", ".join(list(ports)[:4]),
        message="a link makes errors",
        advice="reseat or replace the cable of the worst port, then look whether counters rise",
        next_command=_LOOK,
        missing=("the same counters a minute later: only their rise says that it is now",),
        explains=(*_FOLLOW, "ib-link-flap"),
    )


def _sick_modules(facts: Facts) -> Iterator[Finding]:
    """Find cables and transceivers that the adapter calls faulty."""
    sick = [
        one for one in facts.of(CableEvent)
        if ("error" in one.event or "temperature" in one.event or "power budget" in one.event)
        and not ("fault" in one.event and _up_below(facts, one))
    ]  # fmt: skip
    if sick:
        yield finding(
            "ib-link-errors",
            sick,
            0.7,
            severity=Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.device for one in sick)),
            message=f"a cable or transceiver is faulty: {sick[0].event}",
            advice="reseat or replace the cable or transceiver, and look at its temperature",
            next_command="mlxlink -d <adapter> -m; ethtool -m <interface>",
            explains=(*_FOLLOW, "ib-link-flap", "port-down"),
            suspects=(suspect("port-down", 0.45),),
        )


def _up_below(facts: Facts, event: CableEvent) -> bool:
    """Return whether a port came up below an event: a fault until then is its peer's start."""
    return any(
        one.up and event.device.split()[-1:] == [one.interface]
        and one.evidence.file == event.evidence.file
        and one.evidence.place > event.evidence.place
        for one in facts.of(LinkEvent)
    )  # fmt: skip


def _flapping(facts: Facts) -> Iterator[Finding]:
    used = {(one.adapter, one.port) for one in job.verbs_adapters(facts)}
    events = [
        one for one in facts.of(AdapterEvent)
        if "port" in one.event and ("err" in one.event or "down" in one.event)
        and (not used or one.port is None or (one.adapter, one.port) in used or not one.adapter)
    ]  # fmt: skip
    if _of_other_ports(facts):
        events = [one for one in events if one.port is not None]
    flaps: list[Fact] = [*_lost_and_back(facts.of(LinkEvent)), *_soon_back(facts)]
    flaps += _traps_in_a_row(facts)
    cables = [one for one in facts.of(CableEvent) if "unplug" in one.event.lower()]
    rise = risen(facts.of(Counter))
    lost = [
        one for one in facts.of(Counter)
        if one.name in _LOST
        and rise.get((one.host, one.where, one.port, one.name), 0) > 0
    ]  # fmt: skip
    watched = job.said(facts, r"ib ?link ?flapping|changing its up status often")
    seen: list[Fact] = [*events, *lost, *flaps, *watched]
    if seen:
        hosts = dict.fromkeys(one.process.host for one in events if one.process.host)
        sure = bool(lost or (events and not _of_any_port(events, facts)))
        yield finding(
            "ib-link-flap",
            [*seen, *cables],
            0.85 if sure else 0.7 if watched or _again_and_again(facts) else 0.6,
            severity=Severity.ERROR if sure else Severity.WARNING,
            subject=", ".join(hosts),
            message="a port lost its link while it was in use"
            if sure
            else "a link was lost and came back",
            advice="replace the cable or transceiver of the port with the event, not "
            "of its peer",
            next_command="dmesg -T | grep -i -e link -e 'module event'; mlxlink -d "
            "<adapter> -m",
            explains=(*_FOLLOW, "port-down", "fabric-path-unreachable", "peer-process-died"),
        )


def _of_any_port(events: Sequence[AdapterEvent], facts: Facts) -> bool:
    """Return whether MPI tells of some port, used or not, and nothing failed by it."""
    nameless = all(one.process == NOBODY and not one.adapter for one in events)
    return nameless and not facts.any_of(CompletionError, CollectiveTimeout, CallFailed)


def _lost_and_back(events: Sequence[LinkEvent]) -> list[LinkEvent]:
    """Return losses of links that were up before and came back after: not those of a boot."""
    last_up = {(one.host, one.interface): place for place, one in enumerate(events) if one.up}
    been_up: set[tuple[str, str]] = set()
    lost: list[LinkEvent] = []
    for place, one in enumerate(events):
        where = (one.host, one.interface)
        if one.up:
            been_up.add(where)
        elif where in been_up and last_up[where] > place:
            lost.append(one)
    return lost


def _soon_back(facts: Facts) -> list[Fact]:
    """Return ports that the subnet manager lost and met again sooner than a host restarts."""
    lost: dict[str, LinkEvent] = {}
    back: list[Fact] = []
    for one in facts.of(LinkEvent):
        if not one.up and "Removed port" in one.evidence.text:
            lost[one.interface] = one
        elif one.up and (before := lost.pop(one.interface, None)) is not None:
            then, now = before.moment, one.moment
            if then and now and 0 <= now.time_s - then.time_s <= _MINUTE_S:
                back += [before, one]
    return back


def _traps_in_a_row(facts: Facts) -> list[Fact]:
    """Return traps of one switch whose links change again and again within a minute."""
    told: dict[str, list[Message]] = {}
    for one in facts.of(Message):
        if one.software == "OpenSM" and one.text.startswith("link state change") and one.moment:
            told.setdefault(one.place, []).append(one)
    return [
        trap for traps in told.values()
        if len(traps) >= _TRAPS and (first := traps[0].moment) and (last := traps[-1].moment)
        and 0 <= last.time_s - first.time_s <= _MINUTE_S * len(traps) / _TRAPS
        for trap in traps
    ]  # fmt: skip


def _again_and_again(facts: Facts) -> bool:
    """Return whether a link came back and was lost once more, as a bad cable or optic does."""
    came_back: dict[tuple[str, str], int] = {}
    up: dict[tuple[str, str], bool] = {}
    for one in facts.of(LinkEvent):
        where = (one.host, one.interface)
        if one.up and not up.get(where, True):
            came_back[where] = came_back.get(where, 0) + 1
        up[where] = one.up
    return any(
        times > 1 or (times == 1 and not up[where]) for where, times in came_back.items()
    )


def _of_other_ports(facts: Facts) -> bool:
    """Return whether events that name no port are rather of ports that nobody uses.

    The ports of the job are known to be up, an adapter has a second port that is down, and
    nothing failed: old versions of the library report the events of both ports. Where nobody
    says which ports the job uses, they are those that are up.
    """
    if facts.any_of(CompletionError, CollectiveTimeout, CallFailed):
        return False
    ports = facts.of(AdapterPort)
    used = {(one.adapter, one.port) for one in job.verbs_adapters(facts)}
    used = used or {(one.adapter, one.port) for one in job.active_ports(facts)}
    adapters = {name for name, _ in used}
    up = [one for one in ports if (one.adapter, one.port) in used
          and one.state is PortState.ACTIVE]  # fmt: skip
    idle = [one for one in ports if one.adapter in adapters and one.state is PortState.DOWN
            and (one.adapter, one.port) not in used]  # fmt: skip
    return len(up) == len(used) > 0 and bool(idle)


link_errors = Rule(causes=("ib-link-errors", "ib-link-flap"), check=_check)

"""A port that the job needs is down.

What it checks: ports that are down although the job names them, although it is disabled by hand
beside active ones, or although the other end of the cable is known; uplinks that a switch's
fellows have. A port that is down and that nobody needs is left alone.
Why it matters: a rail is missing: the job stops, or loses that rail's share of its bandwidth.
What to do: Disabled: bring it up (ip link set up, ibportstate enable). Polling: the cable or
the other end.
References: InfiniBand Architecture Specification, port states; ibportstate(8); ibstat(8).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job, links
from weft.doctor.rule import (
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.doctor.rules.adapter_filter import chosen_by
from weft.observe.facts.adapters import (
    AdapterInterface,
    AdapterPort,
    CableEvent,
    LinkTraining,
)
from weft.observe.facts.base import Clock, Fact, LinkLayer, PhysicalState, PortState
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.interfaces import Interface, LinkEvent
from weft.observe.facts.programs import Command, Message
from weft.observe.facts.subnet import FabricLink
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError

_FOLLOW = (
    Symptom.TRANSPORT_RETRY,
    Symptom.FLUSHED,
    Symptom.FEWER_LINKS,
    "fabric-path-unreachable",
)
_SPLIT = re.compile(r"[=,:\s]+")
_NO_LINK = re.compile(
    r"unplugged|negotiation|disabled|signal|no partner|partner|closed by|not detected|"
    r"training|shut|unsupported|remote", re.IGNORECASE
)  # fmt: skip
_OF_AN_ADAPTER = re.compile(r"\b(?:ibstat|ibstatus|ibv_devinfo|ib_\w+|mlxlink|rdma link)\b")
_OF_A_POD = re.compile(r"net\d{1,2}")
"""Names that the multiple networks of a pod get."""
_REFUSED = re.compile(r"(?:\S{1,80}[#$])?\s*Port number ")
_NO_LID = (None, 0, 0xFFFF)
_STARTED_S = 900.0
"""Within so long after its start a host has brought up what it can."""
_WITHIN = re.compile(
    r"(?:lo|docker|veth|cali|cni|virbr|flannel|tun|tap|lxc|usb|idrac|vnet)\w*$"
)
"""Interfaces of programs within a host, and of its service processor."""
_PORTS_OF_AN_ADAPTER = 2
_FREE_IN_A_ROW = 3
_LOOK = "ibstat; ip -br link; ibportstate <lid> <port>; swap the cable"


def _check(facts: Facts) -> Iterator[Finding]:
    last_up = _last_up(facts)
    down = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.DOWN and not _has_link(one)
        and last_up.get(_reading_of(one), 0) <= one.evidence.place  # else unsteady, not down
    ]  # fmt: skip
    alike = {(one.adapter, one.port): one for one in down}  # thousands of hosts are alike
    named = {key for key, one in alike.items() if _is_wanted(facts, one)}
    wanted = [one for one in down if (one.adapter, one.port) in named]
    active = _active(facts)
    disabled = [
        one for one in down if (one.adapter, one.port) not in named
        and one.physical_state is PhysicalState.DISABLED and _has_active_fellow(active, one)
    ]  # fmt: skip
    closed = _closed(facts) if not down else []
    if closed:
        names = ", ".join(dict.fromkeys(one.adapter for one in closed))
        yield _down([*closed, *job.settings(facts, "NCCL_IB_HCA")], names, 0.8)
    if wanted:
        yield _down([*wanted, *_interfaces(facts, wanted)], _names(wanted), 0.85)
    elif disabled:
        had = [one for one in disabled if one.lid not in _NO_LID]
        if had:  # an address is given to ports that were up
            yield _down([*had, *_interfaces(facts, had)], _names(had), 0.72, Severity.WARNING)
            return
        alone = job.said(facts, r"single (local )?device")
        seen = [*disabled, *_interfaces(facts, disabled), *alone]
        sure, severity = (0.75, Severity.WARNING) if alone else (0.45, Severity.INFO)
        yield _down(seen, _names(disabled), sure, severity)
    else:
        yield from list(_looked_at(facts, down)) or list(_given(facts, down))
    yield from _checked(facts)
    yield from _on_switches(facts)
    yield from _orphans(facts)
    yield from _slaves(facts)
    yield from _asked(facts)
    yield from _of_processors(facts)
    yield from _stays_down(facts)
    yield from _lost(facts)
    yield from _cut(facts)


def _has_link(port: AdapterPort) -> bool:
    """Return whether the cable of a port of InfiniBand is up: what it lacks is a manager."""
    infiniband = port.link_layer is LinkLayer.INFINIBAND
    return infiniband and port.physical_state is PhysicalState.LINK_UP


_Reading = tuple[str, str, str, int | None, int | None]


def _reading_of(port: AdapterPort) -> _Reading:
    """Return what two readings of a port have alike: its text, its names and its address."""
    return port.evidence.file, port.host, port.adapter, port.port, port.lid


def _last_up(facts: Facts) -> dict[_Reading, int]:
    """Return where each port with an address is up for the last time in its text."""
    places: dict[_Reading, int] = {}
    for one in facts.of(AdapterPort):
        if one.state is PortState.ACTIVE and one.lid not in _NO_LID:
            key = _reading_of(one)
            places[key] = max(one.evidence.place, places.get(key, 0))
    return places


def _closed(facts: Facts) -> list[AdapterInterface]:
    """Return adapters of the job whose interface is down, where no state of ports is known."""
    filters = [one.value for one in job.settings(facts, "NCCL_IB_HCA")]
    used = {one.adapter for one in job.verbs_adapters(facts)}
    return [
        one for one in facts.of(AdapterInterface)
        if one.up is False
        and (one.adapter in used
             or any(one.adapter in _SPLIT.split(value) for value in filters
                    if not value.startswith("^")))
    ]  # fmt: skip


def _looked_at(facts: Facts, down: list[AdapterPort]) -> Iterator[Finding]:
    """Find a port that is down and was asked about: its firmware why, or nothing else."""
    told: list[Fact] = [
        one for one in facts.of(Message)
        if one.software == "mlxlink" and _NO_LINK.search(one.text)
    ]  # fmt: skip
    if told and down:
        yield _down([*told, *down], _names(down), 0.65, Severity.WARNING)
    elif down and not any(_active(facts).values()):  # nobody shows ports for being idle
        yield _down([*down], _names(down), 0.55, Severity.WARNING)
    elif alone := _alone(facts):
        yield _down([alone], alone.interface, 0.52, Severity.WARNING)


def _alone(facts: Facts) -> Interface | None:
    """Return the one interface of Ethernet that somebody looked at, if it has no link."""
    seen = {(one.host, one.interface) for one in facts.of(Interface)}
    only = facts.of(Interface)[-1] if len(seen) == 1 else None
    dark = only is not None and only.carrier is False and "Link detected" in only.evidence.text
    return only if dark and not facts.any_of(AdapterPort, LinkEvent) else None


def _given(facts: Facts, down: list[AdapterPort]) -> Iterator[Finding]:
    """Find ports somebody asked about by name, and those a pod was given.

    A port that was up at another moment is unsteady rather than down.
    """
    back = {
        (one.host, one.adapter) for one in facts.of(AdapterPort)
        if one.state not in {PortState.DOWN, PortState.UNKNOWN}
    }  # fmt: skip
    said = [
        set(_SPLIT.split(one.command)) for one in facts.of(Command)
        if _OF_AN_ADAPTER.search(one.command)
    ]  # fmt: skip
    asked: list[Fact] = [
        one for one in down
        if (one.host, one.adapter) not in back and any(one.adapter in words for words in said)
    ]  # fmt: skip
    inside: list[Fact] = [
        one for one in facts.of(AdapterInterface)
        if one.up is False and _OF_A_POD.fullmatch(one.interface)
        and (one.host, one.adapter) not in back
    ]  # fmt: skip
    seen = asked + inside
    if seen:
        names = dict.fromkeys(
            one.adapter for one in seen if isinstance(one, AdapterPort | AdapterInterface)
        )
        yield _down(seen, ", ".join(list(names)[:4]), 0.6, Severity.WARNING)


def _on_switches(facts: Facts) -> Iterator[Finding]:
    """Find switch ports that may be up and are not, where most that may be up are.

    The switch's own reason decides; a port with a cable and no link may wait for its host.
    """
    ports = [one for one in facts.of(Interface) if one.kind == "switch port" and one.enabled]
    down = [one for one in ports if not one.up and one.reason and not _up_below(facts, one)]
    stopped = [one for one in down if re.search(r"err|flap|fault|disabled by", one.reason,
                                                re.IGNORECASE)]  # fmt: skip
    live = sum(bool(one.up) for one in ports)
    asked = [
        one for one in down
        if any(re.search(rf"\b{re.escape(one.interface)}\b", typed.command)
               for typed in facts.of(Command))
    ]  # fmt: skip
    seen = stopped or (down if len(down) <= live else []) or asked
    if seen:
        names = dict.fromkeys(f"{one.host} {one.interface}".strip() for one in seen)
        yield _down([*seen], ", ".join(list(names)[:4]), 0.75 if stopped else 0.55,
                    Severity.WARNING)  # fmt: skip


def _up_below(facts: Facts, port: Interface) -> bool:
    """Return whether a log says further down that a port came up after all."""
    return any(
        one.up and one.interface == port.interface
        and one.evidence.file == port.evidence.file
        and one.evidence.place > port.evidence.place
        for one in facts.of(LinkEvent)
    )  # fmt: skip


def _slaves(facts: Facts) -> Iterator[Finding]:
    """Find slaves of bonds that are down beside others that are up."""
    slaves = [one for one in facts.of(Interface) if one.kind == "bond slave"]
    down: list[Fact] = [
        one for one in slaves
        if one.up is False and any(other.up and other.host == one.host for other in slaves)
    ]  # fmt: skip
    if down:
        names = ", ".join(
            dict.fromkeys(one.interface for one in down if isinstance(one, Interface))
        )
        yield _down(down, names, 0.7, Severity.WARNING)


def _orphans(facts: Facts) -> Iterator[Finding]:
    """Find interfaces that are up with an address while what they run on is down."""
    lost = [
        one for one in facts.of(Interface)
        if one.up and one.addresses and one.reason.startswith("its parent")
    ]  # fmt: skip
    if lost:
        names = ", ".join(dict.fromkeys(one.interface.split(".")[0] for one in lost))
        yield _down([*lost], names, 0.75, Severity.WARNING)


def _asked(facts: Facts) -> Iterator[Finding]:
    """Find a port somebody asked the subnet manager's tools about, and that is switched off."""
    off = [
        one for one in facts.of(LinkTraining)
        if one.state is PortState.DOWN and one.physical_state is PhysicalState.DISABLED
    ]  # fmt: skip
    if off:
        names = ", ".join(f"{one.where} port {one.port}" for one in off[:4])
        yield _down([*off], names, 0.65, Severity.WARNING)


def _of_processors(facts: Facts) -> Iterator[Finding]:
    """Find the port of a processor that has but this one to reach other hosts."""
    down = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.DOWN and one.adapter.startswith("npu")
    ]  # fmt: skip
    if down:
        yield _down([*down], _names(down), 0.7, Severity.WARNING)


def _checked(facts: Facts) -> Iterator[Finding]:
    """Find ports that a health check of the site expects to be up."""
    missed = job.said(
        facts,
        r"no ib port .{0,80}is active|ib port .{0,60}is not active|"
        r"port \d+ down since|down too long: |only [1-9]\d* port\(s\) are act|"
        r"only \d+ linkup|port \d+: state down|port \d+ is down|"
        r"^rdma port is down: |rdma device \w+ (disapp|is miss|vanish)",
    )
    missed = [one for one in missed if not _up_at_another_rate(facts, one)]
    yield from _none_at_rate(facts)
    yield from _unheard(facts)
    if missed:
        yield _down(missed, "", 0.7)


def _unheard(facts: Facts) -> Iterator[Finding]:
    """Ask of a port whose other end says that it hears nothing."""
    told = job.said(facts, r"oper error event: mac_remote_fault occurred")
    if told and not facts.of(LinkEvent):
        yield suspected(
            (suspect("port-down", 0.4), suspect("ib-link-errors", 0.35)),
            told,
            symptom=Symptom.FEWER_LINKS,
            severity=Severity.WARNING,
            message="the other end of a port says that it receives nothing: one way is broken",
            advice="look whether the host restarted then; else clean or replace the cable",
        )


def _none_at_rate(facts: Facts) -> Iterator[Finding]:
    """Ask of ports none of which is up at the rate that a health check expects.

    That all are slow is more likely than that all are down: then other things fail first.
    """
    none = job.said(facts, r"only 0 port\(s\) are active and >=")
    if none:
        yield suspected(
            (suspect("ib-link-degraded-speed", 0.45), suspect("port-down", 0.35)),
            none,
            symptom=Symptom.FEWER_LINKS,
            severity=Severity.WARNING,
            message="no port is up at the rate that a health check expects",
            advice="look whether the ports are down, or up at a lower rate than expected",
        )


def _up_at_another_rate(facts: Facts, missed: Fact) -> bool:
    """Return whether a check asked for a rate, and its port is up at a lower one."""
    asked = links.ASKED_RATE.search(missed.evidence.text)
    return asked is not None and bool(links.below_asked(facts, asked))


def _down(
    seen: list[Fact], subject: str, confidence_ratio: float, severity: Severity = Severity.ERROR
) -> Finding:
    return finding(
        "port-down",
        seen,
        confidence_ratio,
        severity=severity,
        subject=subject,
        message=f"{subject or 'a port'} {'are' if ', ' in subject else 'is'} down",
        advice="Disabled: bring it up; Polling: check the cable and the port at the other end",
        next_command=_LOOK,
        missing=() if severity is Severity.ERROR else ("whether the job should use this port",),
        explains=_FOLLOW,
        fault=Fault.RAIL_LOST,
    )


def _names(ports: list[AdapterPort]) -> str:
    return ", ".join(dict.fromkeys(one.adapter for one in ports))


def _is_wanted(facts: Facts, port: AdapterPort) -> bool:
    if _REFUSED.match(port.evidence.text):  # a benchmark was to use it
        return True
    filters = [
        one.value for name in ("NCCL_IB_HCA", "UCX_NET_DEVICES")
        for one in job.settings(facts, name)
    ]  # fmt: skip
    failing: list[CallFailed | CompletionError] = [
        *facts.of(CallFailed), *facts.of(CompletionError)
    ]  # fmt: skip
    if port.state is PortState.DOWN and any(one.adapter == port.adapter for one in failing):
        return True  # a rank used it
    named = any(
        chosen_by(one, port.adapter) and port.adapter in _SPLIT.split(one)
        for one in filters
        if not one.startswith("^")
    )
    chosen = [
        one for one in job.verbs_adapters(facts) if port.adapter in {one.adapter, *one.parts}
    ]
    other = port.port is not None and all(
        one.port not in {None, port.port} for one in chosen if not one.parts
    )
    return named or (bool(chosen) and not (other and not any(one.parts for one in chosen)))


_Active = dict[str, dict[tuple[LinkLayer, str, int | None], AdapterPort]]
_ENOUGH = 8
"""Ports of a host that are up, of which at most one is the port asked for itself."""


def _active(facts: Facts) -> _Active:
    """Return some ports of each host that are up."""
    found: _Active = {}
    for one in facts.of(AdapterPort):
        ports = found.setdefault(one.host, {})
        key = (one.link_layer, one.adapter, one.port)
        if one.state is PortState.ACTIVE and _few(ports, one.link_layer):
            ports[key] = one
    return found


def _few(ports: dict[tuple[LinkLayer, str, int | None], AdapterPort], layer: LinkLayer) -> bool:
    return len(ports) < _ENOUGH or sum(known is layer for known, _, _ in ports) <= 1


def _has_active_fellow(active: _Active, port: AdapterPort) -> bool:
    return any(
        (one.link_layer is port.link_layer
         or LinkLayer.UNKNOWN in {one.link_layer, port.link_layer})
        and (one.adapter, one.port) != (port.adapter, port.port)
        for one in active.get(port.host, {}).values()
    )  # fmt: skip


def _interfaces(facts: Facts, ports: list[AdapterPort]) -> list[Fact]:
    names = {one.adapter for one in ports}
    return [one for one in facts.of(AdapterInterface) if one.adapter in names and not one.up]


def _lost(facts: Facts) -> Iterator[Finding]:
    """Find interfaces that went down in the log and never came back."""
    last: dict[tuple[str, str], LinkEvent] = {}
    been_up: set[tuple[str, str]] = set()
    for event in facts.of(LinkEvent):
        last[event.host, event.interface] = event
        if event.up:
            been_up.add((event.host, event.interface))
    failing: list[Fact] = [*facts.of(CompletionError), *facts.of(CollectiveTimeout)]
    pulled = _pulled(facts)
    gone = [
        event for place, event in last.items()
        if not event.up and (place in been_up or failing or _runs_long(event) or pulled)
        and not _WITHIN.match(event.interface)
    ]  # fmt: skip
    if gone:
        names = ", ".join(dict.fromkeys(event.interface for event in gone))
        severity = Severity.ERROR if failing else Severity.WARNING
        sure = 0.65 if failing else 0.6 if any(_place(one) in been_up for one in gone) else 0.5
        if not failing and _of_other_layer(facts):
            sure, severity = 0.45, Severity.INFO
        yield _down([*gone, *pulled, *failing[:2]], names, sure, severity)


def _of_other_layer(facts: Facts) -> bool:
    """Return whether only ports of Ethernet are down, beside ones of InfiniBand that are up."""
    ports = facts.of(AdapterPort)
    down = {one.link_layer for one in ports if one.state is PortState.DOWN}
    up = {one.link_layer for one in ports if one.state is PortState.ACTIVE}
    return down == {LinkLayer.ETHERNET} and up == {LinkLayer.INFINIBAND}


def _place(event: LinkEvent) -> tuple[str, str]:
    return event.host, event.interface


def _runs_long(event: LinkEvent | CableEvent) -> bool:
    """Return whether a host had started long ago: at its start ports without a cable tell."""
    at = event.moment
    return at is not None and at.clock is Clock.BOOT and at.time_s > _STARTED_S


def _pulled(facts: Facts) -> list[CableEvent]:
    """Return modules that were pulled while the host ran and were not put back."""
    last = {(one.host, one.device, one.module): one for one in facts.of(CableEvent)}
    return [one for one in last.values() if "unplugged" in one.event and _runs_long(one)]


_STILL_DOWN = (
    r"(?:^|\s)1: DOWN\s*$|(?:^|\s)2: Polling\s*$|\boperstate[=: ]+down\b|"
    r"\bcarrier[=: ]+0\b"
)
"""What the kernel's files say of a port without a link."""


def _stays_down(facts: Facts) -> Iterator[Finding]:
    """Find a port that lost its link under the job, and that still has none."""
    lost = [one for one in facts.of(AdapterEvent) if "port" in one.event and "err" in one.event]
    back = [one for one in facts.of(AdapterEvent) if "port active" in one.event]
    still = [*job.said(facts, _STILL_DOWN), *_without_light(facts), *_still_down(facts, lost)]
    if lost and still and not back:
        found = _down([*lost, *still], lost[0].adapter, 0.88)
        yield replace(found, explains=found.explains | {"ib-link-flap", "ib-link-errors"})


def _without_light(facts: Facts) -> list[Fact]:
    """Return interfaces that lost their link in the log, last of all, and have none now.

    A cable that was pulled and not put back is as good as a tool's word.
    """
    last = {(one.host, one.interface): one for one in facts.of(LinkEvent)}
    down = {place: one for place, one in last.items() if not one.up}
    dark: list[Fact] = [
        one for one in facts.of(Interface)
        if one.carrier is False and (one.host, one.interface) in down
    ]  # fmt: skip
    cables = {(one.host, one.device, one.module): one for one in facts.of(CableEvent)}
    pulled: list[Fact] = [one for one in cables.values() if "unplugged" in one.event]
    return [*dark, *pulled] if len(down) <= 1 and (down or pulled) else []


def _still_down(facts: Facts, lost: list[AdapterEvent]) -> list[Fact]:
    """Return the states of ports that lost their link, where none was seen to come back."""
    if any(one.up for one in facts.of(LinkEvent)[-1:]):
        return []
    names = {(one.adapter, one.port) for one in lost if one.adapter}
    ports = [one for one in facts.of(AdapterPort) if (one.adapter, one.port) in names]
    down = all(one.state is PortState.DOWN for one in ports)
    return [*ports] if down else []


def _cut(facts: Facts) -> Iterator[Finding]:
    """Find cables of the fabric that are down although somebody is at the other end."""
    cables = facts.of(FabricLink)
    down = [one for one in cables if one.state is PortState.DOWN]
    known = [one for one in down if one.peer_name or one.peer_guid]
    idle = {(one.name, one.port) for one in down}
    disabled = [
        one for one in down
        if one.physical_state is PhysicalState.DISABLED and not _in_a_row(one, idle)
    ]  # fmt: skip
    unlike = [] if known or disabled else _unlike_its_fellows(cables, down)
    beside = [] if known or disabled or unlike else _beside_an_uplink(cables, down)
    cut = [*known, *disabled] or unlike or beside
    if cut:
        subject = ", ".join(dict.fromkeys(f"{one.name} port {one.port}" for one in cut[:4]))
        sure = 0.8 if known or disabled else 0.65 if unlike else 0.55
        yield _down([*cut], subject, sure, Severity.WARNING if beside else Severity.ERROR)


def _unlike_its_fellows(cables: list[FabricLink], down: list[FabricLink]) -> list[FabricLink]:
    """Return ports that are down on one switch while the same port is up on its fellows.

    Fellows are the switches with hosts, and those without.
    """
    switches = _switches(cables)
    with_hosts = {
        one.name for one in cables
        if one.state is PortState.ACTIVE and not {one.peer_name, one.peer_guid} & switches
    }  # fmt: skip
    of_switches = [one for one in cables if one.name in switches]
    seen = Counter((one.name in with_hosts, one.port) for one in of_switches)
    up = Counter(
        (one.name in with_hosts, one.port)
        for one in of_switches
        if one.state is PortState.ACTIVE
    )
    return [
        one for one in down
        if seen[key := (one.name in with_hosts, one.port)] > 1 and up[key] * 2 >= seen[key]
    ]  # fmt: skip


def _switches(cables: list[FabricLink]) -> set[str]:
    """Return the names and GUIDs of what has more ports than an adapter."""
    ports = Counter(one.guid or one.name for one in cables)
    return {
        word for one in cables if ports[one.guid or one.name] > _PORTS_OF_AN_ADAPTER
        for word in (one.name, one.guid) if word
    }  # fmt: skip


def _beside_an_uplink(cables: list[FabricLink], down: list[FabricLink]) -> list[FabricLink]:
    """Return ports that are down next to one that leads to a switch: uplinks stand together.

    Three ports or more that are down in a row are free, and say nothing.
    """
    switches = _switches(cables)
    idle = {(one.name, one.port) for one in down}
    uplinks = {
        (one.name, one.port) for one in cables
        if one.state is PortState.ACTIVE
        and ({one.peer_name, one.peer_guid} & switches
             or (one.peer_port or 0) > _PORTS_OF_AN_ADAPTER)
    }  # fmt: skip
    return [
        one for one in down
        if not _in_a_row(one, idle)
        and {(one.name, one.port - 1), (one.name, one.port + 1)} & uplinks
    ]  # fmt: skip


def _in_a_row(link: FabricLink, idle: set[tuple[str, int]]) -> bool:
    """Return whether a port is one of several neighbours that are all down."""
    return any(
        all((link.name, first + step) in idle for step in range(_FREE_IN_A_ROW))
        for first in range(link.port - _FREE_IN_A_ROW + 1, link.port + 1)
    )


port_down = Rule(causes=("port-down",), check=_check)

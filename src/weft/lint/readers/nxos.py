"""Cisco NX-OS: running or startup configuration."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.filters import filter_facts
from weft.lint.part import fact
from weft.lint.reader import Reader
from weft.lint.sections import (
    Section,
    by_hostname,
    numbers,
    switched,
)
from weft.lint.switch_lines import addresses, as_number, port, queue_facts, size_after, speaker

_DEFAULT_QUEUE: Final = 0
_DEFAULT_MTU: Final = 1500
_POLICY: Final = ("service-policy", "type")
_DOG: Final = "watch-dog-interval"
_RESTORES: Final = ("auto-restore", "fixed-restore")
_DOGS: Final = ("watch-dog", "fixed-restore", _DOG)


@dataclass(slots=True)
class _Switch:
    """The parts of one configuration that the others refer to."""

    top: list[Section]
    policies: dict[str, Section] = field(default_factory=dict)
    classes: dict[str, Section] = field(default_factory=dict)
    uses: dict[str, list[str]] = field(default_factory=dict)
    """Ports by policy; of the whole system, no ports."""

    def system(self) -> list[Section]:
        return [section for section in self.top if section.starts("system", "qos")][:1]


def _read(top: list[Section]) -> Iterator[facts.Fact]:
    switch = _Switch(top)
    switch.policies |= {
        section.last: section for section in top if section.starts("policy-map")
    }
    switch.classes |= {section.last: section for section in top if section.starts("class-map")}
    yield from _used(switch)
    for section in top:
        if section.starts("interface", "breakout"):
            yield from _split(section)
        elif section.starts("interface") and len(section.words) > 1:
            yield from _interface(section, switch)
        elif section.starts("router", "bgp"):
            yield from _bgp(section)
    for name, policy in switch.policies.items():
        if name in switch.uses:
            yield from _policy(policy, tuple(switch.uses[name]), switch)
    yield from _watchdogs(switch)
    yield from _hash(switch)
    yield from _undefined(switch)
    yield from filter_facts(top)


def _hash(switch: _Switch) -> Iterator[facts.Hash | facts.HashSeed]:
    for section in switch.top:
        if section.starts("ip", "load-sharing", "address"):
            yield facts.Hash(
                at=section.at, layer_4=any("port" in word for word in section.words)
            )
            if "universal-id" in section.words[:-1]:
                yield facts.HashSeed(at=section.at, seed=section.after("universal-id"))


def _split(one: Section) -> Iterator[facts.Split]:
    """Read ``interface breakout module 1 port 1-64 map 400g-2x``."""
    module, ways = one.after("module"), whole(one.last.rpartition("-")[2].removesuffix("x"))
    ports = numbers(one.after("port"))
    if ports and ways is not None:
        cages = tuple(f"Ethernet{module}/{port}/" for port in ports)
        yield facts.Split(at=one.at, cages=cages, ways=ways)


def _undefined(switch: _Switch) -> Iterator[facts.Fact]:
    """Yield what BGP needs and is not there: its feature, its route maps."""
    maps = {section.word(1) for section in switch.top if section.starts("route-map")}
    feature = any(section.starts("feature", "bgp") for section in switch.top)
    for section in switch.top:
        if not section.starts("router", "bgp"):
            continue
        if not feature:
            yield facts.Wanted(at=section.at, what="feature", name="bgp")
        for row in [
            *section.parts,
            *(part for family in section.parts for part in family.parts),
        ]:
            name = row.after("route-map")
            if name and name not in maps:
                yield facts.Wanted(at=row.at, what="route-map", name=name)


def _used(switch: _Switch) -> Iterator[facts.Fact]:
    """Note which policies are used where; yield those that are used and not there."""
    for section in switch.top:
        if section.starts("policy-map"):  # a line that lost its own heading
            continue
        for use in section.find(*_POLICY):
            name = "".join(section.words[1:]) if section.starts("interface") else ""
            known = use.last in switch.policies or use.last.startswith("default-")
            if not known:
                yield facts.Wanted(at=use.at, what="policy-map", name=use.last)
            ports = switch.uses.setdefault(use.last, [])
            if name and name not in ports:
                ports.append(name)


def _is_port(name: str) -> bool:
    return name.lower().startswith(("ethernet", "eth", "port-channel"))


def _interface(one: Section, switch: _Switch) -> Iterator[facts.Fact]:
    name = "".join(one.words[1:])
    if "." in name:
        return  # a sub-interface of a tenant: its port says what holds of both
    if _is_port(name):
        yield _port(one, name)
        yield from _pause_mode(one, name, switch)
    for row in one.find("flowcontrol"):
        yield fact(facts.LinkPause, row, ports=(name,), on=row)
    group = one.first("channel-group")
    if group:
        yield facts.Bond(at=group.at, name=f"port-channel{group.word(1)}", members=(name,))
    address = one.first("ip", "address")
    if address and _is_port(name) and not one.has("no", "switchport"):
        yield switched(address, name)
    yield from addresses(one, name)


def _port(one: Section, name: str) -> facts.Port:
    down = one.has("shutdown")
    up = not down if down or one.has("no", "shutdown") else None
    autoneg = "off" if one.has("no", "negotiate") else ""
    link_local = one.has("ip", "forward") and one.has("ipv6")
    return port(one, name, one.first("fec"), up=up, autoneg=autoneg, link_local=link_local)


def _pause_mode(one: Section, name: str, switch: _Switch) -> Iterator[facts.Fact]:
    row = one.first("priority-flow-control", "mode")
    queues = _no_drop(switch)
    if row is None and not queues:
        return
    on = row is not None and row.word(2) in {"on", "auto"}
    if row is not None and row.word(2) == "auto":
        yield facts.option(row.at, "nxos-pfc", name, "auto")
    yield facts.Pause(at=(row or one).at, ports=(name,), priorities=queues if on else ())
    if queues:
        trusted = any(part.has(*_POLICY, "qos") for part in (one, *switch.system()))
        yield facts.Trust(at=one.at, ports=(name,), mode="dscp" if trusted else "none")


def _no_drop(switch: _Switch) -> tuple[int, ...]:
    """Return the priorities that the network-qos policy of the system pauses."""
    found: set[int] = set()
    for name in switch.uses:
        policy = switch.policies.get(name)
        for group in policy.parts if policy and "network-qos" in policy.words else []:
            row = group.first("pause", "pfc-cos")
            found |= set(numbers(row.last)) if row else set()
    return tuple(sorted(found))


def _policy(policy: Section, ports: tuple[str, ...], switch: _Switch) -> Iterator[facts.Fact]:
    kind = policy.words[policy.words.index("type") + 1] if "type" in policy.words else "qos"
    for group in policy.find("class"):
        if kind == "qos":
            yield from _classify(group, switch)
        elif kind == "queuing":
            yield from _queuing(group, ports)
        elif kind == "network-qos":
            yield from _network(group)


def _classify(group: Section, switch: _Switch) -> Iterator[facts.Fact]:
    row = group.first("set", "qos-group")
    matched = switch.classes.get(group.last)
    if row is None:
        return
    if matched is None and group.last != "class-default":
        yield facts.Wanted(at=group.at, what="class-map", name=group.last)
    kind, target = facts.Map.DSCP_TO_CLASS, row.number()
    for match in matched.find("match", "dscp") if matched and target is not None else ():
        for source in numbers("".join(match.words[2:])):
            yield fact(facts.Mapped, match, kind=kind, source=source, target=target)


def _number(name: str) -> int | None:
    """Return the queue of a system class: c-out-8q-q3, c-8q-nq3, c-out-8q-q-default."""
    if name.endswith("default"):
        return _DEFAULT_QUEUE
    tail = name[-1:]
    return int(tail) if tail.isdecimal() else None


def _queuing(group: Section, ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    queue = _number(group.last)
    if queue is None:
        return
    marks = group.find("random-detect")
    yield from queue_facts(group, queue, ports, marks, _chance)
    for row in group.find("pause", "buffer-size"):
        name = f"{group.last} of {ports[0] if ports else 'the system'}"
        size, stop = size_after(row, "buffer-size"), size_after(row, "pause-threshold")
        room = size - stop if size is not None and stop is not None else size
        yield facts.BufferProfile(
            at=row.at, name=name, size_bytes=size, xoff_bytes=room,
            xon_bytes=size_after(row, "resume-threshold"),
        )  # fmt: skip
        yield facts.GroupUse(at=row.at, ports=ports, group=queue, profile=name, ingress=True)


def _chance(row: Section) -> int | None:
    return whole(row.after("drop-probability"))


def _network(group: Section) -> Iterator[facts.Fact]:
    queue, row, mtu = _number(group.last), group.first("pause", "pfc-cos"), group.first("mtu")
    kind = facts.Map.PAUSE_TO_QUEUE
    for priority in numbers(row.last) if row and queue is not None else ():
        yield fact(facts.Mapped, row or group, kind=kind, source=priority, target=queue)
    if mtu is not None or row is not None:
        name = f"class {group.last}"
        yield fact(facts.Port, mtu or group, name=name, mtu_bytes=mtu or _DEFAULT_MTU)


def _watchdogs(switch: _Switch) -> Iterator[facts.Fact]:
    rows = [
        section
        for section in switch.top
        if section.words[0] == "priority-flow-control" and section.word(1) in _DOGS
    ]
    spans = (whole(row.after("interval")) for row in rows if row.after("interval"))
    interval = next(spans, None)
    detects, restores = _times(rows, "shutdown-multiplier"), _times(rows, *_RESTORES)
    switched = [row for row in rows if row.word(1) == _DOG]
    if rows:
        shown = (switched or rows)[-1]
        yield fact(
            facts.Watchdog, shown, on=not switched or shown, poll_ms=interval,
            detection_ms=(interval or 0) * detects or None,
            restoration_ms=(interval or 0) * restores or None,
        )  # fmt: skip
    for section in switch.top:
        row = (
            section.first("priority-flow-control", _DOG)
            if section.starts("interface")
            else None
        )
        if row:
            yield fact(facts.Watchdog, row, ports=("".join(section.words[1:]),), on=row)


def _times(rows: list[Section], *words: str) -> int:
    """Return how many intervals the first line with one of some words counts."""
    found = (row.number() for row in rows if any(word in row.words for word in words))
    return next(found, None) or 0


def _bgp(one: Section) -> Iterator[facts.Fact]:
    asn = as_number(one.last)
    if asn is None:
        return
    family = one.first("address-family", "ipv4", "unicast")
    relaxed = one.has("bestpath", "as-path", "multipath-relax")
    parts, router_id = family.parts if family else [], one.first("router-id")
    yield speaker(one, parts, router_id, asn=asn, paths=1, relaxed=relaxed)
    templates = {row.last: row for row in one.find("template")}
    for row in one.find("neighbor"):
        peer = row.word(1)
        above = row.first("inherit", "peer")
        template = templates.get(above.last) if above else None
        inside = [*row.parts, *(template.parts if template else [])]
        remote = next((part.last for part in inside if part.starts("remote-as")), "")
        remote = remote or row.after("remote-as")
        if not remote and row.has("inherit", "peer-session"):
            remote = "inherited"
        active = any(part.starts("address-family", "ipv4") for part in inside)
        given = {"unnumbered": _is_port(peer), "remote": remote, "active": active}
        yield fact(facts.Neighbor, row, peer=peer, **given)


nxos = Reader(title="Cisco NX-OS", read=lambda file: by_hostname(file, _read))

"""Arista EOS: running or startup configuration."""

from collections.abc import Iterator
from dataclasses import replace
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
from weft.lint.switch_lines import addresses, as_number, port, queue_facts, speaker

_MAPS: Final = {
    "dscp": facts.Map.DSCP_TO_CLASS,
    "traffic-class": facts.Map.CLASS_TO_QUEUE,
}
_MILLI: Final = 1000
_ROUTED: Final = 4


def _read(top: list[Section]) -> Iterator[facts.Fact]:
    profiles = {section.last: section for section in top if section.starts("qos", "profile")}
    forwards = any(
        section.starts("ip", "routing", "ipv6", "interfaces") for section in top
    ) and any(section.starts("ipv6", "unicast-routing") for section in top)
    for section in top:
        if section.starts("interface"):
            yield from _interface(section, profiles)
        elif section.starts("qos", "map"):
            yield from _map(section)
        elif section.starts("router", "bgp"):
            yield from _bgp(section, forwards=forwards)
        elif section.starts("priority-flow-control", "pause", "watchdog", "default"):
            yield _watchdog([section], ())
    yield from _profiles(top, profiles)
    yield from filter_facts(top)


def _profiles(top: list[Section], profiles: dict[str, Section]) -> Iterator[facts.Fact]:
    """Yield what a profile sets, for all ports that use it."""
    used: dict[str, list[str]] = {}
    for section in top:
        use = section.first("service-profile") if section.starts("interface") else None
        if use is not None:
            used.setdefault(use.last, []).append("".join(section.words[1:]))
            if use.last not in profiles:
                yield facts.Wanted(at=use.at, what="qos profile", name=use.last)
    for name, ports in used.items():
        if name in profiles:
            yield from _quality(profiles[name], tuple(ports))


def _interface(one: Section, profiles: dict[str, Section]) -> Iterator[facts.Fact]:
    name = "".join(one.words[1:])
    if "." in name:
        return  # a sub-interface of a tenant: its port says what holds of both
    if not name.startswith(("Ethernet", "Et", "Port-Channel")):
        yield from addresses(one, name)
        return
    routed = one.has("no", "switchport")
    speed, fec = one.first("speed"), one.first("error-correction", "encoding")
    autoneg = "on" if speed and speed.last == "auto" else ""
    up, link_local = not one.has("shutdown"), one.has("ipv6")
    yield port(one, name, fec, up=up, autoneg=autoneg, link_local=link_local)
    group = one.first("channel-group")
    if group:
        yield facts.Bond(at=group.at, name=f"Port-Channel{group.word(1)}", members=(name,))
    for pause in one.find("flowcontrol"):
        yield fact(facts.LinkPause, pause, ports=(name,), on=pause)
    yield from _own_quality(one, name, unmarked=bool(profiles) and routed)
    yield from addresses(one, name)
    address = one.first("ip", "address")
    if address and not routed:
        yield switched(address, name)


def _own_quality(one: Section, name: str, *, unmarked: bool) -> Iterator[facts.Fact]:
    """Yield what a port sets itself; ``unmarked``: without a profile it trusts no label."""
    profile = one.first("service-profile")
    has_own = any(
        part.starts(word)
        for part in one.parts
        for word in ("priority-flow-control", "tx-queue", "uc-tx-queue", "qos")
    )
    if has_own:
        yield from _quality(one, (name,))
    elif profile is None and unmarked:
        yield facts.Trust(at=one.at, ports=(name,), mode="none")
        yield facts.Pause(at=one.at, ports=(name,), priorities=())


def _quality(one: Section, ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    trust = one.first("qos", "trust")
    untrusted = one.first("no", "qos", "trust")
    mode = trust.last if trust else "none"
    if trust or untrusted or one.starts("qos", "profile"):
        mode = "pcp" if mode == "cos" else mode
        yield fact(facts.Trust, trust or untrusted or one, ports=ports, mode=mode)
    on = any(
        part.words[1:] in {("on",), ("mode", "on")}
        for part in one.find("priority-flow-control")
    )
    found = one.find("priority-flow-control", "priority")
    rows = [part for part in found if part.last == "no-drop"]
    priorities = sorted({n for row in rows for n in numbers(row.word(2))}) if on else ()
    shown = next(iter(rows), one.first("priority-flow-control") or one)
    yield fact(facts.Pause, shown, ports=ports, priorities=tuple(priorities))
    dogs = list(one.find("priority-flow-control", "pause", "watchdog"))
    off = one.first("no", "priority-flow-control", "pause", "watchdog")
    if dogs or off:
        yield _watchdog(dogs or [off] if off else dogs, ports, on=off is None)
    for queue in [*one.find("tx-queue"), *one.find("uc-tx-queue")]:
        yield from _queue(queue, ports)


def _watchdog(
    rows: list[Section], ports: tuple[str, ...], *, on: bool = True
) -> facts.Watchdog:
    def ms(word: str) -> float | None:
        found = [row.after(word) for row in rows if row.after(word)]
        try:
            return float(found[-1]) * _MILLI
        except (IndexError, ValueError):
            return None

    actions = ["", *(row.after("action") for row in rows if row.after("action"))]
    times = {
        "detection_ms": ms("timeout"),
        "restoration_ms": ms("recovery-time"),
        "poll_ms": ms("polling-interval"),
    }
    return fact(facts.Watchdog, rows[0], ports=ports, on=on, action=actions[-1], **times)


def _queue(one: Section, ports: tuple[str, ...]) -> Iterator[facts.Fact]:
    queue = whole(one.word(1))
    if queue is not None:
        yield from queue_facts(one, queue, ports, one.find("random-detect", "ecn"), _chance)


def _chance(row: Section) -> int | None:
    chance = whole(row.after("max-mark-probability"))
    return chance if chance is not None else 100


def _map(one: Section) -> Iterator[facts.Fact]:
    if "to" not in one.words or len(one.words) < _ROUTED:
        return
    split = one.words.index("to")
    kind, target = _MAPS.get(one.word(2)), whole(one.last)
    if kind is None or target is None or one.words[split + 1] == "cos":
        return
    for word in one.words[3:split]:
        for source in numbers(word):
            yield facts.Mapped(at=one.at, kind=kind, source=source, target=target)


def _bgp(one: Section, *, forwards: bool) -> Iterator[facts.Fact]:
    asn = as_number(one.last)
    if asn is None:
        return
    family = one.first("address-family", "ipv4")
    inside = [*one.parts, *(family.parts if family else [])]
    yield speaker(one, inside, one.first("router-id"), asn=asn, paths=1)
    implicit = not one.has("no", "bgp", "default", "ipv4-unicast")
    for part in one.find("neighbor"):
        for session in _neighbor(part, one, inside, implicit=implicit):
            lame = session.unnumbered and not forwards
            yield replace(session, extended_nexthop=False) if lame else session


def _neighbor(
    part: Section, bgp: Section, inside: list[Section], *, implicit: bool
) -> Iterator[facts.Neighbor]:
    if part.word(1) == "interface":
        peer, group = part.word(2), part.after("peer-group")
        own = [row.words for row in inside if row.words[:2] in _both(peer, group)]
        yield fact(
            facts.Neighbor, part, peer=peer, unnumbered=True,
            remote=part.after("remote-as") or bgp.first("neighbor", group, "remote-as"),
            extended_nexthop=any("originate" in words for words in own),
            active=any(words[2:] == ("activate",) for words in own) or implicit,
        )  # fmt: skip
    elif part.words[2:3] == ("remote-as",) and part.word(1)[:1].isdigit():
        yield facts.Neighbor(at=part.at, peer=part.word(1), remote=part.last)


def _both(peer: str, group: str) -> set[tuple[str, ...]]:
    """Return how the lines of a session begin, and those of its group."""
    return {("neighbor", peer), ("neighbor", group)}


eos = Reader(title="Arista EOS", read=lambda file: by_hostname(file, _read))

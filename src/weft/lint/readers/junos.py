"""Juniper Junos: a configuration in braces."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.part import fact
from weft.lint.quality import CLASSES
from weft.lint.reader import File, Reader, of_device
from weft.lint.sections import Section, sections, speed_gbit

_CLOSERS: Final = "{};"
_DEFAULT_PATHS: Final = 16
_BITS: Final = 2
"""Code points are written in binary."""


def _read(file: File) -> Iterator[facts.Fact]:
    top = Section(file.text, 1, 1, ("top",), list(_bare(sections(file, comment="/#}"))))
    name = _at(top, "system", "host-name")
    return of_device(name.last if name else file.text.folder, _facts(top))


def _bare(parts: list[Section]) -> Iterator[Section]:
    """Yield lines without the marks of their blocks."""
    for part in parts:
        words = tuple(word for raw in part.words if (word := raw.strip(_CLOSERS)))
        if words:
            yield replace(part, words=words, parts=list(_bare(part.parts)))


def _at(one: Section, *path: str) -> Section | None:
    """Return what stands under a path of first words."""
    found: Section | None = one
    for word in path:
        found = found.first(word) if found else None
    return found


def _below(one: Section, *path: str) -> list[Section]:
    found = _at(one, *path)
    return found.parts if found else []


def _facts(top: Section) -> Iterator[facts.Fact]:
    yield from _ports(top)
    yield from _bgp(top)
    yield from _quality(top)


def _ports(top: Section) -> Iterator[facts.Fact]:
    rows = {section.words[0]: section for section in _below(top, "interfaces")}
    for name, section in rows.items():
        cage = rows.get(name.partition(":")[0], section)
        speed, mtu = section.first("speed") or cage.first("speed"), section.first("mtu")
        peer = tuple(
            word.strip('"') for word in (section.first("description") or section).words[1:]
        )
        named = dict(zip(("peer", "peer_port"), peer, strict=False)) if len(peer) > 1 else {}
        if mtu or peer:
            gbit = speed_gbit(speed.last) if speed else None
            up, link_local = not section.has("disable"), _speaks_ipv6(section)
            yield fact(
                facts.Port, mtu or section, name=name, mtu_bytes=mtu, speed_gbit=gbit, up=up,
                link_local=link_local, **named,
            )  # fmt: skip
        for family in _below(section, "unit"):
            if family.starts("family", "inet"):
                for row in family.find("address"):
                    yield facts.Address(at=row.at, port=name, address=row.last)


def _speaks_ipv6(port: Section) -> bool:
    return _at(port, "unit", "family", "inet6") is not None or any(
        part.starts("family", "inet6") for part in _below(port, "unit")
    )


def _bgp(top: Section) -> Iterator[facts.Fact]:
    asn = _at(top, "routing-options", "autonomous-system")
    if asn is None or asn.number() is None:
        return
    groups = [section for section in _below(top, "protocols", "bgp") if section.starts("group")]
    yield fact(
        facts.Speaker, asn, asn=asn, router_id=_at(top, "routing-options", "router-id"),
        paths=_at(top, "chassis", "maximum-ecmp") or _DEFAULT_PATHS,
        relaxed=all(_at(group, "multipath", "multiple-as") is not None for group in groups),
        announces=any(group.has("export") for group in groups),
    )  # fmt: skip
    policies = {
        section.last for section in _below(top, "policy-options") if len(section.words) > 1
    }
    for group in groups:
        for row in (*group.find("import"), *group.find("export")):
            if row.last not in policies:
                yield facts.Wanted(at=row.at, what="policy-statement", name=row.last)
        remote = (group.first("type") or group).last
        active = any(part.starts("family", "inet") for part in group.parts)
        for row in group.find("neighbor"):
            own = row.first("peer-as") or group.first("peer-as")
            yield fact(facts.Neighbor, row, peer=row, remote=own or remote, active=True)
        for peers in group.find("dynamic-neighbor"):
            for row in _below(peers, "peer-auto-discovery"):
                if row.starts("interface"):
                    given = {"unnumbered": True, "remote": remote, "active": active}
                    yield fact(facts.Neighbor, row, peer=row.last.removesuffix(".0"), **given)
    for row in _below(top, "routing-options", "aggregate"):
        yield facts.Aggregate(at=row.at, prefix=row.last)


def _quality(top: Section) -> Iterator[facts.Fact]:
    service = _at(top, "class-of-service")
    if service is None:
        return
    classes = {section.word(1): section for section in _below(service, "forwarding-classes")}
    lossless = {
        name: number
        for name, section in classes.items()
        if (number := whole(section.after("pfc-priority"))) is not None
    }
    queues = {name: whole(section.after("queue-num")) for name, section in classes.items()}
    yield from _queues(classes, lossless, queues)
    codes = dict(_codes(service))
    for code, (row, name) in codes.items():
        given = lossless.get(name, 0 if name not in classes else code // CLASSES)
        yield facts.Mapped(at=row.at, kind=facts.Map.DSCP_TO_CLASS, source=code, target=given)
    yield from _use(service, codes, lossless)
    yield from _turns(service, queues)


def _queues(
    classes: dict[str, Section], lossless: dict[str, int], queues: dict[str, int | None]
) -> Iterator[facts.Fact]:
    """Yield the queue of each class; a lossless one is known by its priority."""
    taken = {lossless[name]: (queues[name] or 0, classes[name]) for name in lossless}
    for priority in range(CLASSES) if taken else ():
        queue, row = taken.get(priority, (0, next(iter(classes.values()))))
        kind = facts.Map.CLASS_TO_QUEUE
        yield fact(facts.Mapped, row, kind=kind, source=priority, target=queue)


def _codes(service: Section) -> Iterator[tuple[int, tuple[Section, str]]]:
    """Yield the code points of DSCP with the line and class of each."""
    for classifier in _below(service, "classifiers"):
        for group in classifier.parts if classifier.starts("dscp") else ():
            for row in group.parts:
                for word in row.words:
                    code = _binary(word.strip("[]"))
                    if code is not None:
                        yield code, (row, group.last)


def _binary(word: str) -> int | None:
    """Return a code point written in bits; None for a name, as ``ef``."""
    return int(word, 2) if len(word) > _BITS and not word.strip("01") else None


def _use(
    service: Section, codes: dict[int, tuple[Section, str]], lossless: dict[str, int]
) -> Iterator[facts.Fact]:
    profiles: dict[str, tuple[int, ...]] = {}
    for section in _below(service, "congestion-notification-profile"):
        given = [_binary(row.last) for row in _below(section, "input", "dscp")]
        names = [codes[code][1] for code in given if code in codes]
        profiles[section.last] = tuple(sorted({lossless[n] for n in names if n in lossless}))
        yield from _stops(section)
    for port in _below(service, "interfaces"):
        use = port.first("congestion-notification-profile")
        paused = profiles.get(use.last, ()) if use else ()
        name = port.words[0]
        yield facts.Pause(at=(use or port).at, ports=(name,), priorities=paused)
        trusted = any(part.has("classifiers") for part in port.find("unit"))
        yield facts.Trust(at=port.at, ports=(name,), mode="dscp" if trusted else "none")


def _stops(profile: Section) -> Iterator[facts.Fact]:
    for row in _below(profile, "output", "ieee-802.1"):
        queue, priority = row.first("flow-control-queue"), _binary(row.last)
        if queue and queue.number() is not None and priority is not None:
            kind = facts.Map.PAUSE_TO_QUEUE
            yield fact(facts.Mapped, row, kind=kind, source=priority, target=queue)
    dog = profile.first("pfc-watchdog")
    if dog:
        poll, count = (
            line.number() or 0 if (line := dog.first(name)) else 0
            for name in ("poll-interval", "detection")
        )
        yield fact(
            facts.Watchdog, dog, action=dog.first("watchdog-action"),
            poll_ms=dog.first("poll-interval"), detection_ms=poll * count or None,
            restoration_ms=dog.first("recovery"),
        )  # fmt: skip


def _turns(service: Section, queues: dict[str, int | None]) -> Iterator[facts.Fact]:
    schedulers = {section.last: section for section in _below(service, "schedulers")}
    for table in _below(service, "scheduler-maps"):
        for use in table.find("forwarding-class"):
            queue, turn = queues.get(use.word(1), 0), schedulers.get(use.last)
            if turn is None or queue is None:
                continue
            rate, mark = turn.first("transmit-rate"), turn.first("drop-profile-map")
            strict = (turn.first("priority") or turn).last.startswith("strict")
            yield facts.QueueUse(at=use.at, queue=queue)
            if use.word(1) in queues:
                yield fact(facts.Scheduler, turn, queue=queue, strict=strict, weight=rate)
            if mark:
                ecn = turn.has("explicit-congestion-notification")
                yield facts.Marking(at=mark.at, ecn=ecn, queues=(queue,))


junos = Reader(title="Juniper Junos", read=_read)

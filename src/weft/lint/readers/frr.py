"""FRR: an integrated ``frr.conf``."""

from collections.abc import Iterator

from weft.lint.document import whole
from weft.lint.facts import Address, Fact, Neighbor, Port, Wanted
from weft.lint.filters import filter_facts
from weft.lint.reader import Reader
from weft.lint.sections import Section, by_hostname
from weft.lint.switch_lines import peer_of, speaker


def _read(top: list[Section]) -> Iterator[Fact]:
    maps = {section.word(1) for section in top if section.starts("route-map")}
    yield from filter_facts(top)
    for section in top:
        if section.starts("interface") and len(section.words) > 1:
            yield from _interface(section)
        elif section.starts("router", "bgp") and "vrf" not in section.words:
            yield from _bgp(section, maps)


def _interface(one: Section) -> Iterator[Fact]:
    name = one.word(1)
    if "." in name:
        return  # a sub-interface of a tenant: its port says what holds of both
    peer, peer_port = peer_of(one)
    if peer:
        up = not one.has("shutdown")
        yield Port(at=one.at, name=name, up=up, peer=peer, peer_port=peer_port)
    for row in one.find("ip", "address"):
        yield Address(at=row.at, port=name, address=row.word(2))


def _bgp(one: Section, maps: set[str]) -> Iterator[Fact]:
    asn = whole(one.word(2)) if len(one.words) > 2 else None  # noqa: PLR2004 - router bgp ASN
    if asn is None:
        return
    family = one.first("address-family", "ipv4", "unicast")
    parts = family.parts if family else []
    relaxed = one.has("bgp", "bestpath", "as-path", "multipath-relax")
    router_id = one.first("bgp", "router-id")
    yield speaker(one, parts, router_id, asn=asn, paths=None, relaxed=relaxed)
    for row in [*one.parts, *parts]:
        name = row.after("route-map")
        if name and name not in maps:
            yield Wanted(at=row.at, what="route-map", name=name)
    yield from _neighbors(one, parts)


def _neighbors(one: Section, parts: list[Section]) -> Iterator[Fact]:
    rows: dict[str, list[Section]] = {}
    for row in one.find("neighbor"):
        rows.setdefault(row.word(1), []).append(row)
    activated = {
        row.word(1)
        for row in parts
        if row.starts("neighbor") and row.words[2:] == ("activate",)
    }
    off = one.has("no", "bgp", "default", "ipv4-unicast")
    for peer, own in rows.items():
        group = next((row.after("peer-group") for row in own if row.after("peer-group")), "")
        if any(row.last == "peer-group" for row in own):
            continue
        both = [*own, *rows.get(group, [])]
        remote = next((r.after("remote-as") for r in both if r.after("remote-as")), "")
        unnumbered = any("interface" in row.words for row in own)
        # FRR asks for the capability by itself on a session over an interface.
        hop = not any(row.starts("no") for row in both) if unnumbered else None
        yield Neighbor(
            at=own[0].at, peer=peer, unnumbered=unnumbered, remote=remote,
            extended_nexthop=hop, active=not off or bool({peer, group} & activated),
        )  # fmt: skip


frr = Reader(title="FRR", read=lambda file: by_hostname(file, _read))

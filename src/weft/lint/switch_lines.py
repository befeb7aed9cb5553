"""What command lines of switches have in common: ports, addresses, queues, BGP."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Address, Fact, Marking, Port, QueueUse, Scheduler, Speaker
from weft.lint.part import fact
from weft.lint.quantity import switch_bytes
from weft.lint.sections import Section, speed_gbit, vrf_of

_PEER_WORDS: Final = 2
_HALF: Final = 1 << 16
_DEFAULT_MTU: Final = 1500
"""Of a routed port that sets none."""


def port(one: Section, name: str, fec: Section | None, **given: bool | str | None) -> Port:
    """Return a port with its MTU, speed and FEC, and the peer that its description names."""
    mtu, speed = one.first("mtu"), one.first("speed")
    mode = fec.last if fec else ""
    given["fec"] = "rs" if mode == "reed-solomon" or mode.startswith("rs") else mode
    given["peer"], given["peer_port"] = peer_of(one)
    mtu_bytes = mtu or (_DEFAULT_MTU if one.has("no", "switchport") else None)
    gbit = speed_gbit(speed.last) if speed else None
    return fact(Port, mtu or one, name=name, mtu_bytes=mtu_bytes, speed_gbit=gbit, **given)


def peer_of(one: Section) -> tuple[str, str]:
    """Return the peer of a port and the peer's port: a description of these two words."""
    row = one.first("description")
    if row is None or len(row.words) != _PEER_WORDS + 1:
        return "", ""
    return row.words[1], row.words[2]


def addresses(one: Section, name: str) -> Iterator[Address]:
    """Yield the addresses of an interface; others are virtual, or from DHCP."""
    for row in one.find("ip", "address"):
        if row.word(2)[:1].isdigit():
            yield Address(at=row.at, port=name, address=row.word(2), vrf=vrf_of(one))


def size_after(row: Section, name: str) -> int | None:
    """Return the size that follows a word, with its unit where one stands there."""
    value = row.after(name)
    place = row.words.index(name) + 2 if value else 0
    found = switch_bytes(f"{value} {row.word(place)}")
    return found if found is not None else switch_bytes(value)


def queue_facts(
    part: Section,
    queue: int,
    ports: tuple[str, ...],
    marks: Iterable[Section],
    chance: Callable[[Section], int | None],
) -> Iterator[Fact]:
    """Yield how a queue marks and gets its turn; ``chance`` reads the most that it marks."""
    for row in marks:
        low, high = (_threshold(row, f"{end}-threshold") for end in ("minimum", "maximum"))
        yield Marking(
            at=row.at, ecn="ecn" in row.words, ports=ports, queues=(queue,), kmin_bytes=low,
            kmax_bytes=high, pmax_percent=chance(row),
            averaging_exponent=whole(row.after("weight")),
        )  # fmt: skip
    strict = part.first("priority", "strict") or part.first("priority")
    weight = part.first("bandwidth")
    if strict or weight:
        at, first = strict or weight or part, strict is not None
        yield fact(Scheduler, at, queue=queue, ports=ports, strict=first, weight=weight)
    yield QueueUse(at=part.at, ports=ports, queue=queue)


def _threshold(row: Section, name: str) -> int | None:
    """Return a threshold; segments have the size that the chip gives them."""
    value = row.after(name)
    counted = value and row.word(row.words.index(name) + 2) == "segments"
    return None if counted else size_after(row, name)


def speaker(
    one: Section,
    parts: Iterable[Section],
    router_id: Section | None,
    *,
    asn: int,
    paths: int | None,
    relaxed: bool | None = None,
) -> Speaker:
    """Return BGP of a switch; ``paths`` are those without ``maximum-paths``."""
    rows = tuple(parts)
    most = next((row for row in rows if row.starts("maximum-paths")), None)
    if most:
        paths = next((whole(word) for word in most.words if whole(word) is not None), None)
    announces = any(row.words[0] in {"redistribute", "network"} for row in rows)
    return fact(
        Speaker, one, asn=asn, router_id=router_id, paths=paths, relaxed=relaxed,
        announces=announces,
    )  # fmt: skip


def as_number(text: str) -> int | None:
    """Read an AS number: plain, or in two parts with a dot.

    >>> as_number("65000"), as_number("1.10")
    (65000, 65546)
    """
    high, _, low = text.partition(".")
    return int(high) * _HALF + int(low) if high.isdecimal() and low.isdecimal() else whole(text)

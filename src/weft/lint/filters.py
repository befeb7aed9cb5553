"""What BGP announces and through which filters, in the words that EOS, NX-OS and FRR share."""

from collections.abc import Iterable, Iterator

from weft.lint.document import whole
from weft.lint.facts import Aggregate, Announced, Fact, MapRow, PrefixRow, Timers
from weft.lint.sections import Section

_VERDICTS = frozenset({"permit", "deny"})


def filter_facts(top: Iterable[Section]) -> Iterator[Fact]:
    """Yield lists of prefixes, route maps, and what BGP announces."""
    for section in top:
        if section.starts("ip", "prefix-list"):
            for row in [section, *section.parts]:
                yield from _prefix(row, section.word(2))
        elif section.starts("route-map"):
            yield _map(section)
        elif section.starts("router", "bgp"):
            yield from _bgp(section)


def _prefix(row: Section, name: str) -> Iterator[PrefixRow]:
    verdict = next((word for word in row.words if word in _VERDICTS), "")
    prefix = row.after(verdict) if verdict else ""
    if prefix:
        yield PrefixRow(
            at=row.at,
            name=name,
            permit=verdict == "permit",
            prefix="0.0.0.0/0" if prefix == "any" else prefix,
            least=whole(row.after("ge") or row.after("eq")) or (0 if prefix == "any" else None),
            most=whole(row.after("le") or row.after("eq")) or (32 if prefix == "any" else None),
        )


def _map(one: Section) -> MapRow:
    matches = list(one.find("match"))
    lists = [row.last for row in matches if row.starts("match", "ip", "address", "prefix-list")]
    known = lists[0] if len(matches) == 1 and lists else "" if not matches else None
    return MapRow(at=one.at, name=one.word(1), permit=one.word(2) != "deny", prefixes=known)


def _bgp(one: Section) -> Iterator[Fact]:
    rows = [*one.parts, *(row for part in one.parts for row in part.parts)]
    for row in rows:
        if row.starts("redistribute", "connected") or row.starts("redistribute", "direct"):
            yield Announced(at=row.at, route_map=row.after("route-map"))
        elif row.starts("aggregate-address") and len(row.words) > 1:
            yield Aggregate(at=row.at, prefix=row.word(1))
        elif "timers" in row.words[:3]:
            numbers = [whole(word) for word in row.words[-2:]]
            if len(numbers) == len(row.words[-2:]) and None not in numbers:
                keepalive, hold = numbers
                assert keepalive is not None
                assert hold is not None
                yield Timers(at=row.at, keepalive_s=keepalive, hold_s=hold)

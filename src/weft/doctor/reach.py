"""Who reaches whom: pings and transfers between many pairs, and whether they cross rails."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weft.doctor import links
from weft.doctor.rule import Facts
from weft.observe.facts.adapters import Gid
from weft.observe.facts.interfaces import HostReached, Interface, Route

_FEWEST_ASKED = 2
"""One that reaches none of so many, which others reach, is cut off itself."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Pairs that were tried, sorted by what they show.

    ``across`` lie on two rails of one host, ``within`` on one; ``alone`` are lost pairs of an
    end that reaches nobody, or that nobody reaches, where the others reach one another.
    """

    lost_across: list[HostReached] = field(default_factory=list)
    lost_within: list[HostReached] = field(default_factory=list)
    met_across: list[HostReached] = field(default_factory=list)
    met_within: list[HostReached] = field(default_factory=list)
    lost_alone: list[HostReached] = field(default_factory=list)
    lost: list[HostReached] = field(default_factory=list)

    @property
    def rails_apart(self) -> bool:
        """Return whether all that is lost crosses rails, and nothing that crosses is met."""
        within = self.lost_within or self.lost_alone
        return bool(self.lost_across and self.met_within and not self.met_across) and not within


def reach(facts: Facts) -> Reach:
    """Return what the pairs that were tried show."""
    last: dict[tuple[str, str, str, str], HostReached] = {}
    for one in facts.of(HostReached):
        if one.sent and not one.whole:  # who answers at last was not cut off
            last[one.evidence.file, one.host, one.source, _target(one)] = one
    owned, found = _owned(facts), Reach()
    networks = _networks(facts)
    apart: list[HostReached] = []
    for one in last.values():
        lost = not one.received
        if lost:
            found.lost.append(one)
        here, there = _origin(one, networks), links.subnet(_target(one))
        if here is None or there is None:
            apart.append(one)
        elif here == there:
            (found.lost_within if lost else found.met_within).append(one)
        elif any({here, there} <= nets for nets in owned.values()):
            (found.lost_across if lost else found.met_across).append(one)
    _without_addresses([one for one in apart if one.source], found)
    return found


def are_rails(facts: Facts, pairs: Iterable[tuple[int, int]]) -> bool:
    """Return whether a host has addresses in both networks of one of the pairs."""
    owned = _owned(facts).values()
    return any({here, there} <= nets for here, there in pairs for nets in owned)


def _without_addresses(tried: list[HostReached], found: Reach) -> None:
    """Sort pairs whose origin is an adapter: it is cut off, or each reaches its own alone."""
    sources, targets = {one.source for one in tried}, {_target(one) for one in tried}
    met = [one for one in tried if one.received]
    deaf, unmet = sources - {one.source for one in met}, targets - {_target(one) for one in met}
    if not met or len(sources) < _FEWEST_ASKED or len(targets) < _FEWEST_ASKED:
        return
    lost = [one for one in tried if not one.received]
    if deaf or unmet:
        found.lost_alone.extend(
            one for one in lost if one.source in deaf or _target(one) in unmet
        )
        return
    found.lost_across.extend(lost)
    found.met_within.extend(met)


def _target(one: HostReached) -> str:
    return one.address or one.target


def _origin(one: HostReached, networks: Mapping[str, set[int]]) -> int | None:
    """Return the network that was asked from, by its address or its interface's."""
    direct = links.subnet(one.source) if one.source else None
    if direct is not None or not one.source:
        return direct
    own = networks.get(one.source, set())
    return next(iter(own)) if len(own) == 1 else None


def _networks(facts: Facts) -> dict[str, set[int]]:
    """Return the networks in which interfaces of a name have addresses, on whichever host."""
    found: dict[str, set[int]] = {}
    for name, net, _ in _addresses(facts):
        found.setdefault(name, set()).add(net)
    return found


def _addresses(facts: Facts) -> list[tuple[str, int, str]]:
    """Return interfaces with the networks of their addresses and whose they are."""
    found: list[tuple[str, str, str]] = []
    for one in facts.of(Interface):
        place = one.host or one.evidence.file
        found += [(one.interface, text.partition("/")[0], place) for text in one.addresses]
    found += [
        (one.interface, one.source, one.host or one.evidence.file)
        for one in facts.of(Route)
        if one.source and not one.via
    ]
    found += [
        (one.interface or one.adapter, one.ipv4 or one.gid, one.host or one.evidence.file)
        for one in facts.of(Gid)
    ]
    nets = [(name, links.subnet(address), place) for name, address, place in found]
    return [(name, net, place) for name, net, place in nets if net is not None]


def _owned(facts: Facts) -> dict[str, set[int]]:
    """Return the networks in which a host has addresses, by host or by file."""
    owned: dict[str, set[int]] = {}
    for _, net, place in _addresses(facts):
        owned.setdefault(place, set()).add(net)
    for asked in facts.of(HostReached):
        origin = links.subnet(asked.source) if asked.source and asked.host else None
        if origin is not None:
            owned.setdefault(asked.host, set()).add(origin)
    return owned

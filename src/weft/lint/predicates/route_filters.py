"""Predicates on what BGP announces."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from weft.lint import facts
from weft.lint.addresses import Subnet, covers, network_of
from weft.lint.rule import Case, Device, Found, problem

_Links = dict[str, list[tuple[facts.Address, Subnet]]]


def bgp_filter(case: Case) -> Found:
    rails = (facts.Side.HOST, facts.Side.KUBERNETES)
    gateways = {
        address.gateway for address in case.of(facts.Address) if address.side in rails
    } - {""}
    for fleet in case.fleets():
        of = {
            switch.name: sorted(_links(switch, gateways), key=lambda link: _span(link[1]))
            for switch in fleet
        }
        for switch in fleet:
            links = of[switch.name]
            for row in switch.of(facts.PrefixRow):
                yield from _lengths(row)
            for announced in switch.of(facts.Announced):
                yield from _filtered(switch, announced, links)
            for aggregate in switch.of(facts.Aggregate):
                yield from _aggregated(switch, aggregate, of)


def _lengths(row: facts.PrefixRow) -> Found:
    """Yield a row whose lengths no prefix can have: the line is refused, the list shorter."""
    network = network_of(row.prefix)
    if network is None:
        yield problem("prefix", row)
        return
    least = network.prefixlen if row.least is None else row.least
    most = network.max_prefixlen if row.most is None else row.most
    if not network.prefixlen <= least <= most <= network.max_prefixlen:
        yield problem("lengths", row, least=least, most=most, network=network)


def _links(switch: Device, gateways: set[str]) -> Iterator[tuple[facts.Address, Subnet]]:
    """Yield the links to hosts; those between switches need not be announced."""
    for address in switch.of(facts.Address):
        network = network_of(address.address)
        if isinstance(network, IPv4Network) and address.address.partition("/")[0] in gateways:
            yield address, network


def _filtered(
    switch: Device, one: facts.Announced, links: list[tuple[facts.Address, Subnet]]
) -> Found:
    rows = [row for row in switch.of(facts.MapRow) if row.name == one.route_map]
    lists = {row.name for row in switch.of(facts.PrefixRow)}
    for row in rows:
        if row.prefixes and row.prefixes not in lists:
            yield problem("list_absent", row)
            return
    said = any(wanted.name == one.route_map for wanted in switch.of(facts.Wanted))
    if one.route_map and not rows and not said:
        yield problem("map_absent", one)
    if not rows or not links or any(row.prefixes is None for row in rows):
        return
    prefixes = switch.of(facts.PrefixRow)
    if not any(_let_out(network, rows, prefixes) for _, network in links):
        address, network = links[0]
        listed = [row for row in prefixes if row.name == rows[0].prefixes]
        seen = [*rows[:1], *listed, one, address]
        yield problem("none_out", *seen, one=one, links=links, network=network)


def _let_out(
    network: Subnet, rows: list[facts.MapRow], prefixes: list[facts.PrefixRow]
) -> bool:
    for row in rows:
        if not row.prefixes or _listed(network, row.prefixes, prefixes):
            return row.permit
    return False


def _listed(network: Subnet, name: str, prefixes: list[facts.PrefixRow]) -> bool:
    for prefix in prefixes:
        outer = network_of(prefix.prefix)
        if prefix.name != name or outer is None or not covers(outer, network):
            continue
        least = outer.prefixlen if prefix.least is None else prefix.least
        longest = (
            least if prefix.least is None else outer.max_prefixlen
        )  # neither: exactly that
        most = longest if prefix.most is None else prefix.most
        if least <= network.prefixlen <= most:
            return prefix.permit
    return False


def _span(network: Subnet) -> tuple[int, int]:
    return int(network.network_address), int(network.broadcast_address)


def _apart(outer: Subnet, links: list[tuple[facts.Address, Subnet]]) -> bool:
    """Return whether a network ends before sorted links begin, or begins after them."""
    first, last = _span(outer)
    return last < _span(links[0][1])[0] or first > _span(links[-1][1])[1]


def _aggregated(switch: Device, one: facts.Aggregate, of: _Links) -> Found:
    links = of[switch.name]
    outer = network_of(one.prefix)
    if outer is None:
        yield problem("network", one)
        return
    if links and not any(covers(outer, network) for _, network in links):
        yield problem("aggregate_outside", one, links[0][0])
        return
    near = {port.peer for port in switch.of(facts.Port)} | {"", switch.name}
    sessions = {session.peer for session in switch.of(facts.Neighbor)}
    if not links or not near - {"", switch.name}:
        return
    for name, others in of.items():
        if name in near or name in sessions or not others or _apart(outer, others):
            continue
        theirs = next((address for address, network in others if covers(outer, network)), None)
        if theirs is not None:
            yield problem("aggregate_other", one, theirs, name=name)
            return

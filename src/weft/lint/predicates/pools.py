"""Predicates on pools of addresses."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, pairwise
from operator import itemgetter
from typing import Final

from weft.lint.addresses import Subnet, address_of, covers, network_of
from weft.lint.facts import Address, AddressPool, Network, Side
from weft.lint.rule import Case, Found, problem

_SOME: Final = 2


def pool_addresses(case: Case) -> Found:
    yield from _fixed(case)
    yield from _taken(case)
    found = []
    for pool in case.of(AddressPool):
        network = network_of(pool.subnet)
        if network is None:
            yield problem("subnet", pool)
            continue
        if str(network) != pool.subnet and "/" in pool.subnet:
            yield problem("bits", pool, network=network)
        if pool.node_prefix is not None:
            yield from _lengths(pool)
        found.append((pool, network))
        yield from _inside(pool, network.num_addresses, network.max_prefixlen)
        gateway = address_of(pool.gateway)
        if gateway is not None and gateway not in network:
            yield problem("gateway", pool)
        elif pool.gateway and gateway is None:
            yield problem("address", pool)
    for (pool, mine), (other, theirs) in combinations(found, 2):
        shared = mine.version == theirs.version and _meet(mine, theirs)
        # A file of l8k says again what the pools of the cluster are.
        again = (pool.kind == "l8k") != (other.kind == "l8k")
        if shared and not again and not (pool.fixed and other.fixed):
            yield problem("shared", other, pool)


def _fixed(case: Case) -> Found:
    pools = {pool.name: pool for pool in case.of(AddressPool)}
    given: list[tuple[Subnet, Address]] = []
    for address in case.of(Address):
        if address.side is not Side.KUBERNETES:
            continue
        network, gateway = network_of(address.address), address_of(address.gateway)
        if network is None or (address.gateway and gateway is None):
            yield problem("no_address", address)
            continue
        given.append((network, address))
        if gateway is not None and gateway not in network:
            yield problem("link_gateway", address)
        pool = pools.get(address.port)
        outer = network_of(pool.subnet) if pool else None
        if pool and outer and not covers(outer, network):
            yield problem("outside", address, pool)
    yield from _twice(given)
    yield from _nodes(address for _, address in given)


def _twice(given: list[tuple[Subnet, Address]]) -> Found:
    """Compare each prefix with the one before it: of those that meet, some are neighbours."""
    ordered = sorted(
        ((net.version, int(net.network_address), net, address) for net, address in given),
        key=itemgetter(0, 1),
    )
    for (_, _, mine, address), (_, _, theirs, other) in pairwise(ordered):
        if mine.version == theirs.version and _meet(mine, theirs):
            yield problem("same_prefix", other, address)


def _nodes(given: Iterable[Address]) -> Found:
    """Look for nodes that a pool names twice, and for those that only some pools name."""
    by_pool: dict[str, dict[str, Address]] = {}
    for address in given:
        first = by_pool.setdefault(address.port, {}).setdefault(address.device, address)
        if first is not address:
            yield problem("twice", address, first)
    held = Counter(node for nodes in by_pool.values() for node in nodes)
    for pool, nodes in by_pool.items():
        for node, count in held.items():
            if node not in nodes and count == len(by_pool) - 1 and count > 1:
                first = next(iter(nodes.values()))
                yield problem("lacks", first, pool=pool, node=node, count=count)
            elif node in nodes and count == 1 and len(by_pool) > _SOME:
                yield problem("alone", nodes[node], pool=pool, node=node)


def _taken(case: Case) -> Found:
    """Look at what networks take from pools."""
    pools = {pool.name: pool for pool in case.of(AddressPool)}
    first: dict[str, Network] = {}
    for network in case.of(Network):
        pool = pools.get(network.pool)
        if pool is None:
            continue
        if network.pool_kind and pool.kind and network.pool_kind.lower() != pool.kind.lower():
            yield problem("kind", network, pool, value=pool.kind.lower())
        other = first.setdefault(pool.name, network)
        if pool.fixed and other.name != network.name and other.resource != network.resource:
            yield problem("rails", network, other, pool=pool)


def _meet(mine: Subnet, theirs: Subnet) -> bool:
    first, second = sorted((mine, theirs), key=lambda item: int(item.network_address))
    return int(second.network_address) <= int(first.broadcast_address)


def _lengths(pool: AddressPool) -> Found:
    for prefix in pool.fixed:
        length = prefix.partition("/")[2]
        if length.isdecimal() and int(length) != pool.node_prefix:
            yield problem("length", pool, prefix=prefix)
            return


def _inside(one: AddressPool, size: int, bits: int) -> Found:
    length, index = one.node_prefix, one.gateway_index
    if one.block is not None and one.block < 1:
        yield problem("blocks", one)
    elif length is not None and not bits - size.bit_length() < length <= bits:
        yield problem("node_prefix", one, bits=bits)
    elif length is not None and index is not None and index >= 2 ** (bits - length):
        yield problem("index", one, value=2 ** (bits - length))
    elif one.block is not None and one.block > size:
        yield problem("block", one, size=size)

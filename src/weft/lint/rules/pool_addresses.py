"""A pool of addresses cannot serve its pods.

What it checks: the subnet, the gateway inside it, blocks of nodes that fit, and pools that
overlap.
Why it matters: no schema looks into them: pods stay without addresses once the pool is empty,
or two rails share addresses and answer for each other.
What to do: one subnet a rail, blocks as large as the pods of a node.
References: NVIDIA IPAM plug-in, IPPool and CIDRPool.
"""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import combinations

from weft.lint.facts import Address, AddressPool, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    yield from _fixed(case)
    found = []
    for one in case.of(AddressPool):
        try:
            network = ip_network(one.subnet, strict=False)
        except ValueError:
            yield problem(
                one, f"pool {one.name}: {one.subnet!r} is no subnet", "write 10.0.0.0/16"
            )
            continue
        found.append((one, network))
        yield from _inside(one, network.num_addresses)
        try:
            if one.gateway and ip_address(one.gateway) not in network:
                yield problem(
                    one,
                    f"pool {one.name}: the gateway {one.gateway} is not in {one.subnet}",
                    "use an address of the subnet",
                )
        except ValueError:
            yield problem(one, f"pool {one.name}: {one.gateway!r} is no address", "correct it")
    for (one, mine), (other, theirs) in combinations(found, 2):
        if one.fixed and other.fixed:
            shared = set(one.fixed) & set(other.fixed)
        else:
            shared = (
                {"subnets"} if mine.version == theirs.version and _meet(mine, theirs) else set()
            )
        if shared:
            yield problem(
                [other, one],
                f"pools {one.name} and {other.name} share {min(shared)}",
                "give each rail its own addresses",
            )


def _fixed(case: Case) -> Found:
    for one in case.of(Address):
        if one.side is not Side.KUBERNETES:
            continue
        try:
            inside = ip_address(one.gateway) in ip_network(one.address, strict=False)
        except ValueError:
            yield problem(one, f"{one.address} or {one.gateway} is no address", "correct it")
            continue
        if not inside:
            yield problem(
                one,
                f"pool {one.port}: the gateway {one.gateway} of {one.device} is not in "
                f"{one.address}",
                "use the other address of the link",
            )


def _meet(mine: IPv4Network | IPv6Network, theirs: IPv4Network | IPv6Network) -> bool:
    first, second = sorted((mine, theirs), key=lambda one: int(one.network_address))
    return int(second.network_address) <= int(first.broadcast_address)


def _inside(one: AddressPool, size: int) -> Found:
    if one.block is not None and one.block < 1:
        yield problem(one, f"pool {one.name}: blocks of {one.block} addresses", "use 8 or more")
    elif one.block is not None and one.block > size:
        yield problem(
            one,
            f"pool {one.name}: a block of {one.block} is more than the {size} "
            "addresses of its subnet",
            "use a larger subnet",
        )


pool_addresses = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://github.com/Mellanox/nvidia-k8s-ipam",
    check=_check,
)

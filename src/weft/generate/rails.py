"""The links of hosts to their leaves: which NIC has which address and which gateway."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses, summarize_address_range
from typing import TYPE_CHECKING, Final

from weft.generate.wiring import wired

if TYPE_CHECKING:
    from weft.generate.plan import Plan


RAILS_HEAD: Final = "#host\tdevice\taddress\tgateway\ttable"
"""First line of the table that the unit of a host reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RailLink:
    """One NIC of one host on its leaf."""

    host: int
    name: str
    """Of the host."""
    rail: int
    gateway: str
    address: str
    """Of the NIC; the two make a /31."""
    leaf: int


def rail_links(plan: "Plan") -> Iterator[RailLink]:
    """Yield the link of every NIC, host by host and rail by rail."""
    assert plan.underlay is not None, "an Ethernet plan has an underlay"
    found = []
    for switch in wired(plan.cluster):
        if switch.tier > 0:
            break
        for port in switch.ports:
            if port.host is not None:
                gateway, own = plan.underlay.link(switch.number, port.number)
                found.append(
                    RailLink(
                        host=port.host, name=port.peer, rail=port.peer_port,
                        gateway=str(gateway), address=str(own), leaf=switch.number,
                    )
                )  # fmt: skip
    yield from sorted(found, key=lambda link: (link.host, link.rail))


def rail_prefixes(plan: "Plan") -> list[tuple[int, tuple[IPv4Network, ...]]]:
    """Return the rail that leads to each part of the fabric's addresses.

    A part is the block of a leaf, which is larger than any link: it takes no link's own route.
    Where every rail has leaves of its own, the NIC of that rail leads to them; where NICs of
    several rails hang on one leaf, the first NIC leads to all.
    """
    assert plan.underlay is not None, "an Ethernet plan has an underlay"
    leaves: dict[int, set[int]] = {}
    for link in rail_links(plan):
        leaves.setdefault(link.rail, set()).add(link.leaf)
    owned = sum(map(len, leaves.values()))
    if owned > len(set().union(*leaves.values())):
        leaves = {min(leaves): set().union(*leaves.values())}
    return [
        (rail, tuple(collapse_addresses(plan.underlay.leaf_block(leaf) for leaf in own)))
        for rail, own in sorted(leaves.items())
    ]


def spanned(links: Sequence[RailLink]) -> IPv4Network:
    """Return the smallest prefix that holds both ends of some links."""
    first = min(int(IPv4Address(link.gateway)) for link in links)
    last = max(int(IPv4Address(link.address)) for link in links)
    bits = (first ^ last).bit_length()
    return IPv4Network((first >> bits << bits, 32 - bits))


def used_addresses(plan: "Plan") -> Iterator[IPv4Network]:
    """Yield the range of all addresses between hosts and leaves, as prefixes."""
    addresses = [IPv4Address(link.address) for link in rail_links(plan)]
    yield from summarize_address_range(min(addresses) - 1, max(addresses))

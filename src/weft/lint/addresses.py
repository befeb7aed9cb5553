"""Addresses and prefixes as files write them, each read once."""

from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import Final

Subnet = IPv4Network | IPv6Network
_KEPT: Final = 1 << 18


@lru_cache(_KEPT)
def interface_of(text: str) -> IPv4Interface | IPv6Interface | None:
    """Return an address with its length; None where the text is none."""
    try:
        return ip_interface(text)
    except ValueError:
        return None


@lru_cache(_KEPT)
def network_of(text: str) -> Subnet | None:
    """Return the network of an address or prefix; None where the text is none."""
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


@lru_cache(_KEPT)
def address_of(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address; None where the text is none."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def covers(outer: Subnet, inner: Subnet) -> bool:
    """Return whether a prefix holds the whole of another."""
    first, last = int(outer.network_address), int(outer.broadcast_address)
    return (
        outer.version == inner.version
        and first <= int(inner.network_address) <= int(inner.broadcast_address) <= last
    )

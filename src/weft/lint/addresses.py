"""Addresses and prefixes as files write them, each read once."""

from collections.abc import Callable
from functools import lru_cache, partial
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from typing import Final, TypeVar

Subnet = IPv4Network | IPv6Network
T = TypeVar("T")
_KEPT: Final = 1 << 18


def _cached(read: Callable[[str], T]) -> Callable[[str], T | None]:
    @lru_cache(_KEPT)
    def read_once(text: str) -> T | None:
        try:
            return read(text)
        except ValueError:
            return None

    return read_once


interface_of = _cached(ip_interface)
"""Return an address with its length; None where the text is none."""
network_of = _cached(partial(ip_network, strict=False))
"""Return the network of an address or prefix; None where the text is none."""
address_of = _cached(ip_address)
"""Return an address; None where the text is none."""


def covers(outer: Subnet, inner: Subnet) -> bool:
    """Return whether a prefix holds the whole of another."""
    first, last = int(outer.network_address), int(outer.broadcast_address)
    return (
        outer.version == inner.version
        and first <= int(inner.network_address) <= int(inner.broadcast_address) <= last
    )

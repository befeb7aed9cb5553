"""Questions about ports and addresses that many rules ask."""

import re
from ipaddress import IPv6Address, ip_address

from weft import units
from weft.doctor import job
from weft.doctor.rule import Facts
from weft.observe.facts.adapters import AdapterPort, Gid
from weft.observe.facts.base import LinkLayer, PhysicalState, PortState
from weft.observe.facts.verbs import CallFailed, CompletionError

_LINK_LOCAL_PREFIX = 0xFE80
_PREFIX_BITS = 112
_OWN_PREFIX_BITS = 16
"""Addresses that hosts give themselves, 169.254/16, are of one network [RFC 3927]."""
# rdma-core names adapters by what runs on them and where they sit: rocep65s0f0, ibp12s0.
_NAMED_BY_LAYER = re.compile(r"(?:roce|ib)(?:P\d+)?[ps]?\d|(?:roce|ib)[opx]")


ASKED_RATE = re.compile(
    r"No IB port (?P<adapter>[\w-]+)(?::\d+)? is ACTIVE \(LinkUp (?P<rate>\d+) Gb/sec"
)
"""What a health check says that found no port in the state and at the rate it asks for."""


def below_asked(facts: Facts, asked: re.Match[str]) -> list[AdapterPort]:
    """Return the port a health check asks about, where it is up and slower than asked."""
    ports = [one for one in facts.of(AdapterPort) if one.adapter in {"", asked["adapter"]}]
    up = any(
        one.state is PortState.ACTIVE or one.physical_state is PhysicalState.LINK_UP
        for one in ports
    )
    rate = units.rate_from_gbit(float(asked["rate"]))
    return [one for one in ports if up and 0 < (one.rate_bytes_per_s or 0.0) < rate]


def layer(facts: Facts, adapter: str = "") -> LinkLayer:
    """Return what runs on an adapter, or on all of them where it is not named or not known."""
    stated = {one.adapter: one.link_layer for one in facts.of(AdapterPort)}
    stated |= {one.adapter: one.link_layer for one in job.verbs_adapters(facts)}
    known = {one for one in stated.values() if one is not LinkLayer.UNKNOWN}
    named = stated.get(adapter, LinkLayer.UNKNOWN)
    if named is not LinkLayer.UNKNOWN:
        return named
    if _NAMED_BY_LAYER.match(adapter):
        return LinkLayer.ETHERNET if adapter.startswith("roce") else LinkLayer.INFINIBAND
    if len(known) == 1:
        return known.pop()
    return LinkLayer.ETHERNET if facts.of(Gid) and not known and _roce(facts) else named


def _roce(facts: Facts) -> bool:
    return any(gid.version is not None for gid in facts.of(Gid))


def address(gid: str) -> IPv6Address | None:
    """Return a GID as an address, or None when it is none.

    >>> address("::ffff:10.0.0.1").ipv4_mapped
    IPv4Address('10.0.0.1')
    """
    try:
        found = ip_address(gid)
    except ValueError:
        return None
    return found if isinstance(found, IPv6Address) else IPv6Address(f"::ffff:{found}")


def is_link_local(gid: str) -> bool:
    """Return whether a GID reaches its own link only: of no use on a routed RoCE network.

    >>> is_link_local("fe80::1"), is_link_local("::ffff:10.0.0.1")
    (True, False)
    """
    found = address(gid)
    return found is not None and int(found) >> _PREFIX_BITS == _LINK_LOCAL_PREFIX


def is_empty(gid: str) -> bool:
    """Return whether a GID names nobody.

    >>> is_empty("::"), is_empty("")
    (True, False)
    """
    found = address(gid)
    return found is not None and int(found) == 0


def is_ipv4(gid: str) -> bool:
    """Return whether a GID holds an IPv4 address."""
    found = address(gid)
    return found is not None and found.ipv4_mapped is not None


def plain(gid: str) -> str:
    """Return the IPv4 address that a GID holds, or nothing.

    >>> plain("::ffff:10.0.0.1"), plain("fe80::1")
    ('10.0.0.1', '')
    """
    found = address(gid)
    return str(found.ipv4_mapped) if found and found.ipv4_mapped else ""


def is_self_assigned(gid: str) -> bool:
    """Return whether a GID holds an IPv4 address that a host gave itself: nobody configured it.

    >>> is_self_assigned("::ffff:169.254.3.1"), is_self_assigned("::ffff:10.0.0.1")
    (True, False)
    """
    found = address(gid)
    mapped = found.ipv4_mapped if found else None
    return mapped is not None and mapped.is_link_local


def subnet(gid: str, prefix_bits: int = 24) -> int | None:
    """Return the network of the IPv4 address in a GID, or None when it holds none.

    >>> subnet("::ffff:10.0.1.7") == subnet("::ffff:10.0.1.9")
    True
    """
    found = address(gid)
    if found is None or found.ipv4_mapped is None:
        return None
    bits = _OWN_PREFIX_BITS if found.ipv4_mapped.is_link_local else prefix_bits
    return int(found.ipv4_mapped) >> (32 - bits)


def pairs(facts: Facts) -> list[CompletionError | CallFailed]:
    """Return the failures that name the GIDs of both ends."""
    both: list[CompletionError | CallFailed] = [
        *facts.of(CompletionError),
        *facts.of(CallFailed),
    ]
    return [one for one in both if one.local_gid and one.remote_gid]

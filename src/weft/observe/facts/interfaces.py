"""Network interfaces of hosts and switches: state, counters, routes and neighbours."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A network interface with what is known of it.

    ``possible_bytes_per_s`` is the highest rate its adapter supports. ``enabled`` is whether
    it may be up, as configured; ``reason`` why it is down all the same, in the words of the
    switch or host.
    """

    interface: str
    up: bool | None = None
    carrier: bool | None = None
    mtu_bytes: int | None = None
    rate_bytes_per_s: float | None = None
    possible_bytes_per_s: float | None = None
    addresses: tuple[str, ...] = ()
    kind: str = ""
    mac: str = ""
    fec: str = ""
    driver: str = ""
    enabled: bool | None = None
    reason: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEvent:
    """A link of an interface or port went up or down."""

    interface: str
    up: bool
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A counter of a port, device or queue.

    ``where`` is the device, interface or node; ``name`` is the kernel's spelling of the counter
    (``symbol_error``, ``out_of_sequence``, ``rx_prio3_pause``) where there is one.
    ``saturated`` when the counter stands at the end of its range. ``sample`` and ``sampled_s``
    (seconds since 1970) tell readings of one counter apart, where a bundle holds several.
    """

    where: str
    name: str
    value: int
    port: int | None = None
    on_switch: bool = False
    saturated: bool = False
    sample: int | None = None
    sampled_s: float | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One entry of a routing table."""

    destination: str
    interface: str
    via: str = ""
    metric: int | None = None
    source: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourAddress:
    """Which hardware address answered for an address on an interface's link, if one did."""

    address: str
    interface: str
    mac: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReached:
    """Whether another host answers to an echo request (``ping``).

    ``whole`` when the request may not be taken apart on the way; ``mtu_bytes`` is what a hop,
    or the host itself, said that it can pass on. ``source`` is the address, interface or
    adapter that it was asked from, where that is said.
    """

    target: str
    source: str = ""
    address: str = ""
    sent: int
    received: int
    size_bytes: int | None = None
    whole: bool = False
    mtu_bytes: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingSession:
    """How a session of BGP with a neighbour stands; ``stopped`` where somebody meant it to."""

    neighbour: str
    state: str
    established: bool
    stopped: bool = False
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressAnswered:
    """A hardware address that answered when a host asked who has an address."""

    address: str
    hardware_address: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketFilter:
    """What a host's packet filter does with packets that come in: ACCEPT, DROP, REJECT."""

    chain: str
    policy: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Who is at the other end of an interface's cable."""

    interface: str
    system: str
    port: str = ""
    host: str = ""
    evidence: Evidence

"""RDMA adapters: their ports, GIDs, keys, cables and modules."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, LinkLayer, Moment, PhysicalState, PortState


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSeen:
    """An RDMA adapter of a host."""

    adapter: str
    kind: str = ""
    firmware: str = ""
    guid: str = ""
    bus_id: str = ""
    numa: int | None = None
    ports: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterPort:
    """The state of one port of an RDMA adapter."""

    adapter: str
    port: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    rate_bytes_per_s: float | None = None
    rate_text: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    guid: str = ""
    gid: str = ""
    active_mtu_bytes: int | None = None
    max_mtu_bytes: int | None = None
    interface: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterInterface:
    """The network interface that belongs to an adapter's port."""

    adapter: str
    port: int
    interface: str
    up: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Gid:
    """One entry of a port's GID table; ``version`` is 1 or 2 on RoCE, None on InfiniBand.

    ``sample`` is the number of the reading, where a text holds several of one host.
    """

    adapter: str
    port: int
    index: int
    gid: str
    version: int | None = None
    ipv4: str = ""
    interface: str = ""
    host: str = ""
    sample: int = 0
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GidKind:
    """Of which version of RoCE an entry of a port's GID table is, where only that is told."""

    adapter: str
    port: int
    index: int
    version: int
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GidCount:
    """How many entries a host's GID tables have, as a tool counted them."""

    entries: int
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionKey:
    """One entry of a port's table of partition keys; bit 15 is full membership."""

    index: int
    key: int
    full: bool
    adapter: str = ""
    port: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraining:
    """What a port supports, is allowed and trained to; widths in lanes, speeds in a lane."""

    where: str
    port: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    width_supported: int | None = None
    width_enabled: int | None = None
    width_active: int | None = None
    lane_bytes_per_s_supported: float | None = None
    lane_bytes_per_s_enabled: float | None = None
    lane_bytes_per_s_active: float | None = None
    fec: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleReading:
    """What the optical module or cable of a port reports of itself.

    ``name`` is ``temperature`` (°C), ``voltage`` (V), ``bias`` (A), ``tx_power`` or
    ``rx_power`` (W); ``lane`` counts from 1. ``alarm`` is the module's own judgement: high,
    low or none.
    """

    interface: str
    name: str
    value: float | None = None
    lane: int | None = None
    alarm: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterFault:
    """The kernel's complaint about an adapter.

    ``kind`` is health, command, reset, power, temperature, keys (memory keys used up), timeout.
    """

    kind: str
    device: str = ""
    text: str = ""
    command: str = ""
    status: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CableEvent:
    """A cable or transceiver was plugged, unplugged or refused."""

    device: str
    module: int | None
    event: str
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence

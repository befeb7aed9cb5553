"""The InfiniBand fabric as a whole: its nodes, links, managers and checks."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, PhysicalState, PortState


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLink:
    """A cable of the fabric, from one end; the other is ``""`` when nothing answers there."""

    guid: str
    name: str
    port: int
    lid: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    lanes: int | None = None
    lane_bytes_per_s: float | None = None
    peer_guid: str = ""
    peer_name: str = ""
    peer_port: int | None = None
    peer_lid: int | None = None
    could_be_lanes: int | None = None
    could_be_lane_bytes_per_s: float | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricNode:
    """A switch, adapter or router of the fabric."""

    kind: str
    guid: str
    name: str
    ports: int | None = None
    lid: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetManager:
    """A subnet manager and its state (``master``, ``standby``, ``none``)."""

    state: str
    lid: int | None = None
    guid: str = ""
    priority: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricCheck:
    """A stage of a check of the whole fabric, with its warnings and errors."""

    stage: str
    warnings: int | None = None
    errors: int | None = None
    text: str = ""
    evidence: Evidence

"""How ports and switches sort, pause, mark and buffer packets."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustState:
    """Whether a port sorts packets by DSCP or by 802.1p (``pcp``)."""

    interface: str
    trust: str
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSetting:
    """The priorities with PFC on a port, and whether plain (global) pause is on."""

    interface: str
    priorities: tuple[int, ...] = ()
    global_receive: bool | None = None
    global_send: bool | None = None
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DscpPriority:
    """The priority or traffic class that packets of some DSCP values get."""

    interface: str
    priority: int
    dscp: tuple[int, ...]
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMatch:
    """The DSCP values that a class of a switch takes; whither it goes, a policy says."""

    name: str
    dscp: tuple[int, ...]
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClass:
    """A traffic class: its priorities and how it is served."""

    interface: str
    traffic_class: int
    priorities: tuple[int, ...] = ()
    scheduler: str = ""
    share_ratio: float | None = None
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnSetting:
    """Where a queue starts marking packets and where it marks all."""

    name: str
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    pmax_ratio: float | None = None
    enabled: bool | None = None
    host: str = ""
    on_switch: bool = True
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSetting:
    """A buffer profile or pool of a switch, or a receive buffer of an adapter."""

    name: str
    size_bytes: int | None = None
    xoff_bytes: int | None = None
    xon_bytes: int | None = None
    alpha_ratio: float | None = None
    lossless: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseWatchdog:
    """What the PFC watchdog saw on a queue; storms are counted."""

    port: str
    queue: int | None
    status: str = ""
    storms_detected: int | None = None
    storms_restored: int | None = None
    dropped_packets: int | None = None
    host: str = ""
    evidence: Evidence

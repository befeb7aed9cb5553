"""The PCI bus of a host: its devices, links and errors, and how near they are."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A device on the PCI bus; ``gone`` when it answers with all ones."""

    bus_id: str
    kind: str = ""
    name: str = ""
    revision: str = ""
    driver: str = ""
    gone: bool = False
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PciAddress:
    """The PCI address and NUMA domain of an adapter or interface."""

    device: str
    bus_id: str
    numa: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieLink:
    """The trained and the possible width and speed of a PCI Express link."""

    device: str
    name: str = ""
    lanes: int | None = None
    max_lanes: int | None = None
    transfers_per_s: float | None = None
    max_transfers_per_s: float | None = None
    downgraded: bool = False
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PciBridge:
    """A bridge, and the bus directly below it."""

    bus_id: str
    below: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieAccessControl:
    """The access control of a PCI bridge; redirection sends peer traffic up to the root."""

    device: str
    name: str = ""
    source_validation: bool | None = None
    request_redirect: bool | None = None
    completion_redirect: bool | None = None
    upstream_forwarding: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieError:
    """The kernel reported an error of a PCI Express link or an I/O memory fault."""

    device: str
    severity: str = ""
    kind: str = ""
    text: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class IommuState:
    """Whether the I/O memory unit translates (``on``), passes through or is off."""

    state: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How two devices of a host are joined: NV4, PIX, PXB, PHB, NODE, SYS.

    ``source`` and ``target`` are ``GPU0`` and adapter names when the legend gives them.
    """

    source: str
    target: str
    connection: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NumaAffinity:
    """The processors and NUMA domain of a device."""

    device: str
    cpus: str = ""
    numa: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PciBus:
    """A PCI bus that the kernel's files show, where all of them were listed."""

    bus: str
    host: str = ""
    evidence: Evidence

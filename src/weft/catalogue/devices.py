"""What a device of the catalogue is: one frozen dataclass a kind, every number sourced."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from weft.errors import SpecError
from weft.sources import Source, Sourced

SAME_UNITS = {"mxfp8": "fp8", "nvfp4": "fp4", "mxfp4": "fp4"}
"""Number formats that run on the tensor units of another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What all devices have: a slug (the file's name), a title and their sources."""

    name: str
    title: str
    vendor: str = ""
    note: str = ""
    facts: tuple[str, ...] = ()
    """Keys of the sources of counts and names, which carry none of their own."""
    sources: Mapping[str, Source] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu(Device):
    """One accelerator: peak rates are dense, scale-up rates are one way."""

    generation: str
    """Class of NCCL's tuning tables: volta, ampere, hopper, blackwell, or cdna3, cdna4."""
    memory_bytes: Sourced
    memory_bytes_per_s: Sourced
    flop_per_s: Mapping[str, Sourced]
    """Peak by precision: fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8 (only those it has)."""
    measured_flop_per_s: Mapping[str, Sourced] = field(default_factory=dict)
    """Best matrix product measured by precision (the field's MAMF)."""
    power_w: Sourced
    scale_up_bytes_per_s: Sourced | None = None
    scale_up_links: int = 0
    scale_up_kind: str = "pcie"
    """nvlink, xgmi or pcie."""
    pcie_gen: int = 0
    price_usd: Sourced | None = None
    rental_usd_per_h: Sourced | None = None

    def peak_flop_per_s(self, precision: str) -> float:
        """Return the dense peak of a precision; SpecError where the GPU does not have it."""
        key = SAME_UNITS.get(precision, precision)
        if key not in self.flop_per_s:
            known = ", ".join(sorted(self.flop_per_s))
            raise SpecError(f"{self.title} has no {precision}; it computes in {known}")
        return self.flop_per_s[key].value


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricFacts(Device):
    """One way to join hosts: what its specification and measurements say of it.

    Shares (``load_balancing``, ``tuning``) are of the payload rate.
    """

    rdma: bool
    """The NIC moves the payload; without, the kernel copies it."""
    gpudirect: bool
    """GPU memory can be reached without a copy in host memory."""
    lossless: str
    """What keeps packets from being dropped: credits, PFC, scheduling, nothing ..."""
    congestion_control: tuple[str, ...]
    """Names, the usual one first."""
    carrier: str = ""
    """Fabric that switches and media must speak to carry this one; empty: this one."""
    usual_switches: Mapping[float, str]
    """Link rate in bytes/s, ascending, to the switch that is usual up to it."""
    switch_balancing: tuple[str, ...] = ()
    """Load-balancing modes that need adaptive routing in the switch."""
    balancing_topologies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By load-balancing mode: the topologies that it needs; a mode not named: all."""
    topologies: tuple[str, ...] = ()
    """Topologies that it can have; empty: all."""
    default_mtu_bytes: int
    mtus_bytes: tuple[int, ...]
    any_mtu: bool = False
    """Any size between the smallest and the largest of ``mtus_bytes`` will do (IP)."""
    header_bytes: Sourced
    """On the wire beside each MTU of payload: headers, checksums, preamble, gap."""
    load_balancing: Mapping[str, Sourced | Literal["simulated"]]
    """Published share of bandwidth kept beyond the leaf, by mode; the first is the default.

    ``simulated`` where nothing is published: engines alone give it (``network/shares.py``).
    """
    tuning: Mapping[str, Sourced]
    """Published share of bandwidth kept when tuned, at default settings, misconfigured."""
    end_to_end_s: Sourced
    """Small message, one way, NIC to NIC, no switch in between."""
    switch_hop_s: Sourced
    step_overhead_s: Sourced
    """What a dependent network step costs beyond that of verbs (NCCL's plug-in)."""
    plugin_latency_s: float = 0.0
    """Latency that the network plug-in reports to NCCL's tuning model."""
    socket_bytes_per_s: Sourced | None = None
    """Kernel TCP only: one connection, one core copying."""
    host_socket_bytes_per_s: Sourced | None = None
    """Kernel TCP only: all connections of a host, before the copies saturate it."""
    burst_bytes: Sourced | None = None
    """Sent back to back at line rate before pacing waits; none: packet by packet."""
    packet_cost_bytes: Sourced | None = None
    """Kernel TCP only: what a packet costs a core, as bytes that it could have copied."""
    in_network_reduction: bool = False
    fail_over_s: Sourced | None = None
    """From the failure of a link between switches until packets take other links."""
    resend_s: Sourced | None = None
    """What a sender then waits for answers at most before it sends again; none: no more."""

    @property
    def carried_by(self) -> str:
        """The fabric that its switches and media speak."""
        return self.carrier or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic(Device):
    """One network adapter (or one DPU used as one)."""

    bytes_per_s: Sourced
    pcie_gen: int = 0
    pcie_lanes: int = 0
    fabrics: tuple[str, ...] = ()
    """Names of weft fabrics it can speak."""
    rdma_name: str = ""
    """How its driver names RDMA devices, before the number."""
    messages_per_s: Sourced | None = None
    """Messages that it can begin in a second, as the vendor states it."""
    power_w: Sourced | None = None
    price_usd: Sourced | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch(Device):
    """One switch; ``radix`` maps a port rate in bytes/s to how many ports there are at it."""

    fabrics: tuple[str, ...]
    radix: Mapping[float, int]
    latency_s: Sourced | None = None
    buffer_bytes: Sourced | None = None
    power_w: Sourced | None = None
    """Typical, without optics."""
    power_max_w: Sourced | None = None
    price_usd: Sourced | None = None
    rack_units: float = 0
    in_network_reduction: bool = False
    adaptive_routing: bool = False
    headroom_bytes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """PFC headroom by port rate and cable length, as published ("400Gb/s" -> "40m")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable(Device):
    """One media class: a cable, or a fibre with the transceivers at both ends."""

    bytes_per_s: Sourced
    reach_m: Sourced
    power_per_end_w: Sourced | None = None
    price_usd: Sourced | None = None
    """Of the cable, or of one transceiver where ``per_end`` is true."""
    per_end: bool = False
    optical: bool = False
    """Has transceivers, which fail and are replaced; copper is neither."""
    fabrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Device):
    """One host with its GPUs and NICs (an NVL72 rack is one server here)."""

    gpu: str
    gpus: int
    nic: str
    nics: int
    nic_bytes_per_s: Sourced
    scale_up_gpus: int
    """GPUs in one NVLink (or xGMI) domain; 1 where GPUs meet on PCIe only."""
    cpu: str = "intel"
    """intel, amd or arm: NCCL's tuning asks."""
    power_max_w: Sourced | None = None
    price_usd: Sourced | None = None
    """With its NICs."""
    rack_units: float = 0
    machines: int | None = None
    """Machines of a rack, each with a name and a system of its own; None where it is one."""
    cloud: bool = False
    """Rented by the hour, network included; it cannot be bought."""
    rdma_devices: tuple[str, ...] = ()
    """NICs of the compute network as Linux names them, in the order of the GPUs that they
    serve; empty where no list is published."""
    other_rdma_devices: tuple[str, ...] = ()
    """Those of storage and management: no gradient may run over them."""
    pci_addresses: tuple[str, ...] = ()
    """Of ``rdma_devices``, in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rented:
    """The network that a provider rents with one server; a tenant cannot choose another."""

    fabrics: tuple[str, ...]
    """The usual one first."""
    topologies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Device):
    """One cloud: what it rents, on which networks, and at which price."""

    servers: Mapping[str, Rented]
    """Server of the catalogue, and the network that is rented with it."""
    price_usd_per_h: Mapping[str, Sourced] = field(default_factory=dict)
    """Its own on-demand price of one GPU for one hour, by GPU of the catalogue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption(Device):
    """One number that is no device: electricity, PUE, staff, support, amortisation, rental."""

    value: Sourced
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RentalPoint:
    """One published price of one GPU for one hour."""

    date: str
    seller: str
    term: str
    low_usd: float
    high_usd: float
    url: str
    source: str
    confidence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rental(Device):
    """What one GPU costs by the hour: the price to use, and all prices seen."""

    price_usd_per_h: Sourced
    points: tuple[RentalPoint, ...] = ()

"""The cluster as it is asked about: hosts, fabric, topology, NCCL, prices.

Fields hold inside numbers (bytes, bytes/s, seconds, USD, watts); files hold text with units.
"""

import re
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from weft.spec.base import Keyed, Part
from weft.spec.constraints import Constraints
from weft.spec.kubernetes import Kubernetes
from weft.spec.overlay import Overlay
from weft.spec.quantities import Count, Money, Power, Rate, Ratio, Size, Time, Whole
from weft.spec.settings import Tuning
from weft.spec.site import Site


class ScaleUp(Part):
    """The network inside a scale-up domain: NVLink, xGMI or plain PCIe."""

    kind: Literal["nvlink", "xgmi", "pcie"] = "nvlink"
    """nvlink, xgmi, or pcie where GPUs have no links of their own."""
    gpus: Count = 8
    """GPUs in one domain: 8 in a DGX, 72 in an NVL72 rack, 1 where there is none."""
    bytes_per_s: Rate
    """Of one GPU, one way."""
    in_network_reduction: bool = True
    """NVLink SHARP (NVLS): switches that reduce, on Hopper and newer."""


class Host(Part):
    """One server. An NVL72 rack is one host of 72 GPUs here."""

    server: str = ""
    """Name in the catalogue, for price and power; empty when it is none of them."""
    gpu: str
    """Name in the catalogue (`weft catalog gpus` lists them)."""
    gpus: Count
    """GPUs of one host."""
    nic: str
    """Name in the catalogue (`weft catalog nics` lists them); empty: any, at the rate below."""
    nics: Whole
    """NICs for compute (those that NCCL uses)."""
    nic_bytes_per_s: Rate
    """Line rate of one NIC, one way, all its ports together."""
    pcie_bytes_per_s: Rate | None = None
    """Host link of one NIC after PCIe overhead; none: enough for the NIC."""
    cpu: Literal["intel", "amd", "arm"] = "intel"
    """intel, amd or arm: the tuning of NCCL asks."""
    gpudirect: bool = True
    """GPUDirect RDMA (or its like): the NIC reads GPU memory without a copy in host memory."""
    scale_up: ScaleUp
    """The network between GPUs of one domain (NVLink, xGMI or PCIe)."""


class FabricChoice(Part):
    """A fabric (a file of catalogue/fabrics) and how it is set up."""

    kind: str
    """infiniband, roce, ultra_ethernet, tcp, efa: a file of catalogue/fabrics."""
    load_balancing: str | None = None
    """A mode that the fabric knows (ecmp, adaptive, spray, ugal ...); none: its default."""
    tuning: Literal["tuned", "default", "misconfigured"] = "tuned"
    """tuned, default (as it comes out of the box) or misconfigured."""
    in_network_reduction: bool = False
    """SHARP in the switches, used by NCCL through CollNet."""
    mtu_bytes: Size | None = None
    """Largest packet; none: what is usual for the fabric."""
    sockets: Count | None = None
    """TCP connections of one pair (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD)."""
    socket_threads: Count | None = None
    """CPU threads that serve them (NCCL_SOCKET_NTHREADS)."""
    link_bytes_per_s: Rate | None = None
    """Rate of a link; none: the rate of the NIC."""
    load_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the links that other traffic takes; below 1."""
    settings: Tuning | None = None
    """Switch and NIC settings of a file, as `weft tune` writes it; none: those of tuning."""


class CableLengths(Part):
    """The longest cable of each kind of link; none: the longest that is given."""

    host: Annotated[float, Field(gt=0)] | None = None
    """Between a host and its leaf, in metres."""
    spine: Annotated[float, Field(gt=0)] | None = None
    """Between a leaf and a spine, in metres."""
    core: Annotated[float, Field(gt=0)] | None = None
    """Between spines, or a spine and a core, in metres."""


class TopologyChoice(Part):
    """How the switches are joined (a file of network/topologies)."""

    kind: str = "rail_optimized"
    """rail_optimized, fat_tree, leaf_spine, ...: a file of network/topologies."""
    switch: str | None = None
    """Name in the catalogue; none: the fabric's usual one at this rate."""
    switch_ports: Annotated[int, Field(ge=2)] | None = None
    """Ports of a switch that are used, at the rate of a link; none: all it has."""
    oversubscription: Annotated[float, Field(ge=1)] = 1.0
    """Down over up at the leaf; 1 is non-blocking."""
    pod_oversubscription: Annotated[float, Field(ge=1)] = 1.0
    """Down over up above the second tier (three-tier topologies)."""
    hosts_per_pod: Count | None = None
    """Hosts that reach one another without leaving a pod; none: as the radix gives."""
    planes: Count = 1
    """Parallel networks that the ports of each NIC are split over."""
    cable_m: Annotated[float, Field(gt=0)] = 30.0
    """Mean length of a cable, in metres."""
    longest_cable_m: CableLengths | None = None
    """From the cable list, for headroom by link; none: headroom follows cable_m."""


def _env_text(value: object) -> object:
    """Read 106 as "106": environment variables are written without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


EnvText = Annotated[str, BeforeValidator(_env_text)]


def _version_text(value: object) -> object:
    """Refuse what has no number to compare, and 2.10 that YAML has read as 2.1."""
    if isinstance(value, int | float):
        message = "is a number, and 2.10 is not 2.1; put it in quotes, as '2.27'"
        raise ValueError(message)  # noqa: TRY004 - pydantic turns it into a message
    if isinstance(value, str) and not re.match(r"\d+\.\d+", value):
        raise ValueError("is no version; write it as the library prints it, as 2.27.3")
    return value


VersionText = Annotated[str, BeforeValidator(_version_text)]


class Nccl(Keyed):
    """The collective library: version and the variables that change what it does."""

    version: VersionText = "2.27.3"
    """Version of NCCL (or RCCL), as it prints it."""
    env: dict[str, EnvText] = Field(default_factory=dict)
    """NCCL_* variables of the job, by name."""

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers: (2, 27, 3)."""
        match = re.match(r"\d+(?:\.\d+)*", self.version.strip())
        return tuple(int(part) for part in match[0].split(".")) if match else (0,)


class Prices(Part):
    """What the user pays, where it differs from the catalogue; none: the catalogue's."""

    server_usd: Money | None = None
    """One host with its GPUs and its NICs, as quoted."""
    switch_usd: Money | None = None
    """One switch, as quoted."""
    nic_usd: Money | None = None
    """One NIC, as quoted."""
    optic_usd: Money | None = None
    """Media of one link: a cable, or both transceivers and their fibre, as quoted."""
    electricity_usd_per_kwh: Annotated[float, Field(ge=0)] | None = None
    """Price of electricity, in USD per kWh."""
    pue: Annotated[float, Field(ge=1)] | None = None
    """Power of the site over power of its computers."""
    engineer_usd_per_year: Money | None = None
    """Cost of one engineer a year."""
    fabric_engineers: Annotated[float, Field(ge=0)] | None = None
    """Engineers that the fabric takes, in all."""
    support_ratio_per_year: Ratio | None = None
    """Support a year over purchase price."""
    gpu_rental_usd_per_h: Money | None = None
    """Rented cluster: this replaces servers, power and colocation in the total cost."""
    years: Annotated[float, Field(gt=0)] = 4.0
    """Years of use that the cost is spread over."""


class Reliability(Part):
    """How often the cluster stops, and what a stop costs; none: the sourced default."""

    stops_per_gpu_day: Annotated[float, Field(ge=0)] | None = None
    """Unplanned stops of the job, per GPU and day."""
    restart_s: Time | None = None
    """From a stop to training again."""
    checkpoint_interval_s: Time | None = None
    """Between two checkpoints."""
    checkpoint_write_s: Time | None = None
    """What one checkpoint holds the job up."""


class Tenant(Part):
    """Hosts that reach one another and no host of another tenant."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]
    """Small letters, digits and -: the name of its partition or VRF and of its namespace; on
    Ethernet at most 12."""
    hosts: Count
    """The first tenant has the first hosts of the cluster, each further one the next."""
    p_key: Annotated[int, Field(ge=1, le=0x7FFE)] | None = None
    """P_Key without its membership bit, as 0x10; none: the next one that is free."""


Tenants = Annotated[
    tuple[Tenant, ...],
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
]


class Cluster(Part):
    """All that weft needs to know of a cluster."""

    name: str = "cluster"
    hosts: Count
    """Servers of the cluster (racks, where a rack is one NVLink domain of 72)."""
    host: Host
    """One server; all are alike."""
    fabric: FabricChoice
    """The scale-out network that collectives use."""
    storage_fabric: FabricChoice | None = None
    """Storage and management on a fabric of their own (a hybrid); none: they share."""
    topology: TopologyChoice = TopologyChoice()
    """How the switches are joined."""
    nccl: Nccl = Nccl()
    """The collective library."""
    kubernetes: Kubernetes | None = None
    """How pods reach the network and what they run; none: as weft chooses."""
    prices: Prices = Prices()
    """What you pay, where it is not what the catalogue says."""
    constraints: Constraints = Constraints()
    """What you can spend, buy and operate; recommendations respect it."""
    reliability: Reliability = Reliability()
    """How often the cluster stops, and what a stop costs."""
    site_power_limit_w: Power | None = None
    """Power that the site can give; none: enough."""
    tenants: Tenants = ()
    """Who shares the cluster and must not reach one another: a partition each on InfiniBand,
    a VRF on Ethernet; none: one tenant."""
    site: Site | None = None
    """What switches need around the fabric; none: only the fabric is configured."""
    overlay: Overlay | None = None
    """Your own measurements, as `weft calibrate` wrote them."""

    def groups(self) -> tuple[tuple[str, range], ...]:
        """Return the tenants by name with the numbers of their hosts; all hosts without."""
        ends = accumulate(tenant.hosts for tenant in self.tenants)
        found = (
            (tenant.name, range(end - tenant.hosts, end))
            for tenant, end in zip(self.tenants, ends, strict=True)
        )
        return tuple(found) or (("", range(self.hosts)),)

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return self.hosts * self.host.gpus

    @property
    def gpus_per_domain(self) -> int:
        """GPUs of one scale-up domain (1 where GPUs share PCIe only counts as one host)."""
        return self.host.gpus

    @property
    def nic_bytes_per_s_per_gpu(self) -> float:
        """What one GPU has of the scale-out network, one way."""
        return self.host.nics * self.host.nic_bytes_per_s / self.host.gpus

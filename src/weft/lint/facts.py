"""What configurations set, in words that no vendor owns; each with its place in a file.

``device`` is the switch, the host or the workload that a fact is about; empty where a file does
not say. ``ports`` are the interfaces that share a setting; empty means all of the device.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, dataclass_transform

from weft.lint.text import Place

Ports = tuple[str, ...]


class Side(StrEnum):
    """Who sets it."""

    JOB = "the job (NCCL)"
    HOST = "the hosts"
    SWITCH = "the switches"
    SUBNET = "the subnet manager"
    KUBERNETES = "Kubernetes"
    SLURM = "Slurm"
    CLUSTER = "weft's cluster document"


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _Kind(type):
    """Makes every class of facts a frozen dataclass with slots and named fields."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        made: type = super().__new__(cls, name, bases, body)
        if "__slots__" in body:  # a dataclass with slots is made by making its class again
            return made
        return dataclass(frozen=True, slots=True, kw_only=True)(made)


class Fact(metaclass=_Kind):
    """Something that a configuration sets."""

    at: Place
    device: str = ""

    @property
    def file(self) -> str:
        """The name of the file that sets it."""
        return self.at.text.stem


class Flaw(Fact):
    """What a reader itself could not accept, by the rule that reports it."""

    rule: str
    message: str
    fix: str


class Variable(Fact):
    """An environment variable of a job."""

    name: str
    value: str
    everywhere: bool = False
    """Whether it is set for every job of the host, as by nccl.conf."""
    exported: bool | None = None
    """Whether a shell hands it on to what it starts; None where no shell sets it."""


class Meant(Fact):
    """A kind of fabric that a file says it was made for."""

    fabric: str


class Launch(Fact):
    """A command that starts the processes of a job."""

    tool: str
    words: tuple[str, ...]


class Map(StrEnum):
    """Which label leads to which."""

    DSCP_TO_CLASS = "DSCP to traffic class"
    CLASS_TO_QUEUE = "traffic class to queue"
    CLASS_TO_GROUP = "traffic class to priority group"
    PAUSE_TO_QUEUE = "PFC priority to queue"
    PAUSE_TO_GROUP = "PFC priority to priority group"


class Mapped(Fact):
    """One row of a map of labels."""

    side: Side = Side.SWITCH
    kind: Map
    table: str = ""
    source: int
    target: int
    ports: Ports = ()


class MapUse(Fact):
    """Which map some ports use."""

    kind: Map
    table: str
    ports: Ports


class Pause(Fact):
    """Priorities with PFC; none of them where it is off."""

    side: Side = Side.SWITCH
    ports: Ports = ()
    priorities: tuple[int, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """Return 0 or 1 for each of the eight priorities of IEEE 802.1Q."""
        return tuple("1" if number in self.priorities else "0" for number in range(8))

    @property
    def some(self) -> str:
        """Return on where any priority has PFC, else off."""
        return "on" if self.priorities else "off"


class LinkPause(Fact):
    """Pause of the whole link (802.3x)."""

    side: Side = Side.SWITCH
    ports: Ports = ()
    on: bool


class Watchdog(Fact):
    """The PFC watchdog; ``queues`` is None where it watches whatever has PFC."""

    ports: Ports = ()
    on: bool = True
    queues: tuple[int, ...] | None = None
    action: str = ""
    detection_ms: float | None = None
    restoration_ms: float | None = None
    poll_ms: float | None = None


class Marking(Fact):
    """ECN thresholds; used through its name, or given for queues of ports directly."""

    name: str = ""
    ecn: bool
    kmin_bytes: float | None = None
    kmax_bytes: float | None = None
    pmax_percent: float | None = None
    averaging_exponent: int | None = None
    """The length of the queue is averaged over 2 to this power packets; 0: as it is."""
    ports: Ports = ()
    queues: tuple[int, ...] = ()


class QueueUse(Fact):
    """What a queue of some ports uses: an ECN profile, a scheduler."""

    ports: Ports = ()
    queue: int
    marking: str = ""
    scheduler: str = ""


class Scheduler(Fact):
    """How a queue gets its turn."""

    side: Side = Side.SWITCH
    name: str = ""
    queue: int | None = None
    strict: bool
    weight: float | None = None
    ports: Ports = ()


class BufferPool(Fact):
    """Buffer that profiles share."""

    name: str
    direction: str = ""
    size_bytes: int | None = None
    headroom_bytes: int | None = None


class BufferProfile(Fact):
    """Buffer of a priority group or queue."""

    name: str
    pool: str = ""
    size_bytes: int | None = None
    xoff_bytes: int | None = None
    """Headroom: what may still arrive after the pause was sent."""
    xon_bytes: int | None = None
    alpha_exponent: float | None = None
    """The share of free buffer is 2 to this power."""
    static_bytes: int | None = None


class GroupUse(Fact):
    """Which buffer profile a priority group (ingress) or queue (egress) of ports uses."""

    ports: Ports
    group: int
    profile: str
    ingress: bool


class Port(Fact):
    """An interface and its link."""

    side: Side = Side.SWITCH
    name: str
    mtu_bytes: int | None = None
    speed_gbit: float | None = None
    fec: str = ""
    autoneg: str = ""
    up: bool | None = None
    lanes: tuple[int, ...] = ()
    alias: str = ""
    cage: int | None = None
    """The number of its cage, as the configuration says it."""
    peer: str = ""
    peer_port: str = ""
    link_local: bool | None = None
    """Whether sessions without addresses can use it; None where that is always so."""


class Interfaces(Fact):
    """All interfaces of a host, as the host lists them."""

    names: Ports


class Split(Fact):
    """Cages split into several ports each, by what the names of those ports begin with."""

    cages: Ports
    ways: int


class Hash(Fact):
    """What a switch spreads flows over equal paths by."""

    side: Side = Side.SWITCH
    layer_4: bool
    """Whether the ports of UDP and TCP count, which is all that flows of RoCE differ in."""


class HashSeed(Fact):
    """What a switch mixes into the hash of every flow; SONiC chooses it by the role."""

    seed: str


class Hardware(Fact):
    """Which machine a switch is, as its configuration says."""

    name: str
    platform: str = ""


class CableLength(Fact):
    """Length that headroom is meant for."""

    ports: Ports
    length_m: float


class Trust(Fact):
    """Which label of a packet a port believes: dscp, pcp or none."""

    side: Side = Side.SWITCH
    ports: Ports = ()
    mode: str


class Speaker(Fact):
    """BGP on one device."""

    asn: int
    router_id: str = ""
    paths: int | None = None
    relaxed: bool | None = None
    """Whether paths of equal length over different ASNs count as equal."""
    announces: bool | None = None
    """Whether any route is announced at all; None where the reader cannot tell."""


class Neighbor(Fact):
    """One BGP session."""

    peer: str
    unnumbered: bool = False
    remote: str = ""
    """An AS number, external or internal."""
    extended_nexthop: bool | None = None
    active: bool | None = None
    """Whether IPv4 routes are exchanged."""


class Timers(Fact):
    """How often BGP says that it lives, and how long it waits for that."""

    keepalive_s: int
    hold_s: int


class PrefixRow(Fact):
    """One row of a list of prefixes."""

    name: str
    permit: bool
    prefix: str
    least: int | None = None
    """Shortest length that the row means; None: that of the prefix alone."""
    most: int | None = None


class MapRow(Fact):
    """One row of a route map."""

    name: str
    permit: bool
    prefixes: str | None = ""
    """List of prefixes that it is about; empty: all routes; None: something else."""


class Announced(Fact):
    """Networks of own ports that BGP announces, through a route map where one is named."""

    route_map: str = ""


class Aggregate(Fact):
    """A network that BGP announces for the smaller ones in it."""

    prefix: str


class Address(Fact):
    """An address of an interface."""

    side: Side = Side.SWITCH
    port: str
    address: str
    gateway: str = ""
    vrf: str = ""
    """The table of routes that it is in; empty: the default one."""


class RailTable(Fact):
    """The routing table of one rail of a host."""

    port: str
    table: str


class Route(Fact):
    """A route that a host sets."""

    prefix: str
    gateway: str = ""
    port: str = ""
    table: str = ""


class RouteRule(Fact):
    """A rule by which a host chooses a table of routes."""

    table: str
    source: str = ""
    goal: str = ""


class Slots(Fact):
    """A host of MPI's list, and the ranks that it takes."""

    count: int


class Named(Fact):
    """A name that pods can be reached by: of a Service, a JobSet ..."""

    kind: str
    name: str


class Bond(Fact):
    """Ports bundled to one (LAG)."""

    side: Side = Side.SWITCH
    name: str
    members: Ports


class Mark(Fact):
    """The traffic class that a host writes into RDMA packets."""

    traffic_class: int
    tool: str


class Congestion(Fact):
    """A parameter of DCQCN on a NIC, or of its answers to marks (CNP)."""

    name: str
    value: int
    priority: int | None = None


class Option(Fact):
    """A setting of a program by its own name: opensm, sysctl, limits, slurm, systemd."""

    program: str
    name: str
    value: str


def option(at: Place, program: str, name: str, value: str, device: str = "") -> Option:
    """Return a setting of a program."""
    return Option(at=at, device=device, program=program, name=name, value=value)


class Wanted(Fact):
    """Something that is referred to and defined nowhere in its file."""

    what: str
    name: str


class Partition(Fact):
    """A partition of a subnet."""

    name: str
    key: int
    ipoib: bool = False
    mtu_code: int | None = None
    service_level: int | None = None
    members: tuple[tuple[str, bool | None], ...] = ()
    """Who, and whether full; None where the default of the partition decides."""
    full_by_default: bool = False
    at_index_0: bool = False
    """Its key is the first of each member's, which NCCL takes."""


class ServiceLevel(Fact):
    """A rule of a QoS policy that gives a service level."""

    level: int


class Guids(Fact):
    """A list of GUIDs, as of the roots of a tree."""

    values: tuple[str, ...]


class Workload(Fact):
    """A pod (or its template) with what its network needs."""

    kind: str
    role: str = ""
    replicas: int | None = None
    networks: tuple[str, ...] = ()
    host_network: bool = False
    host_ipc: bool = False
    dns_policy: str = ""
    shm_bytes: int | None = None
    """Memory volume on /dev/shm; None where there is none, 0 where it has no limit."""
    claims: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    """Of the object above: slotsPerWorker, nprocPerNode ..."""


class Container(Fact):
    """One container of a workload, of Kubernetes or of Docker."""

    name: str
    engine: str = "kubernetes"
    limits: tuple[tuple[str, str], ...] = ()
    requests: tuple[tuple[str, str], ...] = ()
    capabilities: tuple[str, ...] = ()
    privileged: bool = False
    words: tuple[str, ...] = ()
    shm_bytes: int | None = None
    memlock: str = ""
    devices: tuple[str, ...] = ()
    host_network: bool = False
    host_ipc: bool = False
    gpus: bool = False


class Offered(Fact):
    """A resource that a device plug-in offers."""

    resource: str
    by: str
    count: int | None = None
    rdma: bool | None = None
    mtu_bytes: int | None = None
    link_type: str = ""
    devices: tuple[str, ...] = ()
    selected: bool = True
    """Whether it says which devices or nodes it means."""
    vendor: str = ""
    driver: str = ""
    """What the functions are given to: netdevice, vfio-pci; empty where it does not say."""
    named: bool = True
    """Whether it names devices, and not their maker alone."""


class Network(Fact):
    """A network that pods can be attached to."""

    name: str
    namespace: str = ""
    kind: str
    resource: str = ""
    mtu_bytes: int | None = None
    pool: str = ""
    """Pool of addresses that it asks for."""
    pool_kind: str = ""
    master: str = ""
    """The interface of the host that it hangs on."""
    plugins: tuple[str, ...] = ()
    """What else is done in the pod: sbr, tuning."""
    settings: tuple[tuple[str, str], ...] = ()
    """What its plug-ins set in the pod: sysctl by name."""


class Installed(Fact):
    """A part that an operator installs."""

    part: str
    version: str = ""


class AddressPool(Fact):
    """A pool of addresses for pods."""

    name: str
    subnet: str
    gateway: str = ""
    block: int | None = None
    """Addresses of one node."""
    fixed: tuple[str, ...] = ()
    """Prefixes that nodes are given by name."""
    kind: str = ""
    namespace: str = ""
    node_prefix: int | None = None
    """Length of the prefix that each node is given."""
    gateway_index: int | None = None
    routes: tuple[str, ...] = ()
    """Where the addresses of the pool lead, beside their own subnet."""


class TreeSwitch(Fact):
    """A switch as Slurm knows it."""

    name: str
    nodes: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


class Nodes(Fact):
    """Hosts that Slurm knows."""

    names: tuple[str, ...]


class PciDevice(Fact):
    """A GPU or NIC of a topology file of NCCL."""

    kind: str
    name: str
    numa: str = ""
    switch: str = ""
    """The PCIe switch that it hangs on."""
    speed: str = ""
    width: int | None = None


class Described(Fact):
    """A cluster document of weft."""

    cluster: Any
    """``weft.spec.cluster.Cluster``."""

"""A scenario for the packet engine: a cluster, what is sent over it, and how it is set up.

Fields hold inside numbers (bytes, bytes/s, seconds); files hold text with units.
"""

from typing import Annotated, Literal

from pydantic import Field

from weft.spec.base import Part
from weft.spec.cluster import Cluster, Count, Ratio, Whole
from weft.spec.quantities import Rate, Size, Time

OperationName = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"
]


class Traffic(Part):
    """What all kinds of traffic share."""

    name: str = ""
    """What reports call it; empty: its kind."""
    begin_s: Time = 0.0
    """When it begins."""
    repeat: Count = 1
    """How many times it runs, one after the other."""
    gap_s: Time = 0.0
    """Between the end of one run and the begin of the next: computing."""


class CollectiveTraffic(Traffic):
    """One collective over GPUs in rank order."""

    operation: OperationName
    """all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce or sendrecv."""
    size_bytes: Size
    """As nccl-tests counts it: the whole buffer of a rank."""
    algorithm: str | None = None
    """A file of traffic/collectives; none: pairwise for alltoall, else ring."""
    ranks: Count | None = None
    """GPUs that take part; none: all of the hosts that are left after first_host."""
    ranks_per_host: Count | None = None
    """Of them, on one host; none: every GPU of a host."""
    first_host: Whole = 0
    """Where the ranks begin; several jobs sit side by side with it."""
    channels: Count | None = None
    """Equal parts, each on a NIC of its own; none: a part a NIC, one for alltoall."""
    concurrency: Count | None = None
    """Most sends of one rank under way at once (alltoall); none: all."""
    placement: Literal["in_order", "shuffled"] = "in_order"
    """Hosts in order of their number, or at random, as a busy scheduler places them."""


class IncastTraffic(Traffic):
    """Many GPUs of other hosts send to one at the same moment."""

    senders: Count
    """GPUs that send; each sits on another host than the receiver."""
    size_bytes: Size
    """What each of them sends."""
    receiver: Whole = 0
    """GPU that receives, by its number in the cluster."""
    jitter_s: Time = 0.0
    """Senders begin at random within this time."""


class PermutationTraffic(Traffic):
    """Every GPU sends to one other of the same rail, and receives from one other."""

    size_bytes: Size
    """What each of them sends."""
    hosts: Count | None = None
    """Hosts that take part; none: all."""
    gpus_per_host: Count | None = None
    """GPUs of each that take part; none: one a NIC."""
    pattern: Literal["random", "shift"] = "random"
    """A random other host (a derangement), or the host half the cluster away."""


class OneFlow(Part):
    """One transfer between two GPUs of different hosts."""

    source: Whole
    """GPU that sends, by its number in the cluster."""
    target: Whole
    """GPU that receives."""
    size_bytes: Size
    begin_s: Time = 0.0
    """After the begin of the traffic."""


class FlowsTraffic(Traffic):
    """Transfers written out one by one."""

    flows: Annotated[tuple[OneFlow, ...], Field(min_length=1, strict=False)]
    """The transfers."""


class BackgroundTraffic(Traffic):
    """Transfers at random times between random GPUs: storage, checkpoints, other tenants."""

    load_ratio: Ratio
    """Share of the line rate of every sending NIC that is taken on average."""
    size_bytes: Size
    """Of one transfer."""
    duration_s: Time
    """For so long new transfers begin."""
    storage_hosts: Whole = 0
    """The last so many hosts are storage: all else sends to them alone; 0: any to any."""


class TrafficItem(Part):
    """One entry of the list: exactly one kind of traffic, by its name."""

    collective: CollectiveTraffic | None = None
    """A collective operation with the dependencies of its algorithm."""
    incast: IncastTraffic | None = None
    """Many to one."""
    permutation: PermutationTraffic | None = None
    """Everyone to one other."""
    flows: FlowsTraffic | None = None
    """Transfers written out."""
    background: BackgroundTraffic | None = None
    """Random transfers, as of storage."""

    @property
    def kinds(self) -> list[str]:
        """The kinds that are written; a valid item has one."""
        return [kind for kind in type(self).model_fields if getattr(self, kind) is not None]

    @property
    def kind(self) -> str:
        """The kind that is written."""
        return self.kinds[0]

    @property
    def content(self) -> Traffic:
        """The traffic itself."""
        found = getattr(self, self.kind)
        assert isinstance(found, Traffic)
        return found


class Ecn(Part):
    """When switches mark packets, by the queue that a packet leaves behind."""

    kmin_bytes: Size | None = None
    """Below it no packet is marked."""
    kmax_bytes: Size | None = None
    """Above it every packet is marked."""
    pmax_ratio: Ratio | None = None
    """Share that is marked just below kmax."""


class Pfc(Part):
    """When a switch pauses a link, by what it holds of that link's data."""

    xoff_bytes: Size | None = None
    """Above it the link is paused."""
    xon_bytes: Size | None = None
    """At or below it the link goes on."""


class Buffer(Part):
    """The memory of a switch."""

    shared_bytes: Size | None = None
    """Buffer that all queues of a switch share; none: every queue has its own."""
    alpha_ratio: Annotated[float, Field(gt=0)] | None = None
    """Dynamic threshold: share of the free part of the buffer that one queue may take."""
    headroom_bytes: Size | None = None
    """What a link may still bring in above xoff; none: as much as it needs."""


class PauseWatchdog(Part):
    """What a switch does about a queue that has been paused for too long."""

    action: Literal["off", "drop", "forward"] = "off"
    """off, drop what waits, or forward as if there were no pause."""
    detection_s: Time | None = None
    """Paused for so long, it acts."""
    restoration_s: Time | None = None
    """After so long the queue gets another chance."""


class StuckReceiver(Part):
    """A NIC that takes nothing for a time and pauses its leaf: the seed of a pause storm."""

    gpu: Whole
    """GPU whose NIC it is, by its number in the cluster."""
    begin_s: Time = 0.0
    """When it stops."""
    end_s: Time
    """When it goes on."""


class NetworkSettings(Part):
    """Switches and NICs as they are configured; what is left out comes from the preset."""

    flow_control: Literal["none", "pfc", "credits"] | None = None
    """none (drops), pfc (pauses) or credits (InfiniBand)."""
    congestion: str | None = None
    """A file of engines/packet/congestion: dcqcn, swift, nscc, none ..."""
    knobs: dict[str, str | float | int] = Field(default_factory=dict)
    """Knobs of the congestion control by name; times and sizes as text with a unit."""
    balancing: str | None = None
    """A file of engines/packet/balancing: ecmp, adaptive, spray ..."""
    flowlet_gap_s: Time | None = None
    """Flowlets: a longer pause between packets of a flow lets it change its path."""
    recovery: str | None = None
    """A file of engines/packet/recovery: trim, go_back_n, selective_repeat."""
    timeout_s: Time | None = None
    """Retransmission timer, where packets have numbers."""
    trimming: bool | None = None
    """A full queue cuts packets to their headers instead of dropping them."""
    reordering_packets: Whole | None = None
    """Selective repeat: a packet is missing once one so much later has come."""
    link_retry: bool | None = None
    """Links repeat damaged frames themselves (LLR)."""
    bit_error_ratio: Ratio | None = None
    """Of every link, after forward error correction; none: no errors."""
    ecn: Ecn = Ecn()
    """Marking thresholds."""
    pfc: Pfc = Pfc()
    """Pause thresholds."""
    buffer: Buffer = Buffer()
    """Memory of the switches."""
    watchdog: PauseWatchdog = PauseWatchdog()
    """Breaker of pause storms."""
    at_bytes_per_s: Rate | None = None
    """Link rate that all thresholds are for: they scale with the links; none: as written."""
    credit_bytes: Size | None = None
    """Credit of a link (InfiniBand)."""
    queue_limit_bytes: Size | None = None
    """Largest queue of a port where nothing holds senders back."""
    mtu_bytes: Size | None = None
    """Payload of a packet; none: the cluster's, or what is usual for the fabric."""
    cut_through: bool | None = None
    """Switches forward a packet once its head is there, or when all of it is."""
    cnp_gap_s: Time | None = None
    """Least time between two congestion notifications of one flow."""
    acknowledge: bool = False
    """Acknowledge every packet even where the congestion control needs none."""
    queue_pairs: Count = 1
    """Flows that a transfer is split over, each hashed on its own (more entropy)."""


class Scenario(Part):
    """Everything that a packet simulation needs."""

    name: str = "scenario"
    cluster: Cluster
    """The cluster: a preset's name, a file, or written out (with preset: to begin from)."""
    traffic: Annotated[tuple[TrafficItem, ...], Field(min_length=1, strict=False)]
    """What is sent: a list of collective, incast, permutation, flows and background."""
    stuck: Annotated[tuple[StuckReceiver, ...], Field(strict=False)] = ()
    """Receivers that stop taking packets for a time."""
    network: NetworkSettings = NetworkSettings()
    """Settings laid over those named by preset; none: the tuning of the cluster's fabric."""
    seeds: Annotated[tuple[Whole, ...], Field(min_length=1, strict=False)] = (1,)
    """One run each; hashes, marks and random traffic follow from the seed."""
    until_s: Annotated[Time, Field(le=2.0)] = 1.0
    """Stop at this simulated time if traffic is still under way; at most 2 s."""
    samples: Annotated[int, Field(ge=8, le=4096)] = 256
    """Points of the curves over time, at most twice as many."""

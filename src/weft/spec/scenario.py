"""A scenario to simulate: a cluster, what is sent over it, and how it is set up.

Fields hold inside numbers (bytes, bytes/s, seconds); files hold text with units.
"""

from typing import Annotated, Literal

from pydantic import Field

from weft.spec.base import Part
from weft.spec.cluster import Cluster
from weft.spec.quantities import Count, Ratio, Size, Time, Whole
from weft.spec.settings import NetworkSettings

OperationName = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"
]

Placement = Literal["in_order", "shuffled", "scattered"]


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
    traffic_class: str | None = None
    """Name of a class of network.classes; none: the first."""


class CollectiveStep(Part):
    """One collective operation and how it is run."""

    operation: OperationName
    """all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce or sendrecv."""
    size_bytes: Size
    """As nccl-tests counts it: the whole buffer of a rank."""
    algorithm: str | None = None
    """A file of traffic/collectives; none: pairwise for alltoall, else ring."""
    channels: Count | None = None
    """Equal parts, each on a NIC of its own; none: a part a NIC, one for alltoall."""
    concurrency: Count | None = None
    """Most sends of one rank under way at once (alltoall); none: all."""
    pieces: Count | None = None
    """Parts sent one after another, each passed on as it comes; none: 512 KiB each for trees,
    at most 64, and one for all else."""


class CollectiveTraffic(Traffic, CollectiveStep):
    """One collective over GPUs in rank order."""

    ranks: Count | None = None
    """GPUs that take part; none: all of the hosts that are left after first_host."""
    ranks_per_host: Count | None = None
    """Of them, on one host; none: every GPU of a host."""
    first_host: Whole = 0
    """Where the ranks begin; several jobs sit side by side with it."""
    placement: Placement = "in_order"
    """Hosts in order of their number, at random as a busy scheduler places them, or neighbours
    of the order on different leaves (scattered)."""


class JobStep(CollectiveStep):
    """One collective of a job, and the computing before it."""

    compute_s: Time = 0.0
    """From the end of what was before to the begin of this one."""
    calls: Count = 1
    """How many times in a row, as for the buckets of a gradient; `compute_s` is before each."""


class JobTraffic(Traffic):
    """A job: collectives one after the other on its hosts, with computing between them."""

    steps: Annotated[tuple[JobStep, ...], Field(min_length=1, strict=False)]
    """What one iteration does; `repeat` is the number of iterations."""
    hosts: Count | None = None
    """Hosts of the job; none: all from first_host on."""
    first_host: Whole = 0
    """The first of them."""
    every: Count = 1
    """It takes every so many-th host, so that several jobs can share leaves."""
    placement: Placement = "in_order"
    """The order of its ranks over those hosts: in_order, shuffled or scattered."""
    ranks_per_host: Count | None = None
    """GPUs of the job on every host; none: all."""


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
    job: JobTraffic | None = None
    """Collectives in turn with computing between them, as of training."""
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


class StuckReceiver(Part):
    """A NIC that takes nothing for a time and pauses its leaf: the seed of a pause storm."""

    gpu: Whole
    """GPU whose NIC it is, by its number in the cluster."""
    begin_s: Time = 0.0
    """When it stops."""
    end_s: Time
    """When it goes on."""
    traffic_class: str | None = None
    """Class that it takes nothing of, by name; none: all that can be paused."""


class Scenario(Part):
    """Everything that a simulation needs."""

    name: str = "scenario"
    cluster: Cluster
    """The cluster: a preset's name, a file, or written out (with preset: to begin from)."""
    traffic: Annotated[tuple[TrafficItem, ...], Field(min_length=1, strict=False)]
    """What is sent: a list of collective, job, incast, permutation, flows and background."""
    stuck: Annotated[tuple[StuckReceiver, ...], Field(strict=False)] = ()
    """Receivers that stop taking packets for a time."""
    faults: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Faults that last throughout, as leaf_link_down; one named twice is in two places."""
    network: NetworkSettings = NetworkSettings()
    """Settings laid over those named by preset; none: the tuning of the cluster's fabric."""
    seeds: Annotated[tuple[Whole, ...], Field(min_length=1, strict=False)] = (1,)
    """One run each; hashes, marks and random traffic follow from the seed."""
    alone: bool = False
    """Simulate each traffic alone too: how much slower is it beside the others?"""
    skip_ratio: Annotated[Ratio, Field(le=0.1)] | None = None
    """Skip steady states whose rates agree within this share, as 0.01; none: simulate all."""
    skip_check: bool = False
    """Simulate all as well, and state the error of what was skipped."""
    until_s: Annotated[Time, Field(le=2.0)] = 1.0
    """Stop at this simulated time if traffic is still under way; at most 2 s."""
    samples: Annotated[int, Field(ge=8, le=4096)] = 256
    """Points of the curves over time, at most twice as many."""

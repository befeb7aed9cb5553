"""How switches and NICs of a network are set up, and where such settings come from.

Fields hold inside numbers (bytes, bytes/s, seconds); files hold text with units.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from weft.spec.base import Keyed, Part
from weft.spec.quantities import Count, Rate, Ratio, Size, Time, Whole

_one_or_more = BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
_texts = WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
)


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


class NicLimits(Part):
    """What a NIC cannot exceed beside its port; what is left out comes from the catalogue."""

    messages_per_s: Annotated[float, Field(gt=0)] | None = None
    """Messages that it can begin; none: the catalogue's figure, else no limit."""
    message_bytes: Size | None = None
    """A transfer is sent in messages of this size; none: it is one message."""
    connections: Count | None = None
    """Connections (queue pairs) whose state it holds; none: some thousands, an estimate."""
    connection_miss_s: Time | None = None
    """What it costs to turn to a connection whose state is in host memory; none: estimated."""
    pcie_bytes_per_s: Rate | None = None
    """PCIe of one NIC, one way, after its overhead; none: the cluster's pcie_bytes_per_s."""


class Sockets(Part):
    """What kernel TCP costs the CPUs of a host; what is left out has a sourced default."""

    threads: Count | None = None
    """Threads that serve the sockets of one NIC; none: NCCL_SOCKET_NTHREADS, else 1."""
    sockets: Count | None = None
    """Connections of a pair of NICs; none: threads x NCCL_NSOCKS_PERTHREAD."""
    thread_bytes_per_s: Rate | None = None
    """What one thread copies, costs of packets aside: one over the cost of a byte."""
    packet_cost_bytes: Whole | None = None
    """Cost of a packet, as bytes that the thread could have copied meanwhile."""
    segment_bytes: Size | None = None
    """The kernel handles so many bytes at once (GSO, GRO); none: every packet by itself."""
    host_bytes_per_s: Rate | None = None
    """What all threads of a host copy before its memory is the limit."""
    latency_s: Time | None = None
    """Of the kernel, each side of a transfer; none: half of the fabric's end to end."""


class SwitchReduction(Part):
    """How switches reduce (SHARP, NVLS), where an algorithm has them do so."""

    bytes_per_s: Rate | None = None
    """What one switch can take in; none: all that its ports bring."""
    outstanding_bytes: Size | None = None
    """What a rank may have sent without its result, as buffers allow (SHARP); none: all."""


class Sending(Keyed):
    """How packets are sent, marked and held, in a whole network or one class of traffic."""

    flow_control: Literal["none", "pfc", "credits", "cbfc"] | None = None
    """none (drops), pfc (pauses), credits (InfiniBand) or cbfc (Ultra Ethernet)."""
    congestion: str | None = None
    """A file of engines/packet/congestion: dcqcn, swift, nscc, none ..."""
    knobs: dict[str, str | float | int] = Field(default_factory=dict)
    """Knobs of the congestion control by name; times and sizes as text with a unit."""
    balancing: str | None = None
    """A file of engines/packet/balancing: ecmp, adaptive, spray, reps, mixed ..."""
    recovery: str | None = None
    """A file of engines/packet/recovery: trim, go_back_n, selective_repeat."""
    timeout_s: Time | None = None
    """Retransmission timer, where packets have numbers."""
    trimming: bool | None = None
    """A full queue cuts packets to their headers instead of dropping them."""
    ecn: Ecn = Ecn()
    """Marking thresholds."""
    pfc: Pfc = Pfc()
    """Pause thresholds."""
    buffer: Buffer = Buffer()
    """Memory of the switches; of a class its share."""
    credit_bytes: Size | None = None
    """Credit of a link (InfiniBand, cbfc), in a class for that class."""
    queue_limit_bytes: Size | None = None
    """Largest queue of a port where nothing holds senders back."""


class ClassSettings(Sending):
    """A traffic class of every port; what it leaves out is as for the whole network."""

    name: str
    """What traffic calls it."""
    priority: Whole = 0
    """Classes of a higher priority always go first."""
    weight: Annotated[float, Field(gt=0, le=1000)] = 1.0
    """Share of a port among classes of its priority, in proportion."""


class NetworkSettings(Sending):
    """Switches and NICs as they are configured; what is left out comes from the preset."""

    routes: Annotated[tuple[str, ...], Field(strict=False), _one_or_more, _texts] = ()
    """Files with the forwarding tables that balancing static follows, as OpenSM dumps them."""
    flowlet_gap_s: Time | None = None
    """Flowlets: a longer pause between packets of a flow lets it change its path."""
    entropy_values: Annotated[int, Field(ge=1, le=256)] | None = None
    """Where hosts balance: paths that they choose among, a power of two; none: 64."""
    acknowledge_together_bytes: Size | None = None
    """Trimming: unmarked packets are acknowledged once so much has come; none: each."""
    reordering_packets: Whole | None = None
    """Selective repeat: a packet is missing once one so much later has come."""
    link_retry: bool | None = None
    """Links repeat damaged frames themselves (LLR)."""
    bit_error_ratio: Ratio | None = None
    """Of every link, after forward error correction; none: no errors."""
    watchdog: PauseWatchdog = PauseWatchdog()
    """Breaker of pause storms."""
    at_bytes_per_s: Rate | None = None
    """Link rate that all thresholds are for: they scale with the links; none: as written."""
    credit_unit_bytes: Annotated[Size, Field(ge=32, le=2048)] | None = None
    """Size of a credit (cbfc): a packet takes whole ones; 32B to 2048B."""
    credit_overhead_bytes: Annotated[int, Field(ge=-16, le=127)] | None = None
    """What a packet takes beside its size (cbfc)."""
    credit_spacing_bytes: Annotated[Size, Field(ge=800)] | None = None
    """What passes on the wire at least between two updates of credit (cbfc); from 800B."""
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
    reduction: SwitchReduction = SwitchReduction()
    """Switches that reduce."""
    nic: NicLimits = NicLimits()
    """Limits of NICs beside their ports."""
    classes: Annotated[tuple[ClassSettings, ...], Field(max_length=15, strict=False)] = ()
    """Traffic classes (priorities, virtual lanes) that ports tell apart; none: one for all."""
    sockets: Sockets | None = None
    """Hosts that copy in software (TCP); none: copying costs nothing."""


class TuningRecord(Part):
    """How settings were found: what `weft tune` wrote of its search."""

    weft: str
    """Version that searched."""
    scenarios: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    """What was simulated."""
    scenarios_sha256: str
    """Of the scenarios, clusters and settings that the search began from."""
    trials: Count
    """Settings that were tried."""
    seeds: Annotated[tuple[Whole, ...], Field(min_length=1, strict=False)]
    """Seeds that the gain was measured on: none that the search knew."""
    against: str
    """The settings that the gain is over."""
    gain_ratio: float
    """Share of the time of the traffic that is saved: 0.2 is a fifth; the mean of all runs."""
    gain_low_ratio: float
    """The least of all seeds and scenarios."""
    gain_high_ratio: float
    """The most of them."""


class Tuning(Part):
    """Settings with a name, and how they were found where they were searched."""

    name: str = "tuning"
    """What the file calls them."""
    settings: NetworkSettings
    """The settings themselves."""
    record: TuningRecord | None = None
    """How they were found; none: written by hand."""

    def found(self) -> str:
        """Say in half a sentence where these settings come from."""
        if self.record is None:
            return f"settings {self.name}"
        one = self.record
        return (
            f"settings {self.name}, tuned by simulation of {', '.join(one.scenarios)}: "
            f"{one.gain_ratio:.0%} ({one.gain_low_ratio:.0%} to {one.gain_high_ratio:.0%}) "
            f"less time than {one.against}"
        )

"""What a simulation gives: times with their tails, links, curves over time."""

from dataclasses import dataclass

from weft.results import Estimate, Provenance
from weft.spec.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """A distribution by its middle and its tail."""

    mean: float
    p50: float
    p99: float
    p999: float
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficOutcome:
    """One traffic of the scenario over all seeds and runs."""

    name: str
    kind: str
    flows: int
    """Of one seed, without delays inside hosts."""
    unfinished: int
    """Flows of all seeds that were still under way at the end."""
    size_bytes: float
    """Payload of one seed over the fabric."""
    completion_s: Estimate | None
    """From the begin of a run to its last flow's end; the band holds four runs in five."""
    completions_s: tuple[float, ...]
    """Every run of every seed that ended."""
    flow_s: Quantiles | None
    """Time of one flow from begin to end, in seconds."""
    slowdown_ratio: Quantiles | None
    """Time of one flow over its time alone on the network."""
    fairness_ratio: float | None
    """Jain's index of the rates of one seed's flows, mean over seeds: 1 is fair."""
    algbw_bytes_per_s: Estimate | None = None
    """Size over time, of a collective."""
    busbw_bytes_per_s: Estimate | None = None
    """Algorithm bandwidth times nccl-tests' factor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The runs of one traffic, all seeds; those of a job are its collectives."""

    name: str
    runs: int
    run_s: Quantiles | None
    """Time of a run that ended."""
    alone_s: Quantiles | None
    """The same without all other traffic; none where that was not simulated."""
    slowdown_ratio: Quantiles | None
    """Time of a run over that of the same run alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOutcome:
    """One link, one way, in the first seed."""

    name: str
    layer: str
    """As leaf to spine."""
    rate_bytes_per_s: float
    sent_bytes: int
    utilisation_ratio: float
    """Of its rate, from the begin to the end of all traffic."""
    largest_queue_bytes: int | None
    """As all that follows none where flows were simulated, which do not queue."""
    paused_s: float | None
    pauses: int | None
    """Pauses, or waits for credit, at its sender."""
    marks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOutcome:
    """All links of one layer and direction, in the first seed."""

    name: str
    links: int
    utilisation_ratio: float
    """Mean over the links."""
    imbalance_ratio: float
    """Bytes of the busiest link over the mean: 1 is even."""
    largest_queue_bytes: int | None
    """As all that follows none where flows were simulated, which do not queue."""
    paused_ratio: float | None
    """Share of the time that a link of the layer stood paused, on average."""
    marks: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOutcome:
    """One traffic class over all links, in the first seed."""

    name: str
    priority: int
    weight: float
    flow_control: str
    congestion: str
    largest_queue_bytes: int
    paused_s: float
    """Of all links together."""
    pauses: int
    """Or waits for credit."""
    marks: int
    drops: int
    """Packets that found no room; trimmed ones are among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseRoot:
    """A link whose own queue made others stop, in the first seed."""

    link: str
    own_s: float
    """Time for which it paused others while nothing paused it, added over those."""
    links: int
    """Links that stopped because of it, at once or through one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseVictim:
    """A flow whose host was paused though it does not go where the worst pauses came from."""

    name: str
    traffic: str
    slowdown_ratio: float | None
    """None where it did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The network at one time of the first seed."""

    time_s: float
    delivered_bytes_per_s: float
    """What all hosts received, headers counted, since the moment before."""
    queued_bytes: int
    """In all queues of switches."""
    largest_queue_bytes: int
    paused_links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCurve:
    """The queue of one link at every moment."""

    link: str
    queue_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowBar:
    """One flow of the first seed, for the timeline."""

    name: str
    traffic: str
    begin_s: float
    end_s: float
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOutcome:
    """One run of the whole scenario."""

    seed: int
    complete: bool
    """Whether all traffic ended before the time limit and before an interruption."""
    completion_s: float
    """When the last flow that ended did so."""
    counts: dict[str, int]
    """data_hops, marks, cnps, trims, pauses ... as the engine counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """What was not simulated because it repeats, over all seeds."""

    bytes_ratio: float
    """Of the payload over the fabric."""
    states: int
    """Skips of steady states."""
    periodic: int
    """Of them, where queues and rates were the same window after window."""
    runs: int
    """Repeats or calls that took the times of an earlier one."""
    refused: str | None
    """Why nothing was skipped, where that can be said beforehand."""
    error_ratio: float | None
    """End of all traffic against the full run, the worst seed; none where that was not run."""
    flow_error_ratio: float | None
    """Of a flow's time, the 99th of 100, the worst seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What happened in a scenario, packet by packet or flow by flow."""

    scenario: Scenario
    complete: bool
    """Every seed ran to its end."""
    interrupted: bool
    """Somebody stopped it: what is here happened until then."""
    settings: dict[str, str | float | int | bool | None]
    """What the engine ran with, all defaults filled in."""
    traffic: tuple[TrafficOutcome, ...]
    jobs: tuple[JobOutcome, ...]
    """The same traffic run by run."""
    seeds: tuple[SeedOutcome, ...]
    layers: tuple[LayerOutcome, ...]
    links: tuple[LinkOutcome, ...]
    """Links of the first seed with the longest pauses and queues, the worst first."""
    classes: tuple[ClassOutcome, ...]
    """Empty where there is a single one."""
    pause_roots: tuple[PauseRoot, ...]
    """Where pauses of the first seed came from, the worst first."""
    pause_victims: tuple[PauseVictim, ...]
    """The slowest of them first."""
    victims: int
    """All flows of the first seed that were victims."""
    deadlock: tuple[str, ...]
    """Links of the first seed that wait for one another in a circle at its end."""
    moments: tuple[Moment, ...]
    queues: tuple[QueueCurve, ...]
    """Links with the longest queues."""
    bars: tuple[FlowBar, ...]
    """A sample of flows, evenly drawn where there are many."""
    begun: int
    """Flows of the first seed that had begun: what the sample is of."""
    skipped: Skipped | None = None
    """None where every packet was simulated."""
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Several scenarios, each with its seeds."""

    simulations: tuple[Simulation, ...]
    complete: bool
    """Every seed of every scenario ran to its end."""
    left_out: tuple[str, ...]
    """Scenarios that an interruption kept from beginning."""
    provenance: Provenance

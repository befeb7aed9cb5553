"""What a finished simulation shows, read from its tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.beside import links_beside, names_beside
from weft.engines.packet.names import link_names, names_inside, node_names, tiers_of
from weft.engines.packet.paths import Paths, ideal_ps
from weft.engines.packet.pauses import PauseTree
from weft.engines.packet.pauses import victims as victim_flows
from weft.engines.packet.schedules import Fabric, Schedule
from weft.engines.packet.simulation import PS_PER_S, Options, Outcome, TrafficClass
from weft.engines.packet.stepping import Samples
from weft.predict.simulation import (
    ClassOutcome,
    FlowBar,
    JobOutcome,
    LayerOutcome,
    LinkOutcome,
    Moment,
    PauseRoot,
    PauseVictim,
    Quantiles,
    QueueCurve,
    SeedOutcome,
    TrafficOutcome,
)
from weft.results import Estimate
from weft.spec.scenario import CollectiveTraffic, JobTraffic, Scenario
from weft.traffic.collective import Operation

WORST_LINKS = 24
QUEUE_CURVES = 6
SHOWN_ROOTS, SHOWN_VICTIMS = 8, 24
MOST_BARS = 200
_INSIDE = {
    "free_packet",
    "fresh_packet",
    "packets_alive",
    "last_end",
    "now",
    "latest",
    "flows_done",
    "events",
    "lookahead",
    "root",
    "pool_packets",
    "pause_rows",
}
"""Counters of the engine that say nothing about the network."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One seed after its run, whether it ended or not."""

    scenario: Scenario
    fabric: Fabric
    seed: int
    schedule: Schedule
    options: Options
    paths: Paths
    outcome: Outcome
    samples: Samples
    now_ps: int
    complete: bool
    queues: bool = True
    """Whether the engine has queues and pauses to look at."""

    @property
    def last_ps(self) -> int:
        """When the last flow ended; the time reached where none did or some are under way."""
        return max(1, self.outcome.completion_ps if self.complete else self.now_ps)

    @cached_property
    def slowdown(self) -> Floats:
        """Time of each flow over its time alone; not a number where it did not end."""
        took = np.where(self.outcome.end_ps >= 0, self.took_ps, np.nan)
        return took / ideal_ps(self.paths, self.schedule.flows, self.options)

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Flows that cross the fabric and are sent by a host, not by a switch that reduces."""
        return self.schedule.real & ~self.schedule.relayed

    @property
    def took_ps(self) -> Ints:
        """Time of each flow from begin to end."""
        return self.outcome.end_ps - self.outcome.begin_ps

    @cached_property
    def lanes(self) -> Ints:
        """Rows of the fabric's links in every traffic class, class by class."""
        rows = np.arange(len(self.outcome.links)).reshape(self.outcome.classes, -1)
        return np.asarray(rows[:, : self.schedule.fabric_links].ravel())

    @cached_property
    def lane_names(self) -> list[str]:
        """Names of the lanes of the fabric: the link, and its class where there are several."""
        classes = self.options.classes
        if not classes:
            return self.link_names
        return [f"{link}, {item.name}" for item in classes for link in self.link_names]

    @cached_property
    def paused_ps(self) -> Ints:
        """Time that each lane of the fabric stood paused."""
        links: Any = self.outcome.links[self.lanes]
        now_ps = self.outcome.now_ps
        return np.asarray(
            links.paused_total + np.where(links.paused != 0, now_ps - links.paused_since, 0)
        )

    @cached_property
    def link_names(self) -> list[str]:
        """Names of the links of the fabric, and of what lies behind its ports."""
        fabric = self.fabric
        behind = [] if fabric.inside is None else names_inside(fabric.graph, fabric.inside)
        beside = [name for name, _ in self.links_beside]
        return link_names(fabric.graph, fabric.wiring) + behind + beside

    @property
    def links_beside(self) -> list[tuple[str, str]]:
        """Name and layer of the links of reducers and of GPUs on NVLink switches."""
        return links_beside(self.schedule.beside, self.fabric.graph, self.fabric.cluster)

    @cached_property
    def end_names(self) -> list[str]:
        """Names of the endpoints of flows."""
        fabric = self.fabric
        ports = node_names(fabric.graph)[: fabric.wiring.hosts]
        lanes = [port for port in ports for _ in range(fabric.lanes)]
        return lanes + names_beside(self.schedule.beside, fabric.graph, fabric.cluster)

    @property
    def all_link_names(self) -> list[str]:
        """Names of all lanes; delay lines, which stop for nobody, have none of their own."""
        names = np.full(len(self.outcome.links), "delay", object)
        names[self.lanes] = self.lane_names
        return list(names)

    @cached_property
    def link_layers(self) -> npt.NDArray[np.str_]:
        """Layer of every link of the fabric, as ``leaf to spine``."""
        tiers, wiring = np.array(tiers_of(self.fabric.graph)), self.fabric.wiring
        joined = np.char.add(np.char.add(tiers[wiring.source], " to "), tiers[wiring.target])
        inside = self.fabric.inside
        ways = () if inside is None else (f"{inside.title} to NIC", f"NIC to {inside.title}")
        each = wiring.hosts * self.fabric.lanes
        behind = np.repeat(ways, each) if ways else joined[:0]
        beside = np.array([layer for _, layer in self.links_beside] or joined[:0])
        return np.concatenate([joined, behind, beside])


def quantiles(values: Floats) -> Quantiles | None:
    """Return the middle and the tail of some values; none where there are none."""
    if not len(values):
        return None
    p50, p99, p999 = np.quantile(values, (0.5, 0.99, 0.999))
    return Quantiles(
        mean=float(values.mean()), p50=float(p50), p99=float(p99), p999=float(p999),
        largest=float(values.max()),
    )  # fmt: skip


def traffic_name(scenario: Scenario, number: int) -> str:
    """Return what a traffic is called: as named, else its kind and, if need be, its place."""
    item = scenario.traffic[number]
    alike = [other for other in scenario.traffic if other.kind == item.kind]
    return item.content.name or (item.kind if len(alike) == 1 else f"{item.kind} {number + 1}")


def traffic(seen: Sequence[Seen]) -> tuple[TrafficOutcome, ...]:
    """Read every traffic of the scenario over all seeds."""
    scenario = seen[0].scenario
    return tuple(_traffic(seen, scenario, number) for number in range(len(scenario.traffic)))


def _traffic(seen: Sequence[Seen], scenario: Scenario, number: int) -> TrafficOutcome:
    mine = [item.own & (item.schedule.traffic == number) for item in seen]
    ended = [m & (item.outcome.end_ps >= 0) for m, item in zip(mine, seen, strict=True)]
    pairs = list(zip(seen, ended, strict=True))
    took = np.concatenate([pair.took_ps[e] for pair, e in pairs]) / PS_PER_S
    times = [time_s for item in seen for time_s in run_times(item, number)]
    completions = tuple(time_s for time_s in times if not np.isnan(time_s))
    completion = _estimate(completions)
    size = float(seen[0].schedule.flows.size_bytes[mine[0]].sum())
    algbw, busbw = _bandwidths(scenario, number, completion)
    return TrafficOutcome(
        name=traffic_name(scenario, number),
        kind=scenario.traffic[number].kind,
        flows=int(mine[0].sum()),
        unfinished=sum(int(m.sum() - e.sum()) for m, e in zip(mine, ended, strict=True)),
        size_bytes=size,
        completion_s=completion,
        completions_s=completions,
        flow_s=quantiles(took),
        slowdown_ratio=quantiles(np.concatenate([pair.slowdown[e] for pair, e in pairs])),
        fairness_ratio=_fairness(pairs),
        algbw_bytes_per_s=algbw,
        busbw_bytes_per_s=busbw,
    )


def _fairness(pairs: Sequence[tuple[Seen, npt.NDArray[np.bool_]]]) -> float | None:
    """Return (sum r)^2 / (n sum r^2) over the rates r of flows [Jain, Chiu & Hawe 1984]."""
    found = []
    for pair, ended in pairs:
        rate = pair.schedule.flows.size_bytes[ended] / np.maximum(1, pair.took_ps[ended])
        if len(rate):
            found.append(rate.sum() ** 2 / (len(rate) * (rate**2).sum()))
    return float(np.mean(found)) if found else None


def run_times(one: Seen, number: int) -> list[float]:
    """Return the time of every run of a traffic, nan where it did not end.

    Delays inside hosts count, the gaps between runs do not; a job's runs are its collectives.
    """
    mine = one.schedule.traffic == number
    begin, end, run = one.outcome.begin_ps, one.outcome.end_ps, one.schedule.run
    content = one.scenario.traffic[number].content
    calls = sum(s.calls for s in content.steps) if isinstance(content, JobTraffic) else 1
    runs = content.repeat * calls
    found = []
    for place in range(runs):
        flows = mine & (run == place)
        ended = bool(flows.any() and (end[flows] >= 0).all())
        time_ps = end[flows].max() - begin[flows].min() if ended else np.nan
        found.append(float(time_ps) / PS_PER_S)
    return found


def jobs(seen: Sequence[Seen], alone: Sequence[Sequence[Seen]]) -> tuple[JobOutcome, ...]:
    """Read the runs of every traffic; ``alone`` holds, by traffic, each seed without others."""
    scenario = seen[0].scenario
    return tuple(
        _job(seen, alone[number] if alone else (), scenario, number)
        for number in range(len(scenario.traffic))
    )


def _job(
    seen: Sequence[Seen], alone: Sequence[Seen], scenario: Scenario, number: int
) -> JobOutcome:
    took = np.array([time_s for item in seen for time_s in run_times(item, number)])
    free = np.array([time_s for seen in alone for time_s in run_times(seen, number)])
    slower = took / free if len(free) == len(took) else np.empty(0)
    return JobOutcome(
        name=traffic_name(scenario, number),
        runs=len(took),
        run_s=quantiles(took[~np.isnan(took)]),
        alone_s=quantiles(free[~np.isnan(free)]),
        slowdown_ratio=quantiles(slower[~np.isnan(slower)]),
    )


def _estimate(values: Sequence[float]) -> Estimate | None:
    if not values:
        return None
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9)).tolist()
    return Estimate(middle, low, high)


def _bandwidths(
    scenario: Scenario, number: int, completion: Estimate | None
) -> tuple[Estimate | None, Estimate | None]:
    one = scenario.traffic[number].content
    if not isinstance(one, CollectiveTraffic) or completion is None:
        return None, None
    factor = Operation(one.operation).bus_factor(ranks_of(scenario, one))
    size = one.size_bytes
    algbw = completion.map(lambda time_s: size / time_s)
    return algbw, algbw.map(lambda rate: rate * factor)


def ranks_of(scenario: Scenario, one: CollectiveTraffic) -> int:
    """Return how many GPUs run a collective."""
    per_host = one.ranks_per_host or scenario.cluster.host.gpus
    return one.ranks or (scenario.cluster.hosts - one.first_host) * per_host


def seed(one: Seen) -> SeedOutcome:
    """Read one run of the whole scenario."""
    counts = {name: n for name, n in one.outcome.counts.items() if name not in _INSIDE}
    return SeedOutcome(
        seed=one.seed,
        complete=one.complete,
        completion_s=max(0, one.outcome.completion_ps) / PS_PER_S,
        counts=counts,
    )


def layers(one: Seen) -> tuple[LayerOutcome, ...]:
    """Read the links layer by layer, hosts first."""
    names = list(dict.fromkeys(one.link_layers.tolist()))
    return tuple(_layer(one, name) for name in names)


def _layer(one: Seen, name: str) -> LayerOutcome:
    at = np.flatnonzero(one.link_layers == name)
    links: Any = one.outcome.links[at]
    here = np.flatnonzero(np.tile(one.link_layers, one.outcome.classes) == name)
    lanes: Any = one.outcome.links[one.lanes[here]]
    room = one.schedule.wiring.bytes_per_s[at] * one.last_ps / PS_PER_S
    mean = float(links.sent_bytes.mean())
    return LayerOutcome(
        name=name,
        links=len(at),
        utilisation_ratio=float((links.sent_bytes / room).mean()),
        imbalance_ratio=float(links.sent_bytes.max()) / mean if mean else 1.0,
        largest_queue_bytes=int(lanes.largest_queue_bytes.max()) if one.queues else None,
        paused_ratio=float(one.paused_ps[here].mean()) / one.last_ps if one.queues else None,
        marks=int(lanes.marks.sum()) if one.queues else None,
    )


def worst_links(one: Seen) -> tuple[LinkOutcome, ...]:
    """Read the links that were paused longest, had the longest queues, then the busiest."""
    lanes: Any = one.outcome.links[one.lanes]
    sent = np.tile(
        one.outcome.links.sent_bytes[: one.schedule.fabric_links], one.outcome.classes
    )
    rate = np.tile(
        one.schedule.wiring.bytes_per_s[: one.schedule.fabric_links], one.outcome.classes
    )
    order = np.lexsort((-sent / rate, -lanes.largest_queue_bytes, -one.paused_ps))
    found = [at for at in order.tolist() if sent[at]][:WORST_LINKS]
    return tuple(_link(one, at) for at in found)


def classes(one: Seen) -> tuple[ClassOutcome, ...]:
    """Read every traffic class over all links."""
    links = one.schedule.fabric_links
    return tuple(
        _class(one, own, slice(number * links, (number + 1) * links))
        for number, own in enumerate(one.options.classes)
    )


def _class(one: Seen, own: TrafficClass, at: slice) -> ClassOutcome:
    lanes: Any = one.outcome.links[one.lanes[at]]
    options = own.options or one.options
    return ClassOutcome(
        name=own.name,
        priority=own.priority,
        weight=own.weight,
        flow_control=options.flow_control.name.lower(),
        congestion=options.congestion,
        largest_queue_bytes=int(lanes.largest_queue_bytes.max()),
        paused_s=float(one.paused_ps[at].sum()) / PS_PER_S,
        pauses=int(lanes.pauses.sum()),
        marks=int(lanes.marks.sum()),
        drops=int(lanes.drops.sum()),
    )


def _link(one: Seen, at: int) -> LinkOutcome:
    number = at % one.schedule.fabric_links
    link, lane = one.outcome.links[number], one.outcome.links[one.lanes[at]]
    rate = float(one.schedule.wiring.bytes_per_s[number])
    return LinkOutcome(
        name=one.lane_names[at],
        layer=str(one.link_layers[number]),
        rate_bytes_per_s=rate,
        sent_bytes=int(link.sent_bytes),
        utilisation_ratio=float(link.sent_bytes / (rate * one.last_ps / PS_PER_S)),
        largest_queue_bytes=int(lane.largest_queue_bytes) if one.queues else None,
        paused_s=float(one.paused_ps[at]) / PS_PER_S if one.queues else None,
        pauses=int(lane.pauses) if one.queues else None,
        marks=int(lane.marks) if one.queues else None,
    )


def pause_roots(one: Seen, tree: PauseTree) -> tuple[PauseRoot, ...]:
    """Read where pauses came from, and how many links each of those reached."""
    return tuple(
        PauseRoot(
            link=one.all_link_names[root],
            own_s=tree.own_ps[root] / PS_PER_S,
            links=len(_reached(tree, root)),
        )
        for root in tree.roots[:SHOWN_ROOTS]
    )


def _reached(tree: PauseTree, root: int) -> set[int]:
    """Follow pauses from a link to those that it stopped, and on."""
    after: dict[int, list[int]] = {}
    for cause, link in tree.edges:
        after.setdefault(cause, []).append(link)
    found: set[int] = set()
    todo = [root]
    while todo:
        for link in after.get(todo.pop(), ()):
            if link not in found:
                found.add(link)
                todo.append(link)
    return found - {root}


def victims(one: Seen, tree: PauseTree) -> tuple[PauseVictim, ...]:
    """Read which flows were held up by pauses that they had no part in, the slowest first."""
    flows = victim_flows(tree, one.schedule.wiring, one.schedule.flows)
    real = [flow for flow in flows.tolist() if one.schedule.real[flow]]
    slow = np.nan_to_num(one.slowdown, nan=np.inf)
    return tuple(
        PauseVictim(
            name=_flow_name(one, flow),
            traffic=traffic_name(one.scenario, int(one.schedule.traffic[flow])),
            slowdown_ratio=float(slow[flow]) if np.isfinite(slow[flow]) else None,
        )
        for flow in sorted(real, key=lambda flow: (-slow[flow], flow))
    )


def _flow_name(one: Seen, flow: int) -> str:
    source, target = one.schedule.flows.source[flow], one.schedule.flows.target[flow]
    return f"{flow}: {one.end_names[source]} to {one.end_names[target]}"


def moments(one: Seen) -> tuple[Moment, ...]:
    """Read the network over time."""
    into_hosts = np.flatnonzero(one.fabric.wiring.target < one.fabric.wiring.hosts)
    found, before, then = [], 0, 0
    kept = one.samples
    for place, now in enumerate(kept.time_ps):
        sent = int(kept.sent_bytes[place][into_hosts].sum())
        queue = kept.queue_bytes[place]
        found.append(
            Moment(
                time_s=now / PS_PER_S,
                delivered_bytes_per_s=(sent - before) / (now - then) * PS_PER_S,
                queued_bytes=int(queue.sum()),
                largest_queue_bytes=int(queue.max(initial=0)),
                paused_links=int(kept.paused[place].sum()),
            )
        )
        before, then = sent, now
    return tuple(found)


def queues(one: Seen) -> tuple[QueueCurve, ...]:
    """Read the queues of the links that had the longest, over time."""
    longest = one.outcome.links.largest_queue_bytes[one.lanes]
    chosen = [at for at in np.argsort(-longest, kind="stable")[:QUEUE_CURVES] if longest[at]]
    return tuple(
        QueueCurve(
            link=one.lane_names[at],
            queue_bytes=tuple(int(queue[at]) for queue in one.samples.queue_bytes),
        )
        for at in chosen
    )


def begun(one: Seen) -> Ints:
    """Return the flows that had begun, without delays inside hosts."""
    found = one.schedule.real & (one.outcome.begin_ps <= one.last_ps)
    found &= (one.outcome.end_ps >= 0) | (one.outcome.received_bytes > 0)
    return np.flatnonzero(found)


def bars(one: Seen) -> tuple[FlowBar, ...]:
    """Draw flows evenly, in the order in which they began."""
    flows = begun(one)
    flows = flows[np.argsort(one.outcome.begin_ps[flows], kind="stable")]
    chosen = flows[np.linspace(0, len(flows) - 1, min(len(flows), MOST_BARS)).astype(np.int64)]
    return tuple(_bar(one, flow) for flow in chosen.tolist())


def _bar(one: Seen, flow: int) -> FlowBar:
    end = int(one.outcome.end_ps[flow])
    return FlowBar(
        name=_flow_name(one, flow),
        traffic=traffic_name(one.scenario, int(one.schedule.traffic[flow])),
        begin_s=float(one.outcome.begin_ps[flow]) / PS_PER_S,
        end_s=(one.last_ps if end < 0 else end) / PS_PER_S,
        ended=end >= 0,
    )

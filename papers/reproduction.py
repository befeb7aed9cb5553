"""What a reproduced figure is: curves to look at, and published numbers with a tolerance.

Each paper has a folder with a module ``figures`` that exports ``PAPER``. ``python
papers/draw.py`` runs them all, draws each figure and writes the page of each folder.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.balance import GROUP_STEP, LOW_31_BITS, SPREAD
from weft.engines.packet.inside import inside_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import (
    Flows,
    Options,
    Outcome,
    finish,
    make_state,
    simulate,
)
from weft.engines.packet.stepping import Samples, begin, sampled
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Routes, Wiring, leaf_spine, shortest_routes
from weft.spec.load import load_scenario
from weft.units import rate_from_gbit

PS = 1e12
FOR_EVER_BYTES = 1 << 40
Floats = npt.NDArray[np.float64]
ROCE_TUNED: Mapping[str, Any] = {
    "flow_control": FlowControl.PFC, "congestion": "dcqcn",
    "knobs": {
        "rate_timer_ps": 20e6, "alpha_timer_ps": 20e6,
        "additive_increase_ratio": 0.02, "hyper_increase_ratio": 0.1,
    },
    "xoff_bytes": 2_000_000, "xon_bytes": 1_900_000,
}  # fmt: skip
"""The tuning of that name, for ports of 400 Gb/s; the rest are the simulator's own values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of the paper beside what the simulation gave."""

    name: str
    unit: str
    published: float
    simulated: float
    tolerance_ratio: float
    place: str
    """Where it stands in the paper."""
    rows: tuple[str, ...] = ()
    """Rows of fabric_behaviour.csv that say so."""
    spread: tuple[float, float] | None = None
    """Least and most of what was simulated: seeds, placements, settings."""
    outside: str = ""
    """Why it is not as near as was asked, where that is known."""

    @property
    def error_ratio(self) -> float:
        """Signed error: simulated over published, less one."""
        return self.simulated / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether the simulation is as near as was asked."""
        return abs(self.error_ratio) <= self.tolerance_ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound of the paper beside what the simulation gave."""

    name: str
    unit: str
    simulated: float
    place: str
    at_least: float | None = None
    at_most: float | None = None
    rows: tuple[str, ...] = ()
    """Rows of fabric_behaviour.csv that say so."""
    spread: tuple[float, float] | None = None
    """Least and most of what was simulated: seeds, placements, settings."""
    outside: str = ""
    """Why it is on the wrong side, where that is known."""

    @property
    def holds(self) -> bool:
        """Whether the simulation is on the right side."""
        above = self.at_least is None or self.simulated >= self.at_least
        return above and (self.at_most is None or self.simulated <= self.at_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of a figure."""

    name: str
    x: Floats
    y: Floats


def curves(x: npt.ArrayLike, named: Mapping[str, Floats]) -> tuple[Curve, ...]:
    """Return a curve of each name, all over the same places."""
    places = np.asarray(x, float)
    return tuple(Curve(name=name, x=places, y=one) for name, one in named.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of a paper, simulated."""

    name: str
    """Of its picture: a word."""
    title: str
    setup: str
    """What was simulated, and what differs from the paper."""
    x: str
    y: str
    curves: tuple[Curve, ...]
    numbers: tuple[Number | Limit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper and the figures of it that are simulated."""

    title: str
    source: str
    control: str
    """The congestion control that it is about."""
    figures: tuple[Callable[[], Figure], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Flows into one receiver, looked at in even steps."""

    time_s: Floats
    queue_bytes: Floats
    """Of the link to the receiver."""
    delivered_bytes: Floats
    """By time and flow."""
    outcome: Outcome

    def rates_bytes_per_s(self) -> Floats:
        """Return the mean rate of every flow in every step, shape (steps - 1, flows)."""
        return np.diff(self.delivered_bytes, axis=0) / np.diff(self.time_s)[:, None]

    def after(self, time_s: float) -> npt.NDArray[np.bool_]:
        """Return which samples are later than a time."""
        return self.time_s > time_s


def one_switch(hosts: int, rate_gbit_per_s: float, round_trip_s: float) -> Wiring:
    """Wire hosts to one switch; a round trip crosses four links."""
    return leaf_spine(
        leaves=1,
        hosts_per_leaf=hosts,
        spines=1,
        bytes_per_s=rate_from_gbit(rate_gbit_per_s),
        propagation_s=round_trip_s / 4,
    )


def watch(
    wiring: Wiring,
    options: Options,
    *,
    begin_s: Floats,
    until_s: float,
    step_s: float,
    size_bytes: int = FOR_EVER_BYTES,
) -> Watched:
    """Let host 1, 2, ... send to host 0 from their times on, and look in even steps."""
    senders = len(begin_s)
    flows = Flows(
        source=np.arange(1, senders + 1),
        target=np.zeros(senders, np.int64),
        size_bytes=np.full(senders, size_bytes, np.int64),
        begin_ps=(begin_s * PS).astype(np.int64),
    )
    running = begin(wiring, shortest_routes(wiring), flows, options)
    steps = int(until_s / step_s)
    samples = Samples(most=2 * steps, step_ps=int(step_s * PS))
    received: list[npt.NDArray[np.int64]] = []
    goal_ps = 0
    for _ in range(steps):
        goal_ps += samples.step_ps
        sampled(running, samples, goal_ps, len(wiring.source), lambda _: None)
        received.append(running.outcome().received_bytes[:senders].copy())
    last = int(shortest_routes(wiring).last_link[0])
    return Watched(
        time_s=np.array(samples.time_ps) / PS,
        queue_bytes=np.array([one[last] for one in samples.queue_bytes], float),
        delivered_bytes=np.array(received, float),
        outcome=running.outcome(),
    )


def rates_over(
    wiring: Wiring, flows: Flows, options: Options, *, until_s: float, step_s: float
) -> Floats:
    """Return the mean rate of every flow in every step, shape (steps - 1, flows)."""
    running = begin(wiring, shortest_routes(wiring), flows, options)
    samples = Samples(most=2 * int(until_s / step_s), step_ps=int(step_s * PS))
    received: list[npt.NDArray[np.int64]] = []
    for number in range(1, int(until_s / step_s) + 1):
        goal_ps = number * samples.step_ps
        sampled(running, samples, goal_ps, len(wiring.source), lambda _: None)
        received.append(running.outcome().received_bytes.copy())
    return np.diff(np.array(received, float), axis=0) / step_s


def jain_ratio(rates: Floats) -> float:
    """Return Jain's index of fairness: 1 where all rates are alike, 1/n where one has all."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


@dataclass(frozen=True, slots=True)
class Scene:
    """A scenario as `weft simulate` takes it, run once."""

    written: Mapping[str, Any]
    seed: int = 1

    def completion_s(self) -> float:
        """Return when the last flow ended."""
        scenario = load_scenario(dict(self.written))
        inside = inside_of(scenario)
        fabric = fabric_of(scenario.cluster, scenario.network.bit_error_ratio, inside)
        schedule = compile_traffic(fabric, scenario, self.seed)
        options = options_of(scenario, self.seed)
        return simulate(schedule.wiring, schedule.flows, options).completion_ps / PS


def spread_of(found: Floats) -> tuple[float, float]:
    """Return the least and the most."""
    return float(found.min()), float(found.max())


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """Where the connections of a ring end: endpoints by member and connection."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


def plain(connections: int) -> Callable[[npt.NDArray[np.int64]], Hop]:
    """Return the hops of rings whose members are endpoints themselves."""

    def hop(order: npt.NDArray[np.int64]) -> Hop:
        wide = np.repeat(order[:, None], connections, axis=1)
        return Hop(source=wide, target=np.roll(wide, -1, axis=0))

    return hop


def rings(hops: Sequence[Hop], rounds: int, size_bytes: int) -> Flows:
    """Return rings side by side: a member passes ``size_bytes`` on, a share a connection.

    A connection of the next round begins once all of the round before has come.
    """
    parts: list[Flows] = []
    for hop in hops:
        members, connections = hop.source.shape
        step, rank, part = (
            one.ravel()
            for one in np.meshgrid(
                np.arange(rounds), np.arange(members), np.arange(connections), indexing="ij"
            )
        )
        later = np.flatnonzero(step > 0)
        left = ((step[later] - 1) * members + (rank[later] - 1) % members) * connections
        before = np.concatenate([left + one for one in range(connections)])
        parts.append(
            Flows(
                source=hop.source[rank, part],
                target=hop.target[rank, part],
                size_bytes=np.full(len(step), size_bytes // connections, np.int64),
                predecessor=np.stack([before, np.tile(later, connections)], 1),
                connection=rank * connections + part,
            )
        )
    return side_by_side(parts)


def exchange(groups: Sequence[npt.NDArray[np.int64]], size_bytes: int, pairs: int) -> Flows:
    """Return all-to-alls side by side: everyone to everyone of its group, all at once."""
    parts: list[Flows] = []
    for group in groups:
        count = len(group)
        source, distance, _ = (
            one.ravel()
            for one in np.meshgrid(
                np.arange(count), np.arange(1, count), np.arange(pairs), indexing="ij"
            )
        )
        parts.append(
            Flows(
                source=group[source],
                target=group[(source + distance) % count],
                size_bytes=np.full(len(source), size_bytes // pairs, np.int64),
                predecessor=np.zeros((0, 2), np.int64),
                connection=np.arange(len(source)),
            )
        )
    return side_by_side(parts)


def side_by_side(parts: Sequence[Flows]) -> Flows:
    """Put flows that know nothing of one another into one set."""
    firsts = np.cumsum([0, *(len(one.source) for one in parts)])
    connections = [one.connection for one in parts]
    predecessors = [one.predecessor for one in parts]
    assert all(one is not None for one in (*connections, *predecessors))
    return Flows(
        source=np.concatenate([one.source for one in parts]),
        target=np.concatenate([one.target for one in parts]),
        size_bytes=np.concatenate([one.size_bytes for one in parts]),
        predecessor=np.concatenate(
            [one + first for one, first in zip(predecessors, firsts, strict=False)]
        ),
        connection=np.concatenate(
            [one + first for one, first in zip(connections, firsts, strict=False)]
        ),
    )


def placed(wiring: Wiring, flows: Flows, options: Options) -> Outcome:
    """Simulate with the path of every connection chosen, as a traffic engineer chooses it.

    Connections take, one after the other, the way up that carries least so far, there and on
    the way down to their target's leaf. Hashes are drawn until one leads there.
    """
    routes = shortest_routes(wiring)
    state = make_state(wiring, routes, flows, options)
    rng = np.random.default_rng(options.seed)
    up: dict[int, npt.NDArray[np.int64]] = {}
    down: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
    seen: dict[int, int] = {}
    assert flows.connection is not None
    for number, connection in enumerate(flows.connection.tolist()):
        if connection not in seen:
            seen[connection] = int(state.flows.hash[number])
            group, leaf = _first_group(wiring, routes, flows, number)
            if group >= 0:
                count = int(routes.group_start[group + 1] - routes.group_start[group])
                rising = up.setdefault(group, np.zeros(count, np.int64))
                falling = down.setdefault((leaf, count), np.zeros(count, np.int64))
                fullest = np.maximum(rising, falling)
                place = int((fullest * (len(seen) + 1) + rising + falling).argmin())
                rising[place] += 1
                falling[place] += 1
                seen[connection] = _hash_to(group, count, place, rng)
        state.flows.hash[number] = seen[connection]
    return finish(state)


def _first_group(wiring: Wiring, routes: Routes, flows: Flows, number: int) -> tuple[int, int]:
    """Return the equal-cost group on the first switch of a path (-1: none) and its leaf."""
    switch = int(wiring.target[routes.uplink[flows.source[number]]]) - wiring.hosts
    leaf = int(routes.leaf_of[flows.target[number]])
    return int(routes.groups[switch * routes.leaves + leaf]), leaf


def _hash_to(group: int, count: int, place: int, rng: np.random.Generator) -> int:
    """Draw hashes until ECMP takes the wanted link of a group."""
    here = ((group + 1) * GROUP_STEP) & LOW_31_BITS
    while True:
        drawn = rng.integers(1, 1 << 62, 64 * count)
        mixed = (((drawn & LOW_31_BITS) ^ here) * SPREAD) & LOW_31_BITS
        good = drawn[((mixed >> 1) * count) >> 30 == place]
        if len(good):
            return int(good[0])

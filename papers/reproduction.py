"""What a reproduced figure is: curves to look at, and published numbers with a tolerance.

Each paper has a folder with a module ``figures`` that exports ``PAPER``. ``python
papers/draw.py`` runs them all, draws each figure and writes the page of each folder.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.packet.simulation import Flows, Options, Outcome, simulate
from weft.engines.packet.stepping import Samples, begin, sampled
from weft.engines.packet.wiring import Wiring, leaf_spine, shortest_routes
from weft.units import rate_from_gbit

PS = 1e12
FOR_EVER_BYTES = 1 << 40
Floats = npt.NDArray[np.float64]


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


def jain_ratio(rates: Floats) -> float:
    """Return Jain's index of fairness: 1 where all rates are alike, 1/n where one has all."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


def ring_time_s(
    wiring: Wiring, options: Options, rounds: int, size_bytes: int, connections: int
) -> float:
    """Return the time of some rounds of a ring in which every hop leaves its leaf.

    In each round every host passes ``size_bytes`` on, split over its connections, once all of
    the round before has come. Hosts are ordered across the leaves, eight to a leaf.
    """
    hosts = wiring.hosts
    order = np.arange(hosts).reshape(-1, 8).T.ravel()
    step, rank, part = (
        one.ravel()
        for one in np.meshgrid(
            np.arange(rounds), np.arange(hosts), np.arange(connections), indexing="ij"
        )
    )
    later = np.flatnonzero(step > 0)
    left = ((step[later] - 1) * hosts + (rank[later] - 1) % hosts) * connections
    before = np.concatenate([left + one for one in range(connections)])
    flows = Flows(
        source=order[rank],
        target=order[(rank + 1) % hosts],
        size_bytes=np.full(len(step), size_bytes // connections, np.int64),
        predecessor=np.stack([before, np.tile(later, connections)], 1),
        connection=rank * connections + part,
    )
    return simulate(wiring, flows, options).completion_ps / PS

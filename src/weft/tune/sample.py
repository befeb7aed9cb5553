"""One run of one scenario with one set of settings, and the figures that it is judged by."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, log

import numpy as np

from weft.engines.packet import stepping
from weft.engines.packet.paths import Paths, ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import Fabric, Schedule
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.engines.packet.tables import State
from weft.engines.packet.wiring import Routes
from weft.predict.simulated import Seen, traffic
from weft.spec.scenario import Scenario
from weft.spec.settings import NetworkSettings

TAIL_PERCENT = 99


class Halted(Exception):  # noqa: N818 - not an error: somebody asked to stop
    """Leave a run between two calls of the kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What one run showed."""

    seed: int
    times_s: Mapping[str, float]
    """Of each traffic, middle of its runs; the time limit where it did not end."""
    tail_ratio: float
    paused_ratio: float
    fairness_ratio: float
    drops: int
    ended: bool
    """Whether all traffic ended before the limit."""
    end_s: float
    """When the last flow ended; the limit where some did not."""

    def time_over(self, start: "Sample") -> float:
        """Return the time over that of another run: geometric mean over the traffics."""
        ratios = [log(self.times_s[name] / start.times_s[name]) for name in start.times_s]
        return exp(sum(ratios) / len(ratios))


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One seed of a scenario, compiled: it does not change with the settings."""

    schedule: Schedule
    routes: Routes
    paths: Paths


@dataclass(frozen=True)  # no slots: the fabric is wired once and kept
class Ground:
    """A scenario to be run many times, each seed compiled once."""

    scenario: Scenario
    courses: dict[int, Course] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def fabric(self) -> Fabric:
        """The network as a graph."""
        return scenario_fabric(self.scenario)

    def course(self, seed: int) -> Course:
        """Compile the traffic of a seed, or return it again."""
        with self.lock:
            if seed not in self.courses:
                self.courses[seed] = self._compiled(seed)
            return self.courses[seed]

    def _compiled(self, seed: int) -> Course:
        schedule = compile_traffic(self.fabric, self.scenario, seed)
        routes = routes_of(schedule, self.fabric)
        paths = paths_of(schedule.wiring, routes, schedule.flows)
        return Course(schedule=schedule, routes=routes, paths=paths)


def run(
    ground: Ground,
    network: NetworkSettings,
    seed: int,
    limit_s: float,
    halt: threading.Event | None = None,
) -> Sample:
    """Run one seed of a scenario with other settings, until its end or a time limit."""
    course = ground.course(seed)
    scenario = ground.scenario.with_(network=network)
    options = options_of(scenario, seed)
    running = stepping.begin(
        course.schedule.wiring, course.routes, course.schedule.flows, options
    )

    def watch(_state: State) -> None:
        if halt is not None and halt.is_set():
            raise Halted

    running.advance(round(limit_s * PS_PER_S), watch)
    seen = Seen(
        scenario=scenario, fabric=ground.fabric, seed=seed, schedule=course.schedule,
        options=options, paths=course.paths, outcome=running.outcome(),
        samples=stepping.samples_for(8, course.schedule.fabric_links),
        now_ps=running.now_ps, complete=running.complete,
    )  # fmt: skip
    return _sample(seen, limit_s)


def _sample(seen: Seen, limit_s: float) -> Sample:
    found = traffic((seen,))
    judged = [outcome for outcome in found if outcome.kind != "background"] or list(found)
    fair = [outcome.fairness_ratio for outcome in judged if outcome.fairness_ratio is not None]
    counts = seen.outcome.counts
    return Sample(
        seed=seen.seed,
        times_s={
            outcome.name: limit_s
            if outcome.unfinished or outcome.completion_s is None
            else outcome.completion_s.value
            for outcome in judged
        },
        tail_ratio=_tail(seen),
        paused_ratio=float(seen.paused_ps.mean()) / seen.last_ps,
        fairness_ratio=float(np.mean(fair)) if fair else 0.0,
        drops=counts.get("drops", 0),
        ended=seen.complete,
        end_s=seen.last_ps / PS_PER_S,
    )


def _tail(seen: Seen) -> float:
    """Return the 99th percentile of slowdowns; a flow that did not end counts as if it did."""
    slowdown = seen.slowdown[seen.schedule.real]
    ended = slowdown[np.isfinite(slowdown)]
    missing = len(slowdown) - len(ended)
    if not len(slowdown):
        return 1.0
    if missing * 100 >= len(slowdown):  # the tail itself is among those that did not end
        return float(seen.last_ps / max(1.0, _alone_ps(seen)))
    return float(np.percentile(ended, TAIL_PERCENT))


def _alone_ps(seen: Seen) -> float:
    """Return the shortest time that a flow which did not end would take alone."""
    alone = ideal_ps(seen.paths, seen.schedule.flows, seen.options)
    late = seen.schedule.real & (seen.outcome.end_ps < 0)
    return float(np.median(alone[late]))

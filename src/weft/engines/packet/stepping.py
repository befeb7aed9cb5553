"""A simulation in steps: run to a time, look, go on; so it can be watched and stopped."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.loop import begin_flows, run
from weft.engines.packet.repeats import Repeats
from weft.engines.packet.simulation import (
    Flows,
    Options,
    Outcome,
    first_flows,
    make_state,
    outcome_of,
    with_larger_pool,
)
from weft.engines.packet.skipping import Skipping
from weft.engines.packet.tables import State, Stop
from weft.engines.packet.wiring import Routes, Wiring
from weft.kernel import prepared

FIRST_STEP_PS = 1_000_000
SHORTEST_LOOK_S, LONGEST_LOOK_S = 0.05, 0.25
"""Wall time of one call of the kernel: within it nothing can interrupt."""
MOST_SAMPLED_NUMBERS = 1 << 24
"""Numbers that the samples of one quantity may take: 128 MiB."""
Ints = npt.NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class Samples:
    """Queues, bytes sent and pauses of all links, at even times; halved when too many.

    Where there are several traffic classes, queues and pauses are those of every class.

    Every sample stands for the time since the one before it.
    """

    most: int
    step_ps: int = FIRST_STEP_PS
    time_ps: list[int] = field(default_factory=list)
    queue_bytes: list[Ints] = field(default_factory=list)
    sent_bytes: list[Ints] = field(default_factory=list)
    paused: list[npt.NDArray[np.bool_]] = field(default_factory=list)

    def take(self, state: State, now_ps: int, links: int) -> None:
        """Look at the links; double the step once there are twice as many samples as asked."""
        self.time_ps.append(now_ps)
        rows = state.links
        lanes = slice(links) if len(state.settings) == 1 else lanes_of(state, links)
        self.queue_bytes.append(rows.queue_bytes[lanes].copy())
        self.sent_bytes.append(rows.sent_bytes[:links].copy())
        self.paused.append(rows.paused[lanes] != 0)
        if len(self.time_ps) >= 2 * self.most:
            for kept in (self.time_ps, self.queue_bytes, self.sent_bytes, self.paused):
                del kept[::2]
            self.step_ps *= 2


def lanes_of(state: State, links: int) -> Ints:
    """Return the rows of the first links in every class, class by class."""
    classes = len(state.settings)
    rows = np.arange(len(state.links)).reshape(classes, -1)
    return np.asarray(rows[:, :links].ravel())


def samples_for(most: int, links: int) -> Samples:
    """Return room for samples; fewer of them where a network has very many links."""
    return Samples(most=max(8, min(most, MOST_SAMPLED_NUMBERS // max(1, 2 * links))))


Watch = Callable[[State], None]


@dataclass(slots=True, kw_only=True)
class Running:
    """A simulation that has begun."""

    state: State
    now_ps: int = 0
    look_ps: int = FIRST_STEP_PS
    """How far one call of the kernel goes; follows from how long calls take."""
    stopped: Stop = Stop.UNTIL
    skipping: Skipping | None = None
    """None: every packet is simulated."""
    repeats: Repeats | None = None
    """None: every run is simulated."""
    _prepared: Any = field(init=False)
    """What the kernel is given for the state, for all its calls."""

    def __post_init__(self) -> None:
        """Prepare the state for the kernel."""
        self._prepared = prepared(self.state)

    def advance(self, until_ps: int, watch: Watch) -> Stop:
        """Run to a time in calls short enough to be interrupted between them."""
        self.stopped = Stop.UNTIL
        while self.now_ps < until_ps and not self.ended:
            goal = min(until_ps, self.now_ps + self.look_ps)
            began = time.perf_counter()
            now_ps = self._run(goal)
            self._adapt(time.perf_counter() - began)
            # How far a call goes depends on the machine; when all is done must not.
            self.now_ps = max(until_ps, now_ps) if self.ended else now_ps
            watch(self.state)
        return self.stopped

    @property
    def ended(self) -> bool:
        """Say whether nothing is left to do."""
        return self.stopped is Stop.DONE

    @property
    def complete(self) -> bool:
        """Say whether all flows ended: where nothing is left to do some may be stuck."""
        return int(self.state.counts[0].flows_done) == len(self.state.flows)

    def _run(self, goal_ps: int) -> int:
        """Run to a time; return the time reached, which is later where some was skipped."""
        skipping = self.skipping
        if skipping is None:
            return self._simulate(goal_ps)
        while self.now_ps < goal_ps:
            until = min(goal_ps - skipping.skipped_ps, skipping.next_look)
            self._simulate(until)
            if self.ended:
                begun = None if self.repeats is None else self.repeats.go_on(self.state)
                if begun is None:
                    latest_ps = int(self.state.counts[0].latest)
                    return max(goal_ps, latest_ps + skipping.skipped_ps)
                self.stopped, until = Stop.UNTIL, begun
            elif until == skipping.next_look:
                skipping.look(self.state, until)
            self.now_ps = until + skipping.skipped_ps
        return self.now_ps

    def _simulate(self, until_ps: int) -> int:
        self.stopped = Stop.POOL_LOW
        while self.stopped is Stop.POOL_LOW:
            self.stopped = Stop(run(self._prepared, until_ps))
            if self.stopped is Stop.POOL_LOW:
                self.state = with_larger_pool(self.state)
                self._prepared = prepared(self.state)
        return until_ps

    def _adapt(self, took_s: float) -> None:
        if took_s < SHORTEST_LOOK_S:
            self.look_ps *= 2
        elif took_s > LONGEST_LOOK_S:
            self.look_ps = max(1000, self.look_ps // 2)

    def outcome(self) -> Outcome:
        """Return what has happened so far."""
        found = outcome_of(self.state, self.stopped)
        return (
            found if self.skipping is None else with_skips(found, self.skipping, self.repeats)
        )


def with_skips(outcome: Outcome, skipping: Skipping, repeats: Repeats | None) -> Outcome:
    """Put what was skipped back: the time, and the bytes of every flow."""
    begin_ps, end_ps = map(skipping.real_ps, (outcome.begin_ps, outcome.end_ps))
    if repeats is not None:
        repeats.real(begin_ps, end_ps)
    pauses = outcome.pauses.copy()
    for name in ("begin", "end"):
        pauses[name] = skipping.real_ps(pauses[name])
    return replace(
        outcome,
        begin_ps=begin_ps,
        end_ps=end_ps,
        received_bytes=outcome.received_bytes + skipping.taken_bytes,
        now_ps=outcome.now_ps + skipping.skipped_ps,
        pauses=pauses,
    )


def begin(wiring: Wiring, routes: Routes, flows: Flows, options: Options) -> Running:
    """Prepare a simulation at time 0."""
    state = make_state(wiring, routes, flows, options)
    begin_flows(state, first_flows(state.flows))
    return Running(state=state)


def sampled(
    running: Running, samples: Samples, until_ps: int, links: int, watch: Watch
) -> None:
    """Run to the end or to a time, looking at the links at even steps."""
    while not running.ended and running.now_ps < until_ps:
        running.advance(min(until_ps, running.now_ps + samples.step_ps), watch)
        samples.take(running.state, running.now_ps, links)

"""Flowlets: a switch draws another path for a flow after a pause longer than its gap.

A sender of rate *r* that sends bursts of *B* bytes at its line rate *C*, in packets of *P*
bytes, pauses for B / r - (B - P) / C between two bursts. That is longer than the gap *g*, and
the flow moves, where::

    r < B / (g + (B - P) / C)

[CONGA, Alizadeh 2014; LetFlow, Vanini 2017, section 3: flows leave slow paths, for those have
longer pauses]. A NIC that paces packet by packet has B = P and moves below P / g alone: at a
gap of 16 us and packets of 4 KiB below 2 Gb/s, so it keeps to the path of its hash. Where the
limit is above C every packet may move, which is spraying. Between the two flows are followed
in time: those below the limit draw a path, again and again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weft.engines.flow.solver import (
    FOREVER_EVENTS,
    Ends,
    Floats,
    Flows,
    Ints,
    Uses,
    complete,
    ends_of,
    make_state,
)
from weft.engines.flow.tables import ARRIVING, ENDED, SENDING
from weft.engines.flow.timeline import run

ROUNDS: Final = 64
"""Times that flows can move until hashed ones would have ended: a flow that moves all the time
then has the mean of as many paths."""
Move = Callable[[Ints], Uses]
"""Draws new paths for some flows; returns the uses of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How a sender leaves pauses, and what a switch takes for one."""

    gap_s: float
    burst_bytes: float
    """Sent back to back at the line rate."""
    packet_bytes: float
    """On the wire."""
    line_bytes_per_s: float

    @property
    def dwell_s(self) -> float:
        """Time from one burst to the next of a flow that is just slow enough to move."""
        burst = max(self.burst_bytes, self.packet_bytes)
        return self.gap_s + (burst - self.packet_bytes) / self.line_bytes_per_s

    @property
    def moves_below_bytes_per_s(self) -> float:
        """Rate below which a flow leaves pauses that are long enough to move it.

        >>> nic = Pacing(gap_s=1e-6, burst_bytes=0, packet_bytes=4e3, line_bytes_per_s=50e9)
        >>> nic.moves_below_bytes_per_s
        4000000000.0
        """
        burst = max(self.burst_bytes, self.packet_bytes)
        return burst / self.dwell_s if self.dwell_s > 0 else np.inf

    @property
    def sprays(self) -> bool:
        """Whether even a flow at line rate moves with every burst."""
        return self.moves_below_bytes_per_s > self.line_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What happened to flows that move."""

    ends: Ends
    left_bytes: Floats
    carried_bytes: Floats
    """By link."""


def follow(
    bytes_per_s: Floats,
    flows: Flows,
    move: Move,
    *,
    moves_below: Floats,
    dwell_s: float,
    until_s: float = np.inf,
) -> Followed:
    """Send all flows; those slower than ``moves_below`` (bytes/s, by flow) draw a new path.

    They do so every ``dwell_s``, or ROUNDS times in what hashed paths take if that is longer.
    Raises Infeasible where flows wait for one another in a circle.
    """
    hashed = complete(bytes_per_s, flows, until_s=until_s)
    every_s = max(dwell_s, float(hashed.end_s.max()) / ROUNDS, hashed.now_s / ROUNDS)
    course = _Course(bytes_per_s, flows, until_s)
    while course.goes_on(every_s):
        slow = course.slow(moves_below)
        if len(slow):
            course.moved(move(slow))
    return course.followed()


class _Course:
    """Flows on their way, whose paths change between two stretches of time."""

    def __init__(self, bytes_per_s: Floats, flows: Flows, until_s: float) -> None:
        self.bytes_per_s, self.flows, self.until_s = bytes_per_s, flows, until_s
        self.uses, self.now_s = flows.uses, 0.0
        self.state = make_state(bytes_per_s, flows)
        self.begin_s = np.full(len(flows.size_bytes), -1.0)
        self.end_s = self.begin_s.copy()
        self.left = flows.size_bytes.astype(float)
        self.carried = np.zeros(len(bytes_per_s))
        self.events = self.evaluations = 0

    def goes_on(self, stretch_s: float) -> bool:
        """Follow until a stretch after the next event; say whether any flow is left."""
        event_s = float(self.state.tree[1])
        self.now_s = min(max(self.now_s, event_s) + stretch_s, self.until_s)
        run(self.state, self.now_s, FOREVER_EVENTS)
        self._note()
        return bool((self.end_s < 0).any()) and self.now_s < self.until_s

    def _note(self) -> None:
        """Count what was sent since the last time, and note what began and ended."""
        rows, left = self._rows(), self._left()
        sent = np.repeat(self.left - left, np.diff(self.uses.start))
        sent = sent if self.uses.weight is None else sent * self.uses.weight
        self.carried += np.bincount(self.uses.links, sent, len(self.carried))
        self.left = left
        seen = ends_of(self.state, self.now_s)
        self.begin_s = np.where(self.begin_s < 0, seen.begin_s, self.begin_s)
        self.end_s = np.where(self.end_s < 0, rows.end_s, self.end_s)

    def _rows(self) -> Any:  # noqa: ANN401 - rows of a table
        return self.state.flows[: len(self.end_s)]

    def _left(self) -> Floats:
        rows = self._rows()
        late_s = np.where(rows.doing == SENDING, self.now_s - rows.last_s, 0.0)
        return np.asarray(np.maximum(0.0, rows.left_bytes - rows.rate * late_s))

    def slow(self, moves_below: Floats) -> Ints:
        """Return the flows that send at less than their limit."""
        rows = self._rows()
        return np.flatnonzero((rows.doing == SENDING) & (rows.rate < moves_below))

    def moved(self, uses: Uses) -> None:
        """Go on from here on other paths."""
        rows, asked = self._rows(), self.flows
        self.events += int(self.state.counts[0].events)
        self.evaluations += int(self.state.counts[0].evaluations)
        begin_s = np.zeros(len(rows)) if asked.begin_s is None else asked.begin_s
        delay_s = np.zeros(len(rows)) if asked.delay_s is None else asked.delay_s
        arrives_s = self.state.tree[len(self.state.tree) // 2 :][: len(rows)]
        delay_s = np.where(rows.doing == ARRIVING, arrives_s - self.now_s, delay_s)
        delay_s = np.where(rows.doing == ENDED, 0.0, delay_s)
        pairs = asked.predecessor
        if pairs is not None:
            pairs = pairs[rows.doing[pairs[:, 0]] != ENDED]
        self.uses = uses
        self.state = make_state(
            self.bytes_per_s,
            Flows(
                uses=uses, size_bytes=np.where(rows.doing < ARRIVING, self.left, 0.0),
                begin_s=np.maximum(begin_s, self.now_s), delay_s=delay_s, predecessor=pairs,
            ),
        )  # fmt: skip

    def followed(self) -> Followed:
        """Return what happened."""
        counts = self.state.counts[0]
        return Followed(
            ends=Ends(
                begin_s=self.begin_s, end_s=self.end_s,
                now_s=float(max(self.end_s.max(initial=0.0), 0.0)),
                events=self.events + int(counts.events),
                evaluations=self.evaluations + int(counts.evaluations),
            ),
            left_bytes=self.left, carried_bytes=self.carried,
        )  # fmt: skip

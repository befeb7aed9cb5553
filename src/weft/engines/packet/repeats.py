"""Runs that repeat: a job's collectives in a row, of which two that agree stand for the others.

A run is held back until all of the one before has ended and the network is idle. Where the
flows of an earlier run have the same ends, sizes, connections and order, and two of those took
the same time, a run is not simulated: its flows get the times of the last one, moved. Runs
that agree within the tolerance only are simulated again now and then: the second, the fourth,
the eighth ...
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.loop import begin_flows
from weft.engines.packet.schedules import Schedule
from weft.engines.packet.skipping import OF_LINKS, SCALED, Skipping
from weft.engines.packet.tables import State

Ints = npt.NDArray[np.int64]
LEAST_REPEATS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Flows first to last (not included), which begin when those of the run before end."""

    first: int
    last: int
    entries: Ints
    likeness: int
    """The same for equal runs."""


@dataclass(slots=True, kw_only=True)
class _Measured:
    """The last run of its kind that was simulated."""

    begin_ps: Ints
    end_ps: Ints
    """From the begin of the run."""
    links: Ints
    counts: Ints
    agree: bool = False
    exact: bool = False
    credit: int = 0
    """Runs that may be skipped before one is simulated again."""
    reach: int = 1


@dataclass(slots=True, kw_only=True)
class Repeats:
    """The runs of a traffic, one after another."""

    runs: list[_Run]
    skipping: Skipping
    place: int = 0
    """Of the run that is under way."""
    began_ps: int = 0
    links: Ints
    counts: Ints
    measured: dict[int, _Measured] = field(default_factory=dict)
    times: dict[int, tuple[Ints, Ints]] = field(default_factory=dict)
    """Real begins and ends of flows of skipped runs, by the first of them."""

    def go_on(self, state: State) -> int | None:
        """Begin the next run that is simulated; return its time in the kernel, or none."""
        run, flows = self.runs[self.place], state.flows
        if (flows.end[run.first : run.last] < 0).any():
            return None
        self._measure(state, run)
        gap = int(state.settings.gap_between_operations[0])
        ended = int(flows.end[run.first : run.last].max())
        begin = ended + gap + 1  # after the skips that are noted at the end of the run before
        while self.place + 1 < len(self.runs) and self._is_in_time(begin):
            self.place += 1
            run = self.runs[self.place]
            known = self.measured.get(run.likeness)
            if known is None or not known.agree or known.credit <= 0:
                self._begin(state, run, begin)
                return begin
            self._repeat(state, run, known, begin)
        return None

    def _is_in_time(self, begin: int) -> bool:
        return begin + self.skipping.skipped_ps <= self.skipping.limit_ps

    def _begin(self, state: State, run: _Run, begin: int) -> None:
        state.flows.begin[run.entries] = begin + state.flows.lag[run.entries]
        state.flows.waits_for[run.entries] = 0
        begin_flows(state, run.entries)
        self.skipping.restart(run.entries, state, begin)
        self.began_ps = begin + self.skipping.skipped_ps
        self.links, self.counts = _totals(state)

    def _measure(self, state: State, run: _Run) -> None:
        """Note what a run took, and whether it agrees with the last of its kind."""
        at = slice(run.first, run.last)
        begin = self.skipping.real_ps(state.flows.begin[at]) - self.began_ps
        end = self.skipping.real_ps(state.flows.end[at]) - self.began_ps
        links, counts = _totals(state)
        found = _Measured(
            begin_ps=begin, end_ps=end, links=links - self.links, counts=counts - self.counts
        )
        before = self.measured.get(run.likeness)
        if before is not None:
            took, last = int(end.max()), int(before.end_ps.max())
            found.exact = np.array_equal(end, before.end_ps)
            found.agree = abs(took - last) <= self.skipping.tolerance_ratio * took
            found.reach = 2 * before.reach if found.agree else 1
            found.credit = len(self.runs) if found.exact else found.reach
        self.measured[run.likeness] = found

    def _repeat(self, state: State, run: _Run, known: _Measured, begin: int) -> None:
        """Give the flows of a run the times of an earlier one."""
        flows, counts, at = state.flows, state.counts[0], slice(run.first, run.last)
        begin_ps = begin + self.skipping.skipped_ps
        self.times[run.first] = begin_ps + known.begin_ps, begin_ps + known.end_ps
        self.skipping.taken_bytes[at] = flows.total_bytes[at]
        flows.end[at], flows.to_send_bytes[at] = begin, 0
        counts.flows_done += run.last - run.first
        for row, name in zip(known.links, OF_LINKS, strict=True):
            state.links[name] += row.astype(state.links[name].dtype)
        for value, name in zip(known.counts.tolist(), SCALED, strict=True):
            counts[name] += value
        known.credit -= 1
        self.skipping.note(begin - 1, int(known.end_ps.max()))

    def real(self, begin_ps: Ints, end_ps: Ints) -> None:
        """Write the times of skipped runs over those of the kernel."""
        for first, (begins, ends) in self.times.items():
            begin_ps[first : first + len(begins)] = begins
            end_ps[first : first + len(ends)] = ends


def _totals(state: State) -> tuple[Ints, Ints]:
    links = np.stack([state.links[name] for name in OF_LINKS]).astype(np.int64)
    return links, np.array([state.counts[0][name] for name in SCALED], np.int64)


def repeats_of(state: State, schedule: Schedule, skipping: Skipping) -> Repeats | None:
    """Hold all runs but the first back; none if runs overlap or too few are equal."""
    runs = _runs(schedule)
    counts = np.unique([run.likeness for run in runs], return_counts=True)[1]
    if counts.max(initial=0) < LEAST_REPEATS:
        return None
    for run in runs[1:]:
        state.flows.waits_for[run.entries] += 1
    links, counts = _totals(state)
    return Repeats(runs=runs, skipping=skipping, links=links, counts=counts)


def _runs(schedule: Schedule) -> list[_Run]:
    """Cut a traffic where one run follows another; empty where runs overlap."""
    flows, pairs = schedule.flows, schedule.flows.predecessor
    if pairs is None or schedule.traffic.any() or flows.begin_ps is None:
        return []
    cuts = np.flatnonzero(np.diff(schedule.run)) + 1
    bounds = np.concatenate([[0], cuts, [len(schedule.run)]])
    owner = np.searchsorted(bounds, pairs, side="right") - 1
    found: list[_Run] = []
    kinds: dict[bytes, int] = {}
    before = np.empty(0, np.int64)
    for place, its in enumerate(_by_run(pairs, owner[:, 1], len(bounds) - 1)):
        first, last = int(bounds[place]), int(bounds[place + 1])
        inside, outside = its[its[:, 0] >= first], its[its[:, 0] < first]
        own = np.arange(first, last)
        entries = np.setdiff1d(own, inside[:, 1])
        if not _awaits(outside, before, entries) or flows.begin_ps[entries].any():
            return []
        likeness = kinds.setdefault(_form(schedule, first, last, inside), place)
        found.append(_Run(first=first, last=last, entries=entries, likeness=likeness))
        before = np.setdiff1d(own, inside[:, 0])
    return found


def _by_run(pairs: Ints, owner: Ints, runs: int) -> list[Ints]:
    """Split pairs by the run of the flow that waits."""
    order = np.argsort(owner, kind="stable")
    return np.split(pairs[order], np.cumsum(np.bincount(owner, minlength=runs))[:-1])


def _awaits(pairs: Ints, before: Ints, entries: Ints) -> bool:
    """Say whether pairs are all that the last flows of a run and the first of the next make."""
    if len(pairs) != len(before) * len(entries):
        return False
    each = np.isin(pairs[:, 0], before) & np.isin(pairs[:, 1], entries)
    return bool(each.all())


def _form(schedule: Schedule, first: int, last: int, pairs: Ints) -> bytes:
    """Return what equal runs have in common."""
    flows: Any = schedule.flows
    columns = (flows.source, flows.target, flows.size_bytes, flows.connection)
    classes = () if flows.traffic_class is None else (flows.traffic_class,)
    each = [column[first:last].tobytes() for column in (*columns, *classes)]
    return b"|".join([*each, (pairs - first).tobytes()])

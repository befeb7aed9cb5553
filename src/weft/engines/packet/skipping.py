"""Skip steady states: flows that move the same bytes window after window.

While the same flows are under way and each moves as many bytes in one window as in the next,
nothing new happens. So a skip takes bytes from what every flow has yet to send and adds the
time that they would have taken to a ledger. The kernel's clock, queues, timers and random
streams stay as they are: the network goes on as if no time had passed. What waits for a time
of its own (computing, flows that begin later) comes earlier by as much.

A state is *periodic* if queues, windows and paces are equal too and nothing was paused or
marked: it is skipped up to the next event. It is *settled* if bytes alone agree within the
tolerance: it is skipped for a few times what was watched, longer each time that the rate
afterwards is the one from before.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.events import LEAF_BITS, NEVER
from weft.engines.packet.paths import Paths
from weft.engines.packet.schedules import Schedule
from weft.engines.packet.tables import Event, State

Ints = npt.NDArray[np.int64]
WINDOW_PACKETS = 32
FIRST_REACH, MOST_REACH = 4.0, 256.0
"""A settled state is skipped for so many times the time that it was watched."""
LONGEST_HISTORY = 512
"""Windows; what has not settled by then is watched anew."""
LEAST_WINDOWS = 2
QUARTERS = 4
PATIENCE_LOOKS, MOST_STEPS = 64, 64
"""After so many looks in vain the next are twice as far apart, up to so many windows."""
LOOK_HOPS, LOOK_HOPS_A_LINK = 6144, 1
"""What a look costs, in packet-hops simulated in the same time [docs/explanation/speed.md]."""
MOST_LOOKING_RATIO = 0.1
"""Of the hops of the full run: what looks may cost beyond what their skips save."""
RESERVE_WINDOWS = 1
"""Bytes of so many windows are left to every flow: its end is simulated."""
SCALED = (
    "data_hops", "control_hops", "marks", "trims", "drops", "nacks", "resent_bytes", "pauses",
    "cnps",
)  # fmt: skip
UNCHANGED = [SCALED.index(name) for name in ("marks", "trims", "drops", "pauses", "cnps")]
OF_LINKS = ("sent_bytes", "marks", "pauses", "paused_total")


@dataclass(slots=True, kw_only=True)
class _Look:
    """What the flows under way have done until a time."""

    received: Ints
    unsent: Ints
    control: npt.NDArray[np.float64]
    """Pace and window of every flow."""
    queues: Ints
    links: Ints
    counts: Ints


@dataclass(slots=True, kw_only=True)
class Skipping:
    """What a simulation may skip, and what it has skipped."""

    tolerance_ratio: float
    window_ps: int
    limit_ps: int
    """No skip goes beyond this time."""
    real: npt.NDArray[np.bool_]
    """Flows that cross the fabric; the others let time pass."""
    fabric_links: int
    live: Ints
    """Flows that wait for no other and have not ended."""
    next_look: int = 0
    done: int = 0
    active: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """Flows under way."""
    history: list[_Look] = field(default_factory=list)
    rates: dict[bytes, Ints] = field(default_factory=dict)
    """Flows under way, by connection -> bytes of a window in a periodic state."""
    settled: dict[bytes, npt.NDArray[np.float64]] = field(default_factory=dict)
    reach: dict[bytes, float] = field(default_factory=dict)
    at_ps: list[int] = field(default_factory=list)
    """Kernel time of every skip."""
    by_ps: list[int] = field(default_factory=list)
    taken_bytes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """By flow: bytes that were not simulated."""
    periodic: int = 0
    """Skips of periodic states; the others were of settled ones."""

    skipped_ps: int = 0
    """Time that was not simulated."""
    look_hops: int
    """What a look costs."""
    budget_hops: float
    """What looks may still cost; with none left all is simulated."""
    misses: int = 0
    """Looks since the last skip."""
    step_ps: int = 0
    """Between two looks: a window, or more where nothing could be skipped for long."""

    def note(self, at_ps: int, by_ps: int) -> None:
        """Write a skip into the ledger."""
        self.at_ps.append(at_ps)
        self.by_ps.append(by_ps)
        self.skipped_ps += by_ps

    def restart(self, flows: Ints, state: State, now: int) -> None:
        """Begin anew with flows that were held back until now."""
        self.live, self.done = _by_connection(state, flows), int(state.counts[0].flows_done)
        self.active, self.history = self.live[:0], []
        self.next_look = now if self.budget_hops >= self.look_hops else NEVER

    def real_ps(self, kernel_ps: Ints) -> Ints:
        """Turn times of the kernel into those of the network; -1 stays."""
        before = np.concatenate([[0], np.cumsum(self.by_ps)]).astype(np.int64)
        place = np.searchsorted(np.array(self.at_ps, np.int64), kernel_ps, side="left")
        return np.where(kernel_ps < 0, kernel_ps, kernel_ps + before[place])

    def look(self, state: State, now: int) -> None:
        """Look at the flows under way; skip where they are steady."""
        self.misses += 1
        self.budget_hops -= self.look_hops
        if self.misses % PATIENCE_LOOKS == 0 and self.step_ps < MOST_STEPS * self.window_ps:
            self.step_ps, self.history = 2 * self.step_ps, []
        self.next_look = now + self.step_ps
        if self.budget_hops < self.look_hops:
            self.next_look = NEVER
            return
        self._follow(state)
        flows: Any = state.flows
        active = self.live[self.real[self.live] & (flows.begin[self.live] <= now)]
        if not len(active):
            self.history, self.active = [], active
            next_event = int(state.tree[1]) >> LEAF_BITS
            self.next_look = max(self.next_look, min(next_event, self.limit_ps))
            return
        if not np.array_equal(active, self.active) or len(self.history) > LONGEST_HISTORY:
            self.history, self.active = [], active
        self.history.append(self._seen(state))
        self._skip_steady(state, now)

    def _follow(self, state: State) -> None:
        """Keep the list of flows that wait for no other."""
        done = int(state.counts[0].flows_done)
        if done == self.done:
            return
        self.done = done
        flows: Any = state.flows
        checked = self.live
        kept = [checked[flows.end[checked] < 0]]
        while len(checked):
            ended = checked[flows.end[checked] >= 0]
            following = _successors(state, ended)
            checked = following[flows.waits_for[following] == 0]
            kept.append(checked[flows.end[checked] < 0])
        self.live = _by_connection(state, np.unique(np.concatenate(kept)))

    def _seen(self, state: State) -> _Look:
        flows, links, counts = state.flows, state.links, state.counts[0]
        at = self.active
        return _Look(
            received=flows.received_bytes[at],
            unsent=flows.to_send_bytes[at],
            control=np.stack([flows.pace_ps_per_byte[at], flows.window_bytes[at]]),
            queues=links.queue_bytes.copy(),
            links=np.stack([links[name] for name in OF_LINKS]).astype(np.int64),
            counts=np.array([counts[name] for name in SCALED], np.int64),
        )

    def _skip_steady(self, state: State, now: int) -> None:
        last = len(self.history) - 1
        key = state.flows.hash[self.active].tobytes() + self.step_ps.to_bytes(8, "big")
        known = self.rates.get(key)
        if last >= LEAST_WINDOWS and self._is_periodic(state):
            self.rates[key] = self._moved(last - 1, last)
            self._skip(state, now, last - 1, periodic=True)
        elif last == 1 and known is not None and self._is_known(state, known):
            self._skip(state, now, 0, periodic=True)
        elif last > 0 and last % QUARTERS == 0 and self._is_settled(last // QUARTERS):
            self._widen(key, last)
            self._skip(state, now, last // 2, periodic=False, reach=self.reach[key])

    def _moved(self, first: int, last: int) -> Ints:
        return self.history[last].received - self.history[first].received

    def _is_known(self, state: State, known: Ints) -> bool:
        first, last = self.history
        same = np.array_equal(known, last.received - first.received)
        return same and self._is_same(state, first, last)

    def _is_same(self, state: State, first: _Look, last: _Look) -> bool:
        """Say whether a window left everything as it was but for bytes that moved.

        A flow below the line rate is not periodic: its control has yet to raise it.
        """
        moved, sent = last.received - first.received, first.unsent - last.unsent
        return bool(
            (moved > 0).all()
            and np.array_equal(moved, sent)
            and np.array_equal(first.control, last.control)
            and (last.control[0] <= state.settings.line_ps_per_byte[0]).all()
            and np.array_equal(first.queues, last.queues)
            and (first.counts[UNCHANGED] == last.counts[UNCHANGED]).all()
        )

    def _is_periodic(self, state: State) -> bool:
        """Say whether the last two windows were the same."""
        first, between, last = self.history[-3:]
        before, after = between.received - first.received, last.received - between.received
        same = np.array_equal(before, after) and self._is_same(state, first, between)
        return same and self._is_same(state, between, last)

    def _is_settled(self, quarter: int) -> bool:
        """Say whether the last two quarters of the windows moved the same, nearly."""
        first, between, last = self.history[-2 * quarter - 1 :: quarter]
        before, after = between.received - first.received, last.received - between.received
        sent = between.unsent - last.unsent
        changed = np.abs(last.control[0] - first.control[0])
        most = self.tolerance_ratio * after
        return bool(
            (after > 0).all()
            and (np.abs(after - before) <= most).all()
            and (np.abs(after - sent) <= most).all()
            and (changed <= self.tolerance_ratio * last.control[0]).all()
        )

    def _widen(self, key: bytes, last: int) -> None:
        """Reach further where the rates are those of the last time, else begin anew."""
        rates = self._moved(last // 2, last) / (last - last // 2)
        before = self.settled.get(key)
        same = before is not None and bool(
            (np.abs(rates - before) <= self.tolerance_ratio * before).all()
        )
        reach = 2 * self.reach[key] if same else FIRST_REACH
        self.settled[key], self.reach[key] = rates, min(MOST_REACH, reach)

    def _skip(
        self, state: State, now: int, first: int, *, periodic: bool, reach: float = np.inf
    ) -> None:
        """Take as many times what moved since a look as all flows have left."""
        last = len(self.history) - 1
        span_ps = (last - first) * self.step_ps
        moved = self._moved(first, last)
        unsent = state.flows.to_send_bytes[self.active]
        reserve = moved * RESERVE_WINDOWS / (last - first)
        room_ps = min(self._free_until(state), self.limit_ps - self.skipped_ps) - now
        times = min(
            float(((unsent - reserve) / moved).min()),
            room_ps / span_ps,
            reach * last / (last - first),
        )
        if periodic:
            times = np.floor(times)
        if times * span_ps < LEAST_WINDOWS * self.step_ps:
            return
        self._take(state, times, first)
        by_ps = round(times * span_ps)
        _come_earlier(state, self.fabric_links, by_ps)
        self.note(now, by_ps)
        self.periodic += periodic
        self.misses, self.step_ps = 0, self.window_ps
        self.history = []

    def _take(self, state: State, times: float, first: int) -> None:
        """Take bytes from flows, and let counters and links count them."""
        flows, links, counts = state.flows, state.links, state.counts[0]
        payload = int(state.settings.mtu_bytes[0])
        was, now = self.history[first], self.history[-1]
        taken = np.rint(times * (now.received - was.received) / payload).astype(np.int64)
        taken *= payload
        flows.to_send_bytes[self.active] -= taken
        flows.total_bytes[self.active] -= taken
        self.taken_bytes[self.active] += taken
        more = np.rint(times * (now.links - was.links)).astype(np.int64)
        for row, name in zip(more, OF_LINKS, strict=True):
            links[name] += row.astype(links[name].dtype)
        if len(state.loads) == len(links):
            state.loads.sent_bytes[:] += more[OF_LINKS.index("sent_bytes")]
        skipped = times * (now.counts - was.counts)
        for value, name in zip(skipped, SCALED, strict=True):
            counts[name] += round(value)
        self.budget_hops += float(skipped[SCALED.index("data_hops")])

    def _free_until(self, state: State) -> int:
        """Return when the first flow begins or delay ends that waits for a time of its own."""
        times = [state.flows.begin[flow] for _, flow in _waiting(state)]
        times += [state.packets.time[packet] for _, packet in _delays(state, self.fabric_links)]
        return min(map(int, times), default=NEVER)


def why_not(state: State) -> str | None:
    """Return what keeps a simulation from being skipped in parts; none if nothing does."""
    settings: Any = state.settings
    found = {
        "switches reduce": settings.relays.any(),
        "receivers grant what may be sent": settings.grants.any(),
        "links damage bits": state.links.faulty.any(),
        "a pause watchdog runs": settings.watchdog.any(),
        "a receiver stalls": (state.links.ring_tail != 0).any(),
    }
    return next((reason for reason, holds in found.items() if holds), None)


def skipping_of(
    state: State,
    schedule: Schedule,
    tolerance_ratio: float,
    *,
    paths: Paths,
    limit_ps: int,
) -> Skipping:
    """Prepare skips of a simulation that has not begun."""
    window_ps = _window(state, float(paths.latency_ps[schedule.real].max(initial=0)))
    full_hops = _full_hops(state, schedule, paths, limit_ps)
    return Skipping(
        tolerance_ratio=tolerance_ratio,
        window_ps=window_ps,
        step_ps=window_ps,
        limit_ps=limit_ps,
        look_hops=LOOK_HOPS + LOOK_HOPS_A_LINK * len(state.links),
        budget_hops=MOST_LOOKING_RATIO * full_hops,
        real=schedule.real,
        fabric_links=schedule.fabric_links,
        live=_by_connection(state, np.flatnonzero(state.flows.waits_for == 0)),
        taken_bytes=np.zeros(len(state.flows), np.int64),
    )


def _full_hops(state: State, schedule: Schedule, paths: Paths, limit_ps: int) -> float:
    """Return the packet-hops of a run until its limit, at most those of the line rate."""
    settings, flows = state.settings[0], schedule.flows
    sizes = np.where(schedule.real, flows.size_bytes, 0)
    packets = -(-sizes // int(settings.mtu_bytes))
    shortest_ps = np.bincount(flows.source, sizes).max() * float(settings.line_ps_per_byte)
    return float((packets * paths.links).sum() * min(1.0, limit_ps / max(1.0, shortest_ps)))


def _window(state: State, longest_ps: float) -> int:
    """Return the time of whole packets, at least that to a receiver and back."""
    settings = state.settings[0]
    frame = int(settings.mtu_bytes + settings.header_bytes)
    packet_ps = round(frame * float(settings.line_ps_per_byte))
    return packet_ps * max(WINDOW_PACKETS, int(np.ceil(2 * longest_ps / packet_ps)))


def _by_connection(state: State, flows: Ints) -> Ints:
    """Sort flows so that those of the next round have the places of those of this one."""
    rows: Any = state.flows
    return flows[np.lexsort((rows.target[flows], rows.source[flows], rows.hash[flows]))]


def _successors(state: State, flows: Ints) -> Ints:
    first = state.successor_start[flows].astype(np.int64)
    counts = state.successor_start[flows + 1] - first
    offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.unique(state.successors[np.repeat(first, counts) + offsets]).astype(np.int64)


def _chain(rows: Any, row: int) -> list[int]:  # noqa: ANN401 - a table
    """Follow a list through its table."""
    found = []
    while row >= 0:
        found.append(row)
        row = int(rows.next[row])
    return found


def _waiting(state: State) -> list[tuple[int, int]]:
    """Return hosts and the flows that wait there for their time."""
    heads: Any = state.hosts.waiting_head
    return [
        (host, flow)
        for host in np.flatnonzero(heads >= 0).tolist()
        for flow in _chain(state.flows, int(heads[host]))
    ]


def _delays(state: State, first: int) -> list[tuple[int, int]]:
    """Return delay lines and what is on them."""
    heads: Any = state.links.wire_head[first : int(state.settings[0].links)]
    return [
        (first + line, packet)
        for line in np.flatnonzero(heads >= 0).tolist()
        for packet in _chain(state.packets, int(heads[line]))
    ]


def _come_earlier(state: State, first: int, by_ps: int) -> None:
    """Let what waits for a time of its own come earlier."""
    for host, flow in _waiting(state):
        state.flows.begin[flow] -= by_ps
        if flow == state.hosts.waiting_head[host]:
            link = int(state.hosts.uplink[host])
            _move(state, link, int(Event.TIMER), int(state.flows.begin[flow]))
    for link, packet in _delays(state, first):
        state.packets.time[packet] -= by_ps
        if packet == state.links.wire_head[link]:
            _move(state, link, int(Event.ARRIVE), int(state.packets.time[packet]))


def _move(state: State, link: int, kind: int, time: int) -> None:
    """Give a leaf of the tree of events another time."""
    tree = state.tree
    place = int(state.links.place[link, kind])
    tree[place] = (time << LEAF_BITS) | (link * 4 + kind)
    while place > 1:
        place >>= 2
        tree[place] = tree[4 * place : 4 * place + 4].min()

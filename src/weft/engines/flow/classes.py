"""Traffic classes: every link shares its rate among classes first, then within each of them.

Classes of a higher priority take what they can use; those of one priority share what is left by
weight, and what a class leaves goes to the others. For a link of rate C, with D the most that
the flows of a class k can use of it and W its weight::

    sum over k of min(D_k, W_k x) = C           the class is limited here where D_k > W_k x
    sum over its flows of w min(s_k, d) = W_k x

where s is the level of a class on the link, w what a flow takes of it per unit of its rate, and
d the lowest level on the rest of its path (generalised processor sharing between classes
[Parekh & Gallager 1993], max-min fairness within [Bertsekas & Gallager 1992]; ETS of IEEE
802.1Q, DWRR with strict priority). Weights of flows cannot stand in for it: what a flow weighs
depends on the link, and on who sends there at the moment.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from weft.engines.flow.solver import SLACK_RATIO, Ends, Floats, Flows, Ints, Uses
from weft.errors import Infeasible
from weft.kernel import Table, entry, inner, table

SAME: Final = 1e-10
"""Relative change of a level that is rounding."""
MOST_SOLVED: Final = 10_000
"""Times that each link is solved for at one event before levels are said not to settle."""
INFINITE: Final = np.inf

LANE = np.dtype(
    [
        ("level", "f8"),
        ("new", "f8"),
        ("wanted", "f8"),  # what its flows can use
        ("share", "f8"),  # what the link gives it, where that is less
        ("limited", "i8"),
    ],
    align=True,
)
"""By link and class."""
COUNTS = np.dtype(
    [
        ("links", "i8"),
        ("flows", "i8"),
        ("classes", "i8"),
        ("queued", "i8"),
        ("head", "i8"),
        ("solved", "i8"),
    ],
    align=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The class of every flow, and by class its weight and its priority."""

    of_flow: Ints
    weight: Floats
    priority: Ints
    """Classes of a higher priority always go first."""


class _Tables(NamedTuple):
    counts: Table
    lanes: Table
    """By link and class: link * classes + class."""
    bytes_per_s: npt.NDArray[np.float64]
    first_use: npt.NDArray[np.int64]
    """By link: its first use; one more ends them."""
    use_flow: npt.NDArray[np.int64]
    use_weight: npt.NDArray[np.float64]
    first_hop: npt.NDArray[np.int64]
    """By flow: its first hop; one more ends them."""
    hop_link: npt.NDArray[np.int64]
    sends: npt.NDArray[np.int64]
    """By flow: whether it sends now."""
    rate: npt.NDArray[np.float64]
    """By flow; 0 where it does not send."""
    of_flow: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]
    priority: npt.NDArray[np.int64]
    turn: npt.NDArray[np.int64]
    """Classes, those of the highest priority first."""
    queue: npt.NDArray[np.int64]
    """Links to be solved again; a ring."""
    is_queued: npt.NDArray[np.int64]


class _State(_Tables):
    """All tables of one problem."""

    __slots__ = ()
    TITLE = "the flow solver with classes"


@inner
def _limit(state, flow_id, link_id):
    """Return the lowest level on the path of a flow beside one link, if that is on it."""
    classes = state.counts[0].classes
    lowest = INFINITE
    for hop in range(state.first_hop[flow_id], state.first_hop[flow_id + 1]):
        other_id = state.hop_link[hop]
        if other_id != link_id:
            lane = state.lanes[other_id * classes + state.of_flow[flow_id]]
            lowest = min(lowest, lane.level)
    return lowest


@inner
def _want(state, link_id):
    """Find what every class can use of a link."""
    first = link_id * state.counts[0].classes
    for number in range(state.counts[0].classes):
        lane = state.lanes[first + number]
        lane.wanted = 0.0
        lane.limited = 0
        lane.new = INFINITE
    for place in range(state.first_use[link_id], state.first_use[link_id + 1]):
        flow_id = state.use_flow[place]
        if state.sends[flow_id] == 1:
            lane = state.lanes[first + state.of_flow[flow_id]]
            lane.wanted += state.use_weight[place] * _limit(state, flow_id, link_id)


@inner
def _divide(state, link_id):
    """Divide a link among its classes, priority by priority."""
    counts = state.counts[0]
    left = state.bytes_per_s[link_id]
    begin = np.int64(0)
    while begin < counts.classes:
        end = begin
        priority = state.priority[state.turn[begin]]
        while end < counts.classes and state.priority[state.turn[end]] == priority:
            end += 1
        left = _divide_by_weight(state, link_id, begin, end, left)
        begin = end


@inner
def _divide_by_weight(state, link_id, begin, end, left):
    """Divide what is left among classes of one priority; return what they leave."""
    first = link_id * state.counts[0].classes
    weight = 0.0
    for place in range(begin, end):
        lane = state.lanes[first + state.turn[place]]
        if lane.wanted > 0.0:
            lane.limited = 1
            weight += state.weight[state.turn[place]]
    again = True
    while again:
        again = False
        fair = left / weight if weight > 0.0 else 0.0
        for place in range(begin, end):
            number = state.turn[place]
            lane = state.lanes[first + number]
            lane.share = fair * state.weight[number]
            if lane.limited == 1 and lane.wanted < lane.share * (1 - 1e-12):
                lane.limited = 0
                left -= lane.wanted
                weight -= state.weight[number]
                again = True
                break
    for place in range(begin, end):
        if state.lanes[first + state.turn[place]].limited == 1:
            return 0.0
    return max(left, 0.0)


@inner
def _lift(state, link_id, number):
    """Return the level of a class that is limited: lifted until nobody below it is."""
    lane = state.lanes[link_id * state.counts[0].classes + number]
    level = 0.0
    while True:
        left = lane.share
        here = 0.0
        for place in range(state.first_use[link_id], state.first_use[link_id + 1]):
            flow_id = state.use_flow[place]
            if state.sends[flow_id] == 0 or state.of_flow[flow_id] != number:
                continue
            limit = _limit(state, flow_id, link_id)
            if limit < level:
                left -= state.use_weight[place] * limit
            else:
                here += state.use_weight[place]
        if here <= 0.0:
            return level
        lifted = left / here
        if lifted <= level * (1 + 1e-13):
            return level
        level = lifted


@inner
def _queue(state, link_id):
    if state.is_queued[link_id] == 0:
        counts = state.counts[0]
        state.is_queued[link_id] = 1
        state.queue[counts.queued % counts.links] = link_id
        counts.queued += 1


@inner
def _pass_on(state, link_id, number):
    """Queue the other links of the flows of a class whose level has changed on a link."""
    for place in range(state.first_use[link_id], state.first_use[link_id + 1]):
        flow_id = state.use_flow[place]
        if state.sends[flow_id] == 0 or state.of_flow[flow_id] != number:
            continue
        for hop in range(state.first_hop[flow_id], state.first_hop[flow_id + 1]):
            if state.hop_link[hop] != link_id:
                _queue(state, state.hop_link[hop])


@entry
def _settle(state, most_solved):
    """Solve links until no level changes, and find all rates; return whether that ended."""
    counts = state.counts[0]
    stop = counts.solved + most_solved
    while counts.head != counts.queued:
        if counts.solved >= stop:
            return False
        link_id = state.queue[counts.head % counts.links]
        counts.head += 1
        counts.solved += 1
        state.is_queued[link_id] = 0
        _want(state, link_id)
        _divide(state, link_id)
        for number in range(counts.classes):
            lane = state.lanes[link_id * counts.classes + number]
            if lane.limited == 1:
                lane.new = _lift(state, link_id, number)
            old = lane.level
            if lane.new == old or abs(lane.new - old) <= SAME * min(lane.new, old):
                continue
            lane.level = lane.new
            _pass_on(state, link_id, number)
    for flow_id in range(counts.flows):
        state.rate[flow_id] = 0.0
        if state.sends[flow_id] == 1:
            state.rate[flow_id] = _limit(state, flow_id, -1)
    return True


def rates_by_class(bytes_per_s: Floats, uses: Uses, classes: Classes) -> Floats:
    """Return the rate of every flow, in bytes per second, where all of them send.

    Flows without links have an infinite rate. Raises Infeasible where levels do not settle.
    """
    state = _state(bytes_per_s, uses, classes)
    state.sends[:] = 1
    return _rates(state, np.arange(len(bytes_per_s)))


def complete_by_class(
    bytes_per_s: Floats, flows: Flows, classes: Classes, *, until_s: float = np.inf
) -> tuple[Ends, Floats]:
    """Send all flows; return when they arrive, and the bytes that are left of each.

    Raises Infeasible where flows wait for one another in a circle.
    """
    course = _Course(bytes_per_s, flows, classes)
    while course.happens_before(until_s):
        course.step()
    course.stop_at(until_s)
    return course.ends(until_s), course.left


class _Course:
    """Flows from event to event."""

    def __init__(self, bytes_per_s: Floats, flows: Flows, classes: Classes) -> None:
        count = len(flows.size_bytes)
        self.uses, self.state = flows.uses, _state(bytes_per_s, flows.uses, classes)
        begin_s = np.zeros(count) if flows.begin_s is None else flows.begin_s
        self.delay_s = np.zeros(count) if flows.delay_s is None else flows.delay_s
        pairs = np.zeros((0, 2), np.int64) if flows.predecessor is None else flows.predecessor
        self.after = pairs[np.argsort(pairs[:, 0], kind="stable")]
        self.first_after = np.searchsorted(self.after[:, 0], np.arange(count + 1))
        self.waits = np.bincount(pairs[:, 1], minlength=count)
        self.earliest_s = begin_s.astype(float)
        self.left = flows.size_bytes.astype(float)
        self.rate = np.zeros(count)
        self.event_s = np.where(self.waits == 0, begin_s, np.inf)
        """By flow: when it begins, has sent all, or arrives."""
        self.begin_s, self.end_s = np.full(count, -1.0), np.full(count, -1.0)
        self.arriving = np.zeros(count, bool)
        self.now_s, self.events = 0.0, 0

    def happens_before(self, until_s: float) -> bool:
        """Whether anything more happens by a time."""
        then = self.event_s.min(initial=np.inf)
        return bool(np.isfinite(then) and then <= until_s)

    def step(self) -> None:
        """Let all happen that happens now, then find the rates that follow."""
        self.events += 1
        self._go_to(float(self.event_s.min()))
        changed: list[Ints] = []
        while (now := np.flatnonzero(self.event_s <= self.now_s * (1 + SLACK_RATIO))).size:
            sending = self.state.sends[now] == 1
            changed.append(self._sent(now[sending]))
            arrived = now[self.arriving[now] & ~sending]
            changed.append(self._begin(now[~sending & ~self.arriving[now]]))
            self._arrive(arrived)
        sends = np.flatnonzero(self.state.sends)
        links = np.unique(np.concatenate(changed))
        self.rate = _rates(self.state, links)
        with np.errstate(divide="ignore"):
            self.event_s[sends] = self.now_s + self.left[sends] / self.rate[sends]

    def _go_to(self, time_s: float) -> None:
        self.left = np.maximum(0.0, self.left - self.rate * (time_s - self.now_s))
        self.now_s = time_s

    def stop_at(self, until_s: float) -> None:
        """Count what is sent by a time after the last event."""
        if np.isfinite(until_s) and until_s > self.now_s:
            self._go_to(until_s)

    def _links_of(self, flows: Ints) -> Ints:
        start = self.uses.start
        none = np.zeros(0, np.int64)
        return np.concatenate(
            [none, *(self.uses.links[start[flow] : start[flow + 1]] for flow in flows)]
        )

    def _sent(self, flows: Ints) -> Ints:
        """Take flows that have sent all off their links, which are returned."""
        self.state.sends[flows] = 0
        self.left[flows] = 0.0
        self._travel(flows)
        return self._links_of(flows)

    def _begin(self, flows: Ints) -> Ints:
        """Let flows send; one without links, or without bytes, is on its way at once."""
        self.begin_s[flows] = self.now_s
        hops = self.uses.start[flows + 1] - self.uses.start[flows]
        at_once = (hops == 0) | (self.left[flows] <= 0)
        self.left[flows[at_once]] = 0.0
        self._travel(flows[at_once])
        self.state.sends[flows[~at_once]] = 1
        self.event_s[flows[~at_once]] = np.inf
        return self._links_of(flows[~at_once])

    def _travel(self, flows: Ints) -> None:
        self.arriving[flows] = True
        self.event_s[flows] = self.now_s + self.delay_s[flows]

    def _arrive(self, flows: Ints) -> None:
        """End flows, and let those begin that waited for them alone."""
        self.end_s[flows] = self.now_s
        self.arriving[flows] = False
        self.event_s[flows] = np.inf
        for flow in flows:
            follow = self.after[self.first_after[flow] : self.first_after[flow + 1], 1]
            self.waits[follow] -= 1
            free = follow[self.waits[follow] == 0]
            self.event_s[free] = np.maximum(self.earliest_s[free], self.now_s)

    def ends(self, until_s: float) -> Ends:
        """Return what happened; raise Infeasible where flows never begin."""
        missing = int((self.end_s < 0).sum())
        if missing and not np.isfinite(until_s):
            raise Infeasible(
                f"{missing} of {len(self.end_s)} flows never begin: they wait for one another "
                "in a circle; check what each waits for"
            )
        return Ends(
            begin_s=self.begin_s, end_s=self.end_s, now_s=self.now_s, events=self.events,
            evaluations=int(self.state.counts[0].solved),
        )  # fmt: skip


def _rates(state: _State, changed: Ints) -> Floats:
    """Settle all levels after a change of some links; return the rate of every flow."""
    counts = state.counts[0]
    state.queue[: len(changed)] = changed
    state.is_queued[changed] = 1
    counts.head, counts.queued = 0, len(changed)
    if not _settle(state, MOST_SOLVED * counts.links):
        raise Infeasible("rates by class do not settle; use --fidelity packet")
    return state.rate.copy()


def _state(bytes_per_s: Floats, uses: Uses, classes: Classes) -> _State:
    links, count = len(bytes_per_s), len(classes.weight)
    order = np.argsort(uses.links, kind="stable")
    owner = np.repeat(np.arange(len(uses.start) - 1), np.diff(uses.start))
    weight = np.ones(len(uses.links)) if uses.weight is None else uses.weight
    counts, lanes = table(1, COUNTS), table(max(1, links * count), LANE)
    flows = len(uses.start) - 1
    counts.links, counts.flows, counts.classes = max(1, links), flows, count
    lanes.level = np.inf
    return _State(
        counts=counts, lanes=lanes, bytes_per_s=np.array(bytes_per_s, float),
        first_use=np.searchsorted(uses.links[order], np.arange(links + 1)).astype(np.int64),
        use_flow=owner[order].astype(np.int64), use_weight=np.array(weight[order], float),
        first_hop=uses.start.astype(np.int64), hop_link=uses.links.astype(np.int64),
        sends=np.zeros(flows, np.int64), rate=np.zeros(flows),
        of_flow=classes.of_flow.astype(np.int64), weight=np.array(classes.weight, float),
        priority=classes.priority.astype(np.int64),
        turn=np.argsort(-classes.priority, kind="stable").astype(np.int64),
        queue=np.zeros(max(1, links), np.int64), is_queued=np.zeros(max(1, links), np.int64),
    )  # fmt: skip

"""The door from Python: rates of flows that share links, and the times at which they end."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weft.engines.flow.tables import COUNTS, FLOW, HOP, LEVEL, LIMIT, LINK, PATH, USE, State
from weft.engines.flow.timeline import fill_rates, run
from weft.engines.flow.tree import make_tree
from weft.errors import Infeasible, SpecError
from weft.kernel import Table, table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
SLACK_RATIO = 1e-9
"""Events so close to each other, relative to their time, differ by rounding alone."""
FOREVER_EVENTS = (1 << 62) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Which links flows use: flow f takes links[start[f]:start[f + 1]], none of them twice."""

    start: Ints
    links: Ints
    weight: Floats | None = None
    """By use: bytes on the link per byte of the flow; none: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """What is to be sent over some uses of links."""

    uses: Uses
    size_bytes: Floats
    begin_s: Floats | None = None
    """Earliest begin; none: 0."""
    delay_s: Floats | None = None
    """From the last byte sent to its arrival; none: 0."""
    predecessor: Ints | None = None
    """Rows of (before, after): the second begins when the first has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """When flows began and arrived, in seconds; -1 where that had not happened at the limit."""

    begin_s: Floats
    end_s: Floats
    now_s: float
    events: int
    evaluations: int
    """Links whose level was solved for, all events together."""


def max_min_rates(bytes_per_s: Floats, uses: Uses) -> Floats:
    """Return the max-min fair rate of every flow, in bytes per second.

    A flow of weight w on a link takes w times its rate there. Flows without links have an
    infinite rate.
    """
    flows = len(uses.start) - 1
    state = make_state(bytes_per_s, Flows(uses=uses, size_bytes=np.ones(flows)))
    fill_rates(state)
    return np.array(state.paths.low)


def complete(bytes_per_s: Floats, flows: Flows, *, until_s: float = np.inf) -> Ends:
    """Send all flows, each at its max-min fair rate at any time; return when they arrive.

    Raises Infeasible where flows wait for one another in a circle.
    """
    state = make_state(bytes_per_s, flows)
    run(state, until_s, FOREVER_EVENTS)
    return ends_of(state, until_s)


def ends_of(state: State, until_s: float = np.inf) -> Ends:
    """Read what has happened."""
    counts = state.counts[0]
    if counts.left and not np.isfinite(until_s):
        raise Infeasible(
            f"{int(counts.left)} of {len(state.flows)} flows never begin: they wait for one "
            "another in a circle; check what each waits for"
        )
    begun = (state.flows.waits <= 0) & (state.flows.doing > 0)
    return Ends(
        begin_s=np.where(begun, state.flows.begin_s, -1.0),
        end_s=np.array(state.flows.end_s),
        now_s=float(counts.now_s),
        events=int(counts.events),
        evaluations=int(counts.evaluations),
    )


def make_state(bytes_per_s: Floats, flows: Flows) -> State:
    """Lay out the tables of a simulation; raise SpecError where they do not fit together."""
    count, links, uses = len(flows.size_bytes), len(bytes_per_s), flows.uses
    _check(bytes_per_s, flows)
    degree = np.bincount(uses.links, minlength=links)
    pairs = np.zeros((0, 2), np.int64) if flows.predecessor is None else flows.predecessor
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    rows = _flow_rows(flows, pairs)
    tree = make_tree(np.where(rows.waits == 0, rows.begin_s, np.inf))
    return State(
        links=_link_rows(bytes_per_s, degree),
        levels=table(max(1, links), LEVEL),
        uses=table(max(1, len(uses.links)), USE),
        hops=_hop_rows(uses),
        paths=_path_rows(uses),
        flows=rows,
        followers=np.ascontiguousarray(pairs[:, 1], np.int64),
        tree=tree,
        queue=np.zeros(_power(links), np.int64),
        touched=np.zeros(max(1, count), np.int64),
        limits=table(int(degree.max(initial=0)) + 1, LIMIT),
        counts=_count_row(count, links, len(tree) // 2),
    )


def _link_rows(bytes_per_s: Floats, degree: Ints) -> Table:
    rows = table(max(1, len(degree)), LINK)
    rows.bytes_per_s[: len(degree)] = bytes_per_s
    rows.first[: len(degree)] = np.cumsum(degree) - degree
    return rows


def _hop_rows(uses: Uses) -> Table:
    rows = table(max(1, len(uses.links)), HOP)
    rows.link[: len(uses.links)] = uses.links
    rows.weight[: len(uses.links)] = 1.0 if uses.weight is None else uses.weight
    return rows


def _path_rows(uses: Uses) -> Table:
    rows = table(len(uses.start) - 1, PATH)
    rows.first = uses.start[:-1]
    rows.hops = np.diff(uses.start)
    return rows


def _flow_rows(flows: Flows, pairs: Ints) -> Table:
    count = len(flows.size_bytes)
    rows = table(count, FLOW)
    rows.left_bytes = flows.size_bytes
    rows.begin_s = 0.0 if flows.begin_s is None else flows.begin_s
    rows.delay_s = 0.0 if flows.delay_s is None else flows.delay_s
    rows.waits = np.bincount(pairs[:, 1], minlength=count)
    rows.followers = np.bincount(pairs[:, 0], minlength=count)
    rows.after = np.cumsum(rows.followers) - rows.followers
    rows.end_s = -1
    return rows


def _count_row(flows: int, links: int, first_leaf: int) -> Table:
    row = table(1, COUNTS)
    row.flows, row.links, row.left = flows, links, flows
    row.first_leaf = first_leaf
    row.slack_ratio = SLACK_RATIO
    row.last_in_queue = _power(links) - 1
    return row


def _check(bytes_per_s: Floats, flows: Flows) -> None:
    uses, count = flows.uses, len(flows.size_bytes)
    if len(uses.start) != count + 1:
        raise SpecError(f"{len(uses.start)} starts of paths for {count} flows; give one more")
    if not (bytes_per_s > 0).all() or not np.isfinite(bytes_per_s).all():
        link = int(np.flatnonzero(~(bytes_per_s > 0) | ~np.isfinite(bytes_per_s))[0])
        raise SpecError(
            f"link {link}: rate {bytes_per_s[link]} B/s: a rate is finite and above 0; leave "
            "a link that is down out of all paths"
        )
    if len(uses.links) and not 0 <= uses.links.min() <= uses.links.max() < len(bytes_per_s):
        raise SpecError(f"a path names a link that is none of the {len(bytes_per_s)}")
    if not (flows.size_bytes >= 0).all():
        raise SpecError("a flow has a negative size")


def _power(count: int) -> int:
    """Return the power of two that is not below a count, at least 2."""
    return 1 << max(1, (count - 1).bit_length())

"""One seed of a scenario as flows: the sends of the packet engine, each at its fair rate.

The schedule is that of the packet engine (sends, what each waits for, delays inside hosts), on
the same links and, with ECMP, on the same paths. A send carries its headers. Sends that
switches reduce move at the rate of the slowest: their tree is one flow on all its links.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from weft.engines.flow import routes as spreading
from weft.engines.flow import solver
from weft.engines.flow.classes import Classes, complete_by_class
from weft.engines.flow.flowlets import Followed, Pacing, follow
from weft.engines.flow.tables import State
from weft.engines.flow.timeline import run
from weft.engines.packet.paths import ideal_ps, paths_of, split, traced
from weft.engines.packet.schedules import Fabric, Schedule
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options, Outcome, Relay, hashes_of
from weft.engines.packet.static_routes import routes_of
from weft.engines.packet.tables import LINK, PAUSE, Stop
from weft.engines.packet.wiring import Routes
from weft.errors import SpecError
from weft.kernel import table
from weft.network.detour import DETOURS
from weft.network.network import resolve
from weft.network.routing import Demands, pools
from weft.network.topology import Mesh
from weft.spec.scenario import Scenario
from weft.spec.settings import ClassSettings

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_DRAW: Final = 1 << 20
"""Between the seeds of two draws of paths, so that those of two runs differ."""
UNSEEN: Final = (
    "every flow has its max-min fair rate at once: queues, pauses, congestion control, loss, "
    "reordering and limits of NICs are not seen; --fidelity packet has them"
)

CLASSES: Final = (
    "traffic classes share links by priority and weight alone; buffers, pauses, marks and "
    "load balancing of a class of its own are not seen"
)


def unseen(scenario: Scenario) -> tuple[str, ...]:
    """Say what a scenario sets that flows do not see; raise SpecError where nothing is left."""
    if scenario.stuck:
        raise SpecError(
            "stuck: receivers that stop pause their leaf, and flows know no pauses; use "
            "--fidelity packet"
        )
    classes = (CLASSES,)
    moving = scenario.network.balancing == "flowlet"
    if moving and scenario.network.classes:
        raise SpecError(
            "network.classes: flows know no flowlets beside classes; use --fidelity packet"
        )
    skips = ("skip_ratio has no effect: flows take a moment as they are",)
    return (
        UNSEEN,
        *(classes if scenario.network.classes else ()),
        *(skips if scenario.skip_ratio is not None else ()),
    )


def shortest(scenario: Scenario) -> Scenario:
    """Return a scenario whose detours, which packets refuse, are left to ``flow_options``."""
    network, mode = scenario.network, resolve(scenario.cluster).balancing
    if network.balancing is not None or mode not in DETOURS:
        return scenario
    return scenario.with_(network=network.with_(balancing="adaptive"))


def flow_options(scenario: Scenario, seed: int) -> Options:
    """Return what flows heed of the settings of a scenario, which may take detours."""
    near = shortest(scenario)
    options = replace(options_of(near, seed), classes=())
    if near is scenario:
        return options
    return replace(options, balancing=resolve(scenario.cluster).balancing)


def flowed(
    schedule: Schedule,
    fabric: Fabric,
    options: Options,
    *,
    until_s: float,
    classes: Sequence[ClassSettings] = (),
    held: Ints | None = None,
) -> Outcome:
    """Return what happens to the flows of a schedule; ``held`` are those that never begin."""
    wiring, flows = schedule.wiring, schedule.flows
    routes = routes_of(schedule, fabric)
    taken = traced(wiring, routes, flows, hashes_of(wiring, flows, options.seed))
    alone_s = ideal_ps(paths_of(wiring, routes, flows, taken), flows, options) / PS_PER_S
    packets = -(-flows.size_bytes // options.payload_bytes)
    size = np.where(schedule.real, flows.size_bytes + packets * options.header_bytes, 0.0)
    slowest = np.where(taken >= 0, wiring.bytes_per_s[taken], np.inf).min(axis=1)
    latency_s = np.maximum(0.0, alone_s - size / slowest)
    team = _teams(len(size), flows.relays)
    pacing = pacing_of(fabric, options)
    balancing = "spray" if pacing is not None and pacing.sprays else options.balancing
    if balancing in DETOURS:
        used = _detoured(schedule, fabric, taken, balancing, options.seed)
    else:
        used = _used(schedule, fabric, routes, taken, balancing)
    work = _work(schedule, used.uses, team, size, latency_s, held=held)
    by_class = _by_class(schedule, team, classes)
    if by_class is not None:
        found = _in_classes(used, work, by_class, until_s)
    elif pacing is None or pacing.sprays:
        found = _at_once(used, work, until_s)
    else:
        paths = _Paths(schedule, fabric, options, routes=routes, taken=taken, team=team)
        found = follow(
            used.bytes_per_s, work, paths.move, moves_below=paths.limits(pacing),
            dwell_s=pacing.dwell_s, until_s=until_s,
        )  # fmt: skip
    ends = found.ends
    sent = 1 - found.left_bytes / np.maximum(1.0, work.size_bytes)
    got = np.where(ends.begin_s < 0, 0.0, sent)[team]
    rows = table(len(wiring.source), LINK)
    rows.sent_bytes[:] = np.rint(used.of_links(found.carried_bytes))
    return Outcome(
        stopped=Stop.DONE if (ends.end_s >= 0).all() else Stop.UNTIL,
        begin_ps=_picoseconds(ends.begin_s)[team], end_ps=_picoseconds(ends.end_s)[team],
        received_bytes=np.rint(flows.size_bytes * got).astype(np.int64),
        counts={"rate_changes": ends.events, "links_solved": ends.evaluations},
        links=rows, pauses=table(0, PAUSE), now_ps=round(min(ends.now_s, until_s) * PS_PER_S),
        deadlock=(),
    )  # fmt: skip


def pacing_of(fabric: Fabric, options: Options) -> Pacing | None:
    """Return how senders pace, where switches balance by flowlets; none elsewhere."""
    if options.balancing != "flowlet":
        return None
    burst = resolve(fabric.cluster).fabric.burst_bytes
    return Pacing(
        gap_s=options.flowlet_gap_ps / PS_PER_S,
        burst_bytes=0.0 if burst is None else burst.value,
        packet_bytes=options.payload_bytes + options.header_bytes,
        line_bytes_per_s=float(fabric.wiring.bytes_per_s.max()),
    )


def _at_once(used: "_Used", work: solver.Flows, until_s: float) -> Followed:
    """Send flows whose paths stay."""
    state = solver.make_state(used.bytes_per_s, work)
    run(state, until_s, solver.FOREVER_EVENTS)
    return _counted(used, work, solver.ends_of(state, until_s), _left(state, work))


def _in_classes(
    used: "_Used", work: solver.Flows, classes: Classes, until_s: float
) -> Followed:
    """Send flows of several classes."""
    return _counted(
        used, work, *complete_by_class(used.bytes_per_s, work, classes, until_s=until_s)
    )


def _by_class(
    schedule: Schedule, team: Ints, classes: Sequence[ClassSettings]
) -> Classes | None:
    """Return the class of every team; none where all are of one."""
    number = schedule.flows.traffic_class
    if number is None or len(np.unique(number[schedule.real])) < 2:  # noqa: PLR2004 - one class shares with none
        return None
    of_team = np.zeros(int(team.max()) + 1, np.int64)
    of_team[team] = number
    return Classes(
        of_flow=of_team, weight=np.array([settings.weight for settings in classes]),
        priority=np.array([settings.priority for settings in classes]),
    )  # fmt: skip


def _counted(used: "_Used", work: solver.Flows, ends: solver.Ends, left: Floats) -> Followed:
    """Return what happened with the bytes that every link has carried."""
    left = np.where(ends.begin_s < 0, work.size_bytes, left)
    uses = work.uses
    each = np.repeat(work.size_bytes - left, np.diff(uses.start))
    each = each if uses.weight is None else each * uses.weight
    carried = np.bincount(uses.links, each, len(used.bytes_per_s)).astype(float)
    return Followed(ends=ends, left_bytes=left, carried_bytes=carried)


@dataclass(slots=True)
class _Paths:
    """Paths of flows that draw others, by another hash; what switches reduce keeps its tree."""

    schedule: Schedule
    fabric: Fabric
    options: Options
    routes: Routes = field(kw_only=True)
    taken: Ints = field(kw_only=True)
    team: Ints = field(kw_only=True)
    draws: int = 0

    def limits(self, pacing: Pacing) -> Floats:
        """Return the rate below which each team moves."""
        return np.where(np.bincount(self.team) > 1, 0.0, pacing.moves_below_bytes_per_s)

    def move(self, slow: Ints) -> solver.Uses:
        """Draw other paths for some teams; return the uses of all."""
        schedule, flows = self.schedule, self.schedule.flows
        self.draws += 1
        hashes = hashes_of(schedule.wiring, flows, self.options.seed + self.draws * _DRAW)
        moved = np.isin(self.team, slow)
        self.taken[moved] = traced(schedule.wiring, self.routes, flows, hashes)[moved]
        balancing = self.options.balancing
        used = _used(schedule, self.fabric, self.routes, self.taken, balancing)
        return spreading.coupled(used.uses, self.team, np.ones(len(self.team)))


def _picoseconds(time_s: Floats) -> Ints:
    """Return times as packets count them; -1 where there is none."""
    return np.where(time_s < 0, -1, np.rint(time_s * PS_PER_S)).astype(np.int64)


def _left(state: State, work: solver.Flows) -> Floats:
    """Return what of every flow is not yet sent, as of its last event."""
    return np.array(state.flows.left_bytes[: len(work.size_bytes)])


def _work(
    schedule: Schedule, uses: solver.Uses, team: Ints, size: Floats, latency_s: Floats,
    *, held: Ints | None,
) -> solver.Flows:  # fmt: skip
    """Return the flows of a schedule for the solver, a tree of relays as one."""
    flows = schedule.flows
    teams = int(team.max(initial=-1)) + 1
    begin = np.zeros(len(size)) if flows.begin_ps is None else flows.begin_ps / PS_PER_S
    pairs = np.zeros((0, 2), np.int64) if flows.predecessor is None else flows.predecessor
    return solver.Flows(
        uses=spreading.coupled(uses, team, np.ones(len(size))),
        size_bytes=_most(team, teams, size),
        begin_s=_most(team, teams, begin),
        delay_s=_most(team, teams, _through(latency_s, flows.relays)),
        predecessor=_between(team, pairs, held),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Used:
    """What flows use: links, or sets of links that balancing loads evenly."""

    uses: solver.Uses
    pool: Ints
    """By link: its set; a set of its own where a hash or a split chooses."""
    alive_bytes_per_s: Floats
    """By link; 0 where it is down."""
    bytes_per_s: Floats
    """By set: what its links have together."""

    def of_links(self, loads: Floats) -> Floats:
        """Return the bytes of every link: its share of those of its set, by its rate."""
        return np.asarray((loads / self.bytes_per_s)[self.pool] * self.alive_bytes_per_s)


def _used(
    schedule: Schedule, fabric: Fabric, routes: Routes, taken: Ints, balancing: str
) -> _Used:
    """Return the links of every flow; delay lines are none that anybody shares.

    Where packets are spread, a leaf's uplinks are one set while all links have one rate. Where
    some are slower or down, or groups are joined directly, every switch splits evenly: it
    does not know what lies behind.
    """
    wiring = schedule.wiring
    alive = wiring.bytes_per_s.copy()
    alive[list(wiring.down)] = 0.0
    pool, weight = np.arange(len(alive)), None
    if balancing not in spreading.SPREAD:
        on = (taken >= 0) & schedule.real[:, None]
        flow, links = np.nonzero(on)[0], taken[on]
    elif _is_even(fabric):
        first = pools(fabric.graph)
        pool = np.concatenate([first, first.max() + 1 + np.arange(len(alive) - len(first))])
        on = (taken >= 0) & schedule.real[:, None]
        flow, links = np.nonzero(on)[0], pool[taken[on]]
    else:
        flow, links, weight = split(wiring, routes, schedule.flows)
        order = np.lexsort((links, flow))
        order = order[schedule.real[flow[order]]]
        flow, links, weight = flow[order], links[order], weight[order]
    start = np.searchsorted(flow, np.arange(len(schedule.real) + 1))
    rates = np.bincount(pool, weights=alive)
    return _Used(
        uses=solver.Uses(start=start, links=links, weight=weight), pool=pool,
        # A set of rate 0 is on no path; the solver wants rates above 0 everywhere.
        alive_bytes_per_s=alive, bytes_per_s=np.maximum(rates, 1.0),
    )  # fmt: skip


def _detoured(
    schedule: Schedule, fabric: Fabric, taken: Ints, balancing: str, seed: int
) -> _Used:
    """Return what flows use that go over other groups of a dragonfly+, too.

    Paths are chosen for all traffic at once, by its bytes, whenever it is sent; what lies
    between a port and its host, or beside the network, is used as without detours.
    """
    graph, links = fabric.graph, fabric.graph.links
    wiring, flows = schedule.wiring, schedule.flows
    alive = wiring.bytes_per_s.copy()
    alive[list(wiring.down)] = 0.0
    first = pools(graph)
    pool = np.concatenate([first, first.max() + 1 + np.arange(len(alive) - links)])
    crosses = schedule.real & (taken < links).any(axis=1) & (taken >= 0).any(axis=1)
    number = np.flatnonzero(crosses)
    ends = [ndarray[number] // fabric.lanes for ndarray in (flows.source, flows.target)]
    asked = Demands(
        source=ends[0] // fabric.planes, target=ends[1] // fabric.planes,
        size_bytes=flows.size_bytes[number].astype(float), plane=ends[0] % fabric.planes,
    )  # fmt: skip
    ratio = alive[:links] / graph.rate_bytes_per_s
    found = spreading.routed(graph, asked, balancing, seed=seed, ratio=ratio).uses
    other = (taken >= links) & schedule.real[:, None]
    flow = np.concatenate([np.repeat(number, np.diff(found.start)), np.nonzero(other)[0]])
    weight = np.ones(len(found.links)) if found.weight is None else found.weight
    used = np.concatenate([found.links, pool[taken[other]]])
    weight = np.concatenate([weight, np.ones(int(other.sum()))])
    order = np.lexsort((used, flow))
    start = np.searchsorted(flow[order], np.arange(len(schedule.real) + 1))
    return _Used(
        uses=solver.Uses(start=start, links=used[order], weight=weight[order]), pool=pool,
        alive_bytes_per_s=alive,
        bytes_per_s=np.maximum(np.bincount(pool, weights=alive), 1.0),
    )  # fmt: skip


def _is_even(fabric: Fabric) -> bool:
    """Whether all links of the network have one rate, in tiers."""
    rates = fabric.wiring.bytes_per_s
    same_rate = not fabric.wiring.down and bool((rates == rates[0]).all())
    return same_rate and not isinstance(fabric.graph.layout.wiring, Mesh)


def _teams(count: int, relays: Sequence[Relay]) -> Ints:
    """Number flows; those of one tree of relays have one number."""
    root = np.arange(count)
    for relay in relays:
        own = [_root(root, flow) for flow in (*relay.feeders, *relay.fed)]
        root[own] = min(own)
    for flow in range(count) if relays else ():
        root[flow] = _root(root, flow)
    return np.unique(root, return_inverse=True)[1].ravel()


def _root(root: Ints, flow: int) -> int:
    while root[flow] != flow:
        root[flow] = root[root[flow]]
        flow = int(root[flow])
    return flow


def _through(latency_s: Floats, relays: Sequence[Relay]) -> Floats:
    """Return latencies where what is fed begins when the last of its feeders has come."""
    found = latency_s.copy()
    tree = [relay for relay in relays if not relay.lead_bytes]
    for _ in tree:
        before = found.copy()
        for relay in tree:
            fed = list(relay.fed)
            found[fed] = latency_s[fed] + found[list(relay.feeders)].max()
        if (found == before).all():
            break
    return found


def _most(team: Ints, teams: int, values: Floats) -> Floats:
    found = np.zeros(teams)
    np.maximum.at(found, team, values)
    return found


def _between(team: Ints, pairs: Ints, held: Ints | None) -> Ints:
    """Return what teams wait for; those that are held wait for themselves."""
    rows = team[pairs]
    rows = rows[rows[:, 0] != rows[:, 1]]
    if held is not None:
        rows = np.concatenate([rows, np.stack([team[held], team[held]], axis=1)])
    return np.unique(rows, axis=0) if len(rows) else rows

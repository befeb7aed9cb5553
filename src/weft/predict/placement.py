"""Traced jobs side by side on the links of a cluster, placed in several ways.

Every collective is one flow that uses all links of its groups at the rate of the slowest, so
jobs share links for as long as both send. A closed form T(share) = fixed + wire / share of the
NICs' rate is split into what is on the wire and what is not; the wire part is sent.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median
from typing import Final

import numpy as np

from weft.engines.analytic.collective import collective_time
from weft.engines.flow.routes import coupled, routed
from weft.engines.flow.solver import Ends, Flows, Uses, complete
from weft.errors import Infeasible, SpecError
from weft.network.graph import Floats, Graph, Ints
from weft.network.routing import Demands, mixed
from weft.plugins import unknown
from weft.predict.flows import balancing_of, network_graph, network_of, planes_between, put
from weft.predict.probing import SEEDS, kind_of, paths_between
from weft.predict.traced import Placed, Run, group_of
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic import pxn
from weft.traffic.collective import Group, Operation
from weft.traffic.recorded import Instance, Recorded

SAID: Final = (
    "jobs begin together; shorter ones repeat their trace until the longest has ended",
    "all groups of a collective run side by side and wait for the slowest",
)
MOST_USES: Final = 8_000_000
"""Uses of links by the flows of all collectives: some 0.5 GB."""
MOST_REPEATS: Final = 16
MOST_SHIFTS: Final = 4
"""Peers of an exchange that are sent to at once."""
Hosts = list[Ints]
"""By job: its hosts in the order of its ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draw:
    """One draw of a placement: the network, and what hashes and places depend on."""

    cluster: Cluster
    network: Graph
    placement: str
    seed: int


@dataclass(frozen=True, slots=True)
class _Sent:
    """One collective on the network of its job: links, their weights, and its two times."""

    links: Ints
    weight: Floats
    wire_s: float
    fixed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One draw of a placement: by job the step beside the others and alone, and its events."""

    step_s: list[float]
    alone_s: list[float]
    ends: list[Ends]
    """Of the first turn beside the others."""


def place(
    cluster: Cluster,
    jobs: Sequence[tuple[Run, Sequence[tuple[Estimate, float]]]],
    placements: Sequence[str],
) -> tuple[tuple[Placed, ...], list[Ends]]:
    """Return the step of every job under each placement, with the others and alone.

    ``jobs`` come with the prediction of each collective and the factor of its trace. The
    second is what happened to each job in the middle draw of the first placement. Raises
    SpecError for an unknown placement, Infeasible where there are too few hosts.
    """
    for name in placements:
        if name not in PLACEMENTS:
            raise SpecError(unknown("placement", name, list(PLACEMENTS)))
    need = [-(-run.job.ranks // cluster.host.gpus) for run, _ in jobs]
    if sum(need) > cluster.hosts:
        raise Infeasible(
            f"the jobs need {sum(need)} hosts and {cluster.name} has {cluster.hosts}; give a "
            "larger cluster, as --hosts"
        )
    network = network_graph(network_of(cluster))
    found: list[Placed] = []
    shown: list[Ends] = []
    for name in placements:
        draws = [
            _Draw(cluster=cluster, network=network, placement=name, seed=seed) for seed in SEEDS
        ]
        drawn = [_drawn(draw, jobs, need) for draw in draws]
        step_s = tuple(
            _over_seeds(item.step_s[at] for item in drawn) for at in range(len(jobs))
        )
        alone_s = tuple(
            _over_seeds(item.alone_s[at] for item in drawn) for at in range(len(jobs))
        )
        base = found[0].step_s if found else step_s
        gain = tuple(1 - now.value / was.value for now, was in zip(step_s, base, strict=True))
        found.append(Placed(placement=name, step_s=step_s, alone_s=alone_s, gain_ratio=gain))
        shown = shown or [
            next(item.ends[at] for item in drawn if item.step_s[at] == step_s[at].value)
            for at in range(len(jobs))
        ]  # fmt: skip
    return tuple(found), shown


def _over_seeds(values: Iterable[float]) -> Estimate:
    listed = list(values)
    return Estimate(median(listed), min(listed), max(listed))


def _packed(_network: Graph, need: Sequence[int], _rng: np.random.Generator) -> Hosts:
    """Give each job the next hosts, one job after the other."""
    ends = np.cumsum(need)
    return [np.arange(end - count, end) for end, count in zip(ends, need, strict=True)]


def _scattered(network: Graph, need: Sequence[int], rng: np.random.Generator) -> Hosts:
    """Give each job any hosts, as a busy scheduler does that knows no topology."""
    drawn = rng.permutation(network.endpoints // network.layout.site.nics_per_host)
    return [np.asarray(part) for part in np.split(drawn[: sum(need)], np.cumsum(need)[:-1])]


def _by_topology(network: Graph, need: Sequence[int], _rng: np.random.Generator) -> Hosts:
    """Give each job, the largest first, the fewest leaves that hold it."""
    nics = network.layout.site.nics_per_host
    leaves = np.asarray(network.leaf_of).reshape(network.endpoints, -1)[::nics, 0]
    free = {int(leaf): np.flatnonzero(leaves == leaf).tolist() for leaf in np.unique(leaves)}
    found: dict[int, list[int]] = {}
    for job in sorted(range(len(need)), key=lambda at: -need[at]):
        left, taken = need[job], []
        while left:
            fits = [leaf for leaf, hosts in free.items() if len(hosts) >= left]
            leaf = (
                min(fits, key=lambda fit: len(free[fit])) if fits
                else max(free, key=lambda item: len(free[item]))
            )  # fmt: skip
            taken += free[leaf][:left]
            free[leaf] = free[leaf][left:]
            left = need[job] - len(taken)
        found[job] = sorted(taken)
    return [np.array(found[job]) for job in range(len(need))]


PLACEMENTS: Final[dict[str, Callable[[Graph, Sequence[int], np.random.Generator], Hosts]]] = {
    "packed": _packed,
    "scattered": _scattered,
    "by-topology": _by_topology,
    "crossed-rails": _packed,
}
"""By name: the hosts of each job. With crossed rails a ring enters a host by the next NIC."""


def _drawn(
    draw: _Draw,
    jobs: Sequence[tuple[Run, Sequence[tuple[Estimate, float]]]],
    need: Sequence[int],
) -> Drawn:
    """Place the jobs once, and run them."""
    network = draw.network
    hosts = PLACEMENTS[draw.placement](network, need, np.random.default_rng(draw.seed))
    rates = _rates(draw)
    sent = [_sent(draw, *job, mine) for job, mine in zip(jobs, hosts, strict=True)]
    runs = [run for run, _ in jobs]
    alone = [
        _together(network, rates, [run], [own], [1])[0]
        for run, own in zip(runs, sent, strict=True)
    ]
    times = [value * run.job.steps for (value, _), run in zip(alone, runs, strict=True)]
    repeats = [min(MOST_REPEATS, max(1, round(max(times) / time))) for time in times]
    both = _together(network, rates, runs, sent, repeats) if len(jobs) > 1 else alone
    return Drawn(
        step_s=[step for step, _ in both], alone_s=[step for step, _ in alone],
        ends=[ends for _, ends in both],
    )  # fmt: skip


def _rates(draw: _Draw) -> Floats:
    """Return the rate of every link, or set of links, as routing numbers them."""
    nothing = np.zeros(1, np.int64)
    far = np.array([draw.network.endpoints - 1])
    one = Demands(source=nothing, target=far, size_bytes=np.ones(1), entropy=nothing)
    balancing = balancing_of(draw.cluster)
    return routed(draw.network, one, balancing, seed=draw.seed).bytes_per_s


def _together(
    network: Graph,
    rates: Floats,
    runs: Sequence[Run],
    sent: Sequence[Sequence[_Sent]],
    repeats: Sequence[int],
) -> list[tuple[float, Ends]]:
    """Run jobs side by side, each so many times; return its mean step and the first turn."""
    line = float(network.rate_bytes_per_s[0]) * network.layout.planes
    links: list[Ints] = []
    weights: list[Floats] = []
    counts, sizes, delays, pairs = [], [], [], []
    ends: list[slice] = []
    first = 0
    for run, own, repeat in zip(runs, sent, repeats, strict=True):
        begin = first
        for turn in range(repeat):
            count, size = np.zeros(run.flows + 1, np.int64), np.zeros(run.flows + 1)
            delay = np.append(run.lasting_s, 0.0)
            at = run.instance_flows
            count[at] = [len(sent.links) for sent in own]
            size[at] = [sent.wire_s * line for sent in own]
            delay[at] = [sent.fixed_s for sent in own]
            links += [sent.links for sent in own]
            weights += [sent.weight for sent in own]
            # The last flow of a turn ends it: all of the turn before it, the next one after it.
            inside = np.stack([np.arange(run.flows), np.full(run.flows, run.flows)], axis=1)
            rows = [run.pairs + first, inside + first]
            if turn:
                before = np.full(run.flows, first - 1)
                rows.append(np.stack([before, np.arange(run.flows) + first], axis=1))
            pairs.append(np.concatenate(rows))
            counts.append(count)
            sizes.append(size)
            delays.append(delay)
            first += run.flows + 1
        ends.append(slice(begin, first))
    found = _complete(rates, counts, sizes, delays, pairs, links, weights)
    return [
        (
            float(found.end_s[own].max()) / repeat / run.job.steps,
            replace(found, begin_s=found.begin_s[own][: run.flows],
                    end_s=found.end_s[own][: run.flows]),
        )
        for own, repeat, run in zip(ends, repeats, runs, strict=True)
    ]  # fmt: skip


def _complete(  # noqa: PLR0917 - the columns of the flows
    rates: Floats,
    counts: list[Ints],
    sizes: list[Floats],
    delays: list[Floats],
    pairs: list[Ints],
    links: list[Ints],
    weights: list[Floats],
) -> Ends:
    if sum(map(len, links)) > MOST_USES:
        raise SpecError(
            f"{sum(map(len, links)):,} uses of links in all, and {MOST_USES:,} fit; replay "
            "fewer steps, the trace of one rank, or with --fidelity analytic"
        )
    start = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    none = np.zeros(0)
    uses = Uses(
        start=start, links=np.concatenate([none.astype(np.int64), *links]),
        weight=np.concatenate([none, *weights]),
    )  # fmt: skip
    return complete(
        rates,
        Flows(uses=uses, size_bytes=np.concatenate(sizes), delay_s=np.concatenate(delays),
              predecessor=np.concatenate(pairs)),
    )  # fmt: skip


def _sent(
    draw: _Draw, run: Run, times: Sequence[tuple[Estimate, float]], hosts: Ints
) -> list[_Sent]:
    """Return every collective of a job on its hosts."""
    cluster, job = draw.cluster, run.job
    known: dict[tuple[Operation, tuple[int, ...]], tuple[Ints, Floats]] = {}
    found = []
    for instance, (estimate, factor) in zip(job.instances, times, strict=True):
        group = None if instance.operation is None else group_of(instance, job, cluster)
        if group is None or instance.operation is None or group.domains == 1:
            nothing = np.zeros(0, np.int64), np.zeros(0)
            found.append(_Sent(*nothing, wire_s=0.0, fixed_s=estimate.value * factor))
            continue
        key = instance.operation, instance.ranks
        if key not in known:
            known[key] = _links(draw, job, instance, group, hosts)
        if len(job.traced_ranks) > 1:  # neighbours are traced, and share NICs as flows
            side = max(1, min(group.neighbours, cluster.host.nics))
            group = replace(group, neighbours=side)
        fixed, wire = parts_of(cluster, instance.operation, instance.size_bytes, group)
        found.append(_Sent(*known[key], wire_s=wire * factor, fixed_s=fixed * factor))
    return found


@lru_cache(maxsize=4096)
def parts_of(
    cluster: Cluster, operation: Operation, size_bytes: float, group: Group
) -> tuple[float, float]:
    """Return what of a collective no link changes, and its time on the wire at line rate."""
    closed = collective_time(cluster, operation, size_bytes, group)
    whole, half = (
        put(cluster, closed, Estimate(share, share, share), "").time_s.value
        for share in (1.0, 0.5)
    )
    wire = max(0.0, half - whole)
    return max(0.0, whole - wire), wire


def groups_of(one: Instance, job: Recorded) -> list[tuple[int, ...]]:
    """Return the groups that run a collective side by side: one, or with one traced rank all.

    Groups of a regular stride tile the ranks of the job.
    """
    ranks, count = one.ranks, len(one.ranks)
    if len(job.traced_ranks) > 1 or count < 2:  # noqa: PLR2004 - a group of one has no other
        return [ranks]
    stride = ranks[1] - ranks[0]
    if one.operation is Operation.SEND_RECV:
        first = min(ranks) // abs(stride) * abs(stride)
        ends = [(first + at, first + at + abs(stride)) for at in range(abs(stride))]
        pairs = ends if stride > 0 else [(b, a) for a, b in ends]
        return [pair for pair in pairs if max(pair) < job.ranks]
    if stride < 1 or ranks != tuple(range(ranks[0], ranks[0] + count * stride, stride)):
        return [ranks]
    block = count * stride
    found = [
        tuple(range(base + at, base + at + block, stride))
        for base in range(0, job.ranks - block + 1, block) for at in range(stride)
    ]  # fmt: skip
    return found if ranks in found else [ranks]


def _links(
    draw: _Draw, job: Recorded, one: Instance, group: Group, hosts: Ints
) -> tuple[Ints, Floats]:
    """Return the links that all groups of a collective use, a NIC's own at weight 1 a plane."""
    network, cluster, each = draw.network, draw.cluster, draw.cluster.host.gpus
    assert one.operation is not None
    rng = np.random.default_rng((draw.seed, *one.ranks[:2]))
    ends = [
        pair for ranks in groups_of(one, job)
        for pair in _ends(
            draw, one.operation,
            [(int(hosts[rank // each]), rank % each) for rank in ranks], rng,
        )
    ]  # fmt: skip
    send, peer = (np.array(side, np.int64) for side in zip(*ends, strict=True))
    parts = paths_between(cluster, one.operation, group) * network.layout.planes
    part = np.tile(np.arange(parts), len(send))
    source, target = send.repeat(parts), peer.repeat(parts)
    demands = Demands(
        source=source, target=target, size_bytes=np.ones(len(part)),
        plane=planes_between(network, source, target, part, np.ones(network.links)),
        entropy=mixed(send.repeat(parts) + peer.repeat(parts) * network.endpoints, part),
    )  # fmt: skip
    found = routed(network, demands, balancing_of(cluster), seed=draw.seed)
    most = max(np.bincount(send).max(), np.bincount(peer).max())
    weight = np.full(len(part), 1 / (parts * most))
    uses = coupled(found.uses, np.zeros(len(part), np.int64), weight)
    assert uses.weight is not None
    return uses.links, uses.weight


def _ends(
    draw: _Draw,
    operation: Operation,
    places: Sequence[tuple[int, int]],
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Return the NIC ports that send, each with its peer; ``places`` are (host, GPU)."""
    each, nics = draw.cluster.host.gpus, draw.cluster.host.nics
    ports: dict[int, list[int]] = {}
    for host, gpu in places:
        nic = gpu * nics // each
        if nic not in ports.setdefault(host, []):
            ports[host].append(nic)
    order = list(ports)
    kind = kind_of(operation)
    shifts = [1]
    if kind == "exchange":
        shifts = (1 + rng.permutation(len(order) - 1)[:MOST_SHIFTS]).tolist()
    senders = order[:1] if kind == "pairs" else order
    wide = min(map(len, ports.values()))
    crossed = draw.placement == "crossed-rails"
    to_all = kind == "exchange" and not pxn.is_used(draw.cluster)
    return [
        (
            host * nics + ports[host][at],
            peer * nics + (ports[peer][(at + turn) % wide] + crossed) % nics,
        )
        for number, shift in enumerate(shifts) for place, host in enumerate(senders)
        for peer in (order[(place + shift) % len(order)],)
        for turn in ((place + number) * to_all,) for at in range(wide)
    ]  # fmt: skip

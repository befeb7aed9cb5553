"""The collectives of a training step as flows, over the whole network of the cluster.

Every group runs its pattern at once, on all NICs, its hosts placed without regard to leaves.
A ring, and a send over several queue pairs or planes, moves at the rate of its slowest part.
The share of the NICs' rate that the slowest group is left takes the place of the factors for
hash collisions and oversubscription; what tuning costs, and what spreading loses to
reordering, flows do not see: those factors stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from statistics import median
from typing import Final

import numpy as np

from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.engine import CollectiveTime
from weft.engines.flow.flowlets import Pacing, follow
from weft.engines.flow.routes import REORDERED, coupled, routed
from weft.engines.flow.solver import Flows, Uses, complete, max_min_rates
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.errors import Infeasible
from weft.network.faults import links_of, named, places_of
from weft.network.graph import HOST_LEAF, Floats, Graph, Ints
from weft.network.network import graph, resolve
from weft.network.routing import Demands, mixed
from weft.network.topology import trays_of
from weft.predict import probing
from weft.predict.packets import with_ratio
from weft.predict.probing import PLACED, SEEDS, Engine, Probed, kind_of, paths_between
from weft.predict.simulate import FLOW, FLOW_EFFECTS
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.load import settings_of
from weft.traffic import pxn
from weft.traffic.collective import Group, Operation

MOST_FLOWS: Final = 1 << 16
"""Of an exchange: as many shifts side by side as there are flows for, at least one."""
MOST_SHIFTS: Final = 8
"""Peers that a rank of an exchange sends to at once; more even out what few collide."""
MESSAGE_BYTES: Final = float(64 << 20)
"""Over which flows that move are followed, long enough for them to see many paths."""
MOST_FILLS: Final = 2e7
"""Uses of links times flows up to which every end is solved for; beyond, the first rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern(probing.Pattern):
    """What is simulated: groups of hosts over the whole network of a cluster."""

    stride: int
    """Of the hosts of a group, in hosts: as many groups lie side by side."""
    in_order: bool = False
    """Whether hosts of a group follow one another; else they are drawn from their block."""
    ratio: tuple[tuple[int, float], ...] = ()
    """Links that have another share of their rate left than all of it: (link, share)."""


def _key(cluster: Cluster, operation: Operation, group: Group) -> tuple[Pattern, int]:
    hosts = min(group.domains, cluster.hosts)
    pattern = Pattern(
        cluster=network_of(cluster), kind=kind_of(operation),
        groups=_groups(cluster.hosts, hosts, group.stride), hosts=hosts,
        stride=_stride(cluster.hosts, hosts, group.stride),
        paths=paths_between(cluster, operation, group),
        crossed=_crossed(cluster, operation, group),
    )  # fmt: skip
    return pattern, cluster.hosts


def _crossed(cluster: Cluster, operation: Operation, group: Group) -> int:
    """Return how many NICs of a host its ranks of a group have, where they send to all.

    With PXN, and where ranks of a host are in groups of their own, all keep to their rail.
    """
    if kind_of(operation) != "exchange" or pxn.is_used(cluster):
        return 1
    host = cluster.host
    nics = min(group.ranks_per_domain, host.gpus) * host.nics // host.gpus
    return gcd(max(1, nics), host.nics // trays_of(host.gpus, host.nics))


def _stride(cluster_hosts: int, hosts: int, stride: int) -> int:
    """Return how far apart the hosts of a group lie, as far as the cluster reaches."""
    return max(1, min(stride, cluster_hosts // hosts))


def _groups(cluster_hosts: int, hosts: int, stride: int) -> int:
    """Return how many groups there are: all that fit into whole blocks of hosts."""
    side = _stride(cluster_hosts, hosts, stride)
    return max(1, cluster_hosts // (hosts * side)) * side


@lru_cache(maxsize=256)
def network_of(cluster: Cluster) -> Cluster:
    """Keep what a network is built from, so that the same one is not simulated twice."""
    host = cluster.host.with_(server="", cpu="") if cluster.host.server else cluster.host
    return Cluster.model_construct(
        name="network", hosts=cluster.hosts, host=host, fabric=cluster.fabric,
        topology=cluster.topology,
    )  # fmt: skip


@lru_cache(maxsize=8)
def network_graph(cluster: Cluster) -> Graph:
    """Return the graph of a network, built once."""
    return graph(cluster)


def balancing_of(cluster: Cluster) -> str:
    """Return the load-balancing mode."""
    return resolve(cluster).balancing


def probed(_cluster: Cluster, pattern: Pattern, _hosts: int) -> Probed:
    """Return what flows leave a pattern of the NICs' rate, over seeds."""
    shares = _shares(pattern)
    share = Estimate(median(shares), min(shares), max(shares))
    cluster = pattern.cluster
    kept = f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"
    said = (
        f"flows of {pattern} ({cluster.fabric.kind}, {balancing_of(cluster)}, "
        f"{pattern.paths} paths a pair, {len(SEEDS)} seeds) keep {kept} of the NICs"
        + (f" with {len(pattern.ratio)} links down or slow" if pattern.ratio else "")
    )
    return Probed(pattern=str(pattern), share=share, said=said)


@lru_cache(maxsize=4096)
def _shares(pattern: Pattern) -> tuple[float, ...]:
    return tuple(share_of(pattern, seed) for seed in SEEDS)


def share_of(pattern: Pattern, seed: int) -> float:
    """Return the time of what a NIC sends at its line rate over that of the last flow."""
    network = network_graph(pattern.cluster)
    ratio = np.ones(network.links)
    for link, left in pattern.ratio:
        ratio[link] = left
    sends, team = _sends(pattern, network, seed, ratio)
    parts = pattern.paths * network.layout.planes
    weight = np.full(len(sends.source), 1 / parts)
    pacing = pacing_of(pattern.cluster, float(network.rate_bytes_per_s[0]))
    balancing = balancing_of(pattern.cluster)
    balancing = "spray" if pacing is not None and pacing.sprays else balancing

    def laid(entropy: Ints | None) -> tuple[Floats, Uses]:
        asked = replace(sends, entropy=entropy)
        found = routed(network, asked, balancing, seed=seed, ratio=ratio)
        return found.bytes_per_s, coupled(found.uses, team, weight)

    bytes_per_s, uses = laid(sends.entropy)
    if pacing is None or pacing.sprays:
        took_s = _last_end(bytes_per_s, uses)
    else:
        took_s = _last_end_moving(bytes_per_s, uses, pacing, parts, _redrawn(sends, team, laid))
    line = float(network.rate_bytes_per_s[0]) * network.layout.planes
    due_s = _shifts(pattern) / line
    return float(min(1.0, due_s / took_s))


def pacing_of(cluster: Cluster, line_bytes_per_s: float) -> Pacing | None:
    """Return how senders pace, where switches balance by flowlets; none elsewhere."""
    if balancing_of(cluster) != "flowlet":
        return None
    kind, gap_s = resolve(cluster).fabric, settings_of(cluster).flowlet_gap_s
    mtu = resolve(cluster).mtu_bytes
    return Pacing(
        gap_s=Options().flowlet_gap_ps / PS_PER_S if gap_s is None else gap_s,
        burst_bytes=0.0 if kind.burst_bytes is None else kind.burst_bytes.value,
        packet_bytes=mtu + kind.header_bytes.value, line_bytes_per_s=line_bytes_per_s,
    )  # fmt: skip


def _redrawn(
    sends: Demands, team: Ints, laid: Callable[[Ints], tuple[Floats, Uses]]
) -> Callable[[Ints], Uses]:
    """Return what draws other paths for the parts of some teams."""
    entropy = np.zeros_like(team) if sends.entropy is None else sends.entropy.copy()

    def move(slow: Ints) -> Uses:
        moved = np.isin(team, slow)
        entropy[moved] = mixed(entropy[moved], 1)
        return laid(entropy)[1]

    return move


def _last_end_moving(
    bytes_per_s: Floats, uses: Uses, pacing: Pacing, parts: int, move: Callable[[Ints], Uses]
) -> float:
    """Return when the last of flows of one byte ends, where slow ones change their paths.

    A flow moves by the pace of its parts, and they are followed over a large message.
    """
    moves_below = pacing.moves_below_bytes_per_s * parts
    if (max_min_rates(bytes_per_s, uses) >= moves_below).all():
        return _last_end(bytes_per_s, uses)
    flows = len(uses.start) - 1
    sent = Flows(uses=uses, size_bytes=np.full(flows, MESSAGE_BYTES))
    found = follow(
        bytes_per_s, sent, move, moves_below=np.full(flows, moves_below),
        dwell_s=pacing.dwell_s,
    )  # fmt: skip
    return float(found.ends.end_s.max()) / MESSAGE_BYTES


def _last_end(bytes_per_s: Floats, uses: Uses) -> float:
    """Return when the last of flows of one byte ends.

    Long rings are as slow as at first: others that end leave little on their links.
    """
    flows = len(uses.start) - 1
    if len(uses.links) / max(1, flows) * len(uses.links) > MOST_FILLS:
        return float(1 / max_min_rates(bytes_per_s, uses).min())
    sent = Flows(uses=uses, size_bytes=np.ones(flows))
    return float(complete(bytes_per_s, sent).end_s.max())


def _shifts(pattern: Pattern) -> int:
    """Return how many peers every NIC sends to at once."""
    if pattern.kind != "exchange":
        return 1
    nics = pattern.groups * pattern.hosts * pattern.cluster.host.nics
    return max(1, min(MOST_SHIFTS, pattern.hosts - 1, MOST_FLOWS // nics))


def _sends(pattern: Pattern, network: Graph, seed: int, ratio: Floats) -> tuple[Demands, Ints]:
    """Return every part of every send, and the team that moves at one rate.

    Groups of a stride share a block of hosts, dealt out to them at random or in turn. Each NIC
    sends to the NIC of the same number of the host so many places further in its group; peers
    of an exchange are drawn from all of them. Where rails are crossed each host begins with
    another NIC of its peers, and takes the next one with the next peer.
    """
    rng = np.random.default_rng(seed)
    nics, planes = network.layout.site.nics_per_host, network.layout.planes
    block = pattern.stride * pattern.hosts
    blocks = np.arange(pattern.groups * pattern.hosts).reshape(-1, block)
    dealt = rng.permuted(blocks, axis=1)
    if pattern.in_order:
        dealt = blocks.reshape(-1, pattern.hosts, pattern.stride).transpose(0, 2, 1)
    teams = dealt.reshape(pattern.groups, pattern.hosts)
    far = 1 + rng.permutation(pattern.hosts - 1)[: _shifts(pattern)]
    far = far if pattern.kind == "exchange" else np.array([1])
    near = np.broadcast_to(teams, (len(far), *teams.shape))
    peer = np.stack([np.roll(teams, -step, axis=1) for step in far])
    ports = np.arange(nics)
    source = (near[..., None] * nics + ports).ravel()
    turn = rng.integers(pattern.crossed, size=network.endpoints // nics)[near]
    turn = (turn + np.arange(len(far))[:, None, None])[..., None]
    rail = ports % pattern.crossed
    target = (peer[..., None] * nics + ports - rail + (rail + turn) % pattern.crossed).ravel()
    send = np.arange(len(source))
    group = send // nics // pattern.hosts % pattern.groups
    ring = group * nics + send % nics
    team = ring if pattern.kind == "ring" else send
    parts = pattern.paths * planes
    part = np.tile(np.arange(parts), len(source))
    near_port, far_port = source.repeat(parts), target.repeat(parts)
    return Demands(
        source=near_port, target=far_port, size_bytes=np.ones(len(part)),
        plane=planes_between(network, near_port, far_port, part, ratio),
        entropy=mixed(send.repeat(parts), part),
    ), team.repeat(parts)  # fmt: skip


def planes_between(
    network: Graph, source: Ints, target: Ints, part: Ints, ratio: Floats
) -> Ints:
    """Return the plane of each part: in turn over those in which both ports have a link.

    Raises Infeasible where two ports have no plane in common: a host cannot send without one.
    """
    planes = network.layout.planes
    links = np.flatnonzero((network.layer == HOST_LEAF) & (network.source < network.endpoints))
    up = np.zeros((network.endpoints, planes), np.bool_)
    alive = (ratio[links] > 0) & (ratio[network.reverse[links]] > 0)
    up[network.source[links], network.plane[links]] = alive
    both = up[source] & up[target]
    count = both.sum(axis=1)
    if not count.all():
        port = int(np.flatnonzero(~up.any(axis=1))[0])
        host, nic = divmod(port, network.layout.site.nics_per_host)
        raise Infeasible(f"NIC {nic} of host {host} has no link that is up, so the job stops")
    place = np.cumsum(both, axis=1) == (part % count + 1)[:, None]
    return np.asarray(np.argmax(place & both, axis=1), np.int64)


def degraded(ratio: tuple[tuple[int, float], ...]) -> Engine:
    """Return the engine over a network whose links have a share of their rate left; 0: down."""

    def key(cluster: Cluster, operation: Operation, group: Group) -> tuple[Pattern, int]:
        pattern, hosts = _key(cluster, operation, group)
        return replace(pattern, ratio=ratio), hosts

    return replace(FLOW_ENGINE, key=key)


def while_failed(names: Sequence[str]) -> Engine:
    """Return the engine over any network while faults of ``faults.toml`` last in it.

    A fault of a part that a network does not have, as a core of two tiers, changes nothing
    there. Raises SpecError for an unknown name.
    """
    asked = named(names)

    def key(cluster: Cluster, operation: Operation, group: Group) -> tuple[Pattern, int]:
        pattern, hosts = _key(cluster, operation, group)
        network = network_graph(pattern.cluster)
        there = tuple(fault for fault in asked if len(places_of(network, fault)))
        return replace(pattern, ratio=links_of(network, there)), hosts

    return replace(FLOW_ENGINE, key=key)


def put(cluster: Cluster, closed: CollectiveTime, share: Estimate, said: str) -> CollectiveTime:
    """Put what flows leave in the place of collisions and oversubscription alone."""
    # Flows that cross rails are among those that are simulated.
    path = replace(path_of(Same(cluster), closed.group, current()), crossing_ratio=1.0)
    kind, choice = path.fabric, cluster.fabric
    far = path.crossing if closed.operation is Operation.ALL_TO_ALL else path.reach
    kept = [kind.tuned(choice.tuning)] if choice.tuning != "tuned" else []
    spread = balancing_of(cluster) in REORDERED and far.far_ratio > 0
    kept += [kind.balanced(choice.load_balancing)] if spread else []
    for sourced in kept:
        share = Estimate(
            share.value * sourced.value,
            share.low * sourced.low,
            min(1.0, share.high * sourced.high),
        )
    found = with_ratio(path, closed, share, said, limit="flows")
    factors = [kind.tuning_assumption(choice.tuning)] if choice.tuning != "tuned" else []
    factors += [kind.assumption(choice.load_balancing)] if spread else []
    return replace(found, assumptions=(*found.assumptions, *factors))


FLOW_ENGINE: Final = Engine(
    name=FLOW, models=FLOW_EFFECTS, placed=PLACED, key=_key, probed=probed, put=put
)  # fmt: skip

"""The collectives of a training step simulated: each pattern once, remembered.

A pattern is a ring, an exchange or pairs, run by as many groups side by side as the network
has room for, hosts placed without regard to leaves, as the closed forms assume. The share of
the NICs' rate that packets leave takes the place of the sourced factors for load balancing,
tuning and oversubscription; the library's costs stay as fitted.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import log2
from statistics import median
from typing import Any, Final

import numpy as np

from weft import plugins
from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.collective.constants import current
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.engine import CollectiveTime
from weft.engines.packet.inside import sockets_of, threads_of
from weft.engines.packet.rounds import add_collective
from weft.engines.packet.schedules import Fabric, Schedule, Work, schedule_of
from weft.engines.packet.settings import link_rate_of, options_of
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.errors import Infeasible, SpecError, WeftError
from weft.network.fabric import find
from weft.network.network import layout
from weft.network.topology import trays_of
from weft.predict.packets import extrapolated, share_kept, with_share
from weft.predict.part import model_of
from weft.predict.simulate import FLOW, PACKET_EFFECTS
from weft.predict.watching import Probing, Report
from weft.results import Effect, Estimate
from weft.spec.cluster import Cluster, FabricChoice, TopologyChoice
from weft.spec.load import settings_of
from weft.spec.scenario import IncastTraffic, Scenario, TrafficItem
from weft.spec.settings import Sockets, Tuning
from weft.traffic import collectives
from weft.traffic.collective import Algorithm, Group, Operation
from weft.units import gbit_from_rate, rate_from_gbit, show_rate

SEEDS: Final = (1, 2, 3)
RINGS: Final = frozenset({Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER})
CARRIED: Final = (
    "each doubling adding to the slowdown what the last did, at best nothing, at worst twice "
    "that"
)
PLACED: Final = "hosts of a group are placed without regard to leaves"
MOST_NICS: Final = 128
MOST_COPYING: Final = 64
"""Of hosts whose copies bound them: further ones show nothing new and cost much."""
USUAL_GBIT: Final = (10, 25, 40, 50, 100, 200, 400, 800, 1600)
"""Rates of links: the nearest is simulated, so that a search over rates asks few times."""
PACKETS: Final = {"ring": 64, "exchange": 64, "pairs": 512}
"""Of one send: what a chunk of the library takes, and a whole message of a pipeline."""
_SIZE_BYTES: Final = float(64 << 20)
"""Of a large collective, which takes all the channels that there are."""
GROWN_WINDOW: Final = "4MB"
"""Of a TCP connection without loss: what Linux lets a socket hold (tcp_wmem, 4 MiB)."""
MOST_PAIRS: Final = 128
"""NCCL allows no more on a connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """What is simulated: how many groups of how many hosts, over which network."""

    cluster: Cluster
    kind: str
    groups: int
    hosts: int
    """Of one group."""
    paths: int
    """Connections between two NICs, each hashed on its own."""
    crossed: int = 1
    """NICs of a peer that each NIC sends to in turn: those of all rails, without PXN."""

    def __str__(self) -> str:
        """Say what is simulated.

        >>> print(Pattern(cluster=None, kind="ring", groups=4, hosts=16, paths=1))
        4 rings of 16 hosts
        >>> print(Pattern(cluster=None, kind="pairs", groups=32, hosts=2, paths=1))
        32 pairs of hosts
        """
        if self.kind == "pairs":
            return f"{self.groups} pairs of hosts"
        across = ", across rails" if self.crossed > 1 else ""
        named = f"{self.groups} {self.kind}s" if self.groups > 1 else f"one {self.kind}"
        return f"{named} of {self.hosts} hosts{across}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What simulates patterns, and how a collective's closed form takes what it gives."""

    name: str
    """As provenance and ``--fidelity`` have it."""
    models: frozenset[Effect]
    placed: str
    """What is assumed of where groups are placed."""
    key: Callable[[Cluster, Operation, Group], tuple[Any, int]]
    """Returns the pattern that a group runs, and the hosts that run it in the cluster."""
    probed: Callable[[Cluster, Any, int], "Probed"]
    put: Callable[[Cluster, CollectiveTime, Estimate, str], CollectiveTime]
    """Puts a share into the closed form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What the network leaves of the NICs' rate, and how that was found."""

    pattern: str
    share: Estimate
    said: str
    """In one sentence: what was simulated, what it gave, what was extrapolated."""


@dataclass(slots=True, kw_only=True)
class Prober:
    """Answers what the network leaves, each pattern once; after an interruption, no more."""

    report: Report | None = None
    engine: Engine = field(default_factory=lambda: engine_of("packet"))
    found: dict[tuple[Any, int], Probed | None] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    """Why some collectives of the step keep their sourced factors."""
    interrupted: bool = False
    planned: int = 0
    done: int = 0
    began_s: float = field(default_factory=time.perf_counter)

    def plan(self, cluster: Cluster, asked: Iterable[tuple[Operation, Group]]) -> None:
        """Count the patterns of some collectives, so that progress knows how many there are."""
        with suppress(WeftError):
            self._count(cluster, asked)

    def _count(self, cluster: Cluster, asked: Iterable[tuple[Operation, Group]]) -> None:
        keys = {self.engine.key(cluster, *pair) for pair in asked if pair[1].domains > 1}
        self.planned += sum(key not in self.found for key in keys)

    def collective(self, end: str = "value") -> Callable[..., CollectiveTime]:
        """Return what times a collective, at the middle or an end of the simulated band."""

        def timed(
            cluster: Cluster, operation: Operation, size_bytes: float, group: Group
        ) -> CollectiveTime:
            closed = collective_time(cluster, operation, size_bytes, group)
            if group.domains == 1 or size_bytes <= 0:
                return closed
            probed = self.probe(cluster, operation, group)
            if probed is None:
                return closed
            share = getattr(probed.share, end)
            band = Estimate(share, share, share)
            return self.engine.put(cluster, closed, band, probed.said)

        return timed

    def probe(self, cluster: Cluster, operation: Operation, group: Group) -> Probed | None:
        """Return what a group is left of its NICs; none where it cannot be simulated."""
        try:
            key = self.key(cluster, operation, group)
        except WeftError as error:
            self.missing.setdefault(f"sourced factors, not {self.engine.name}s: {error}")
            return None
        if key not in self.found:
            self.found[key] = self._simulated(cluster, *key)
        return self.found[key]

    def _simulated(self, cluster: Cluster, pattern: Any, hosts: int) -> Probed | None:  # noqa: ANN401 - the engine's
        if self.interrupted:
            self.missing.setdefault("interrupted: what was not yet simulated keeps its "
                                    "sourced factors")  # fmt: skip
            return None
        self.planned = max(self.planned, self.done + 1)
        self._tell(f"{pattern}, {cluster.fabric.kind} {cluster.fabric.tuning}")
        try:
            return self.engine.probed(cluster, pattern, hosts)
        except KeyboardInterrupt:
            self.interrupted = True
            return self._simulated(cluster, pattern, hosts)
        finally:
            self.done += 1
            self._tell("")

    def _tell(self, doing: str) -> None:
        if self.report is None:
            return
        elapsed = time.perf_counter() - self.began_s
        left = elapsed / self.done * (self.planned - self.done) if self.done else None
        self.report(Probing(done=self.done, planned=self.planned, doing=doing,
                            elapsed_s=elapsed, left_s=left))  # fmt: skip

    def key(self, cluster: Cluster, operation: Operation, group: Group) -> tuple[Any, int]:
        """Return the pattern that a group runs, and the hosts that run it in the cluster."""
        return self.engine.key(cluster, operation, group)


def _key(cluster: Cluster, operation: Operation, group: Group) -> tuple[Pattern, int]:
    """Return the pattern that a group runs, and the hosts that run it in the cluster."""
    fabric = find(cluster.fabric.kind)
    if not fabric.rdma and fabric.socket_bytes_per_s is None:
        raise Infeasible(f"{fabric.title} is bounded by what hosts copy, which was measured")
    settings_of(cluster)  # says which fabrics have none
    kind = kind_of(operation)
    most = MOST_NICS if fabric.rdma else min(MOST_NICS, MOST_COPYING)
    model = model_of(_plain(cluster), most, most)[0]
    hosts = min(group.domains, model.hosts)
    groups = max(1, min(cluster.hosts // group.domains, model.hosts // hosts))
    paths = paths_between(cluster, operation, group)
    if not fabric.rdma:
        model = _with_sockets(model, cluster)
        paths *= sockets_of(cluster, Sockets())
    pattern = Pattern(cluster=model, kind=kind, groups=groups, hosts=hosts, paths=paths)
    return pattern, cluster.hosts


def sweep(
    cluster: Cluster,
    operation: Operation,
    sizes: Sequence[float],
    ranks: int,
    ranks_per_domain: int,
    *,
    engine: Engine | None = None,
    report: Report | None = None,
) -> list[CollectiveTime]:
    """Predict the curve of nccl-tests with the network's share simulated."""
    group = Group(ranks=ranks, ranks_per_domain=ranks_per_domain)
    closed = [collective_time(cluster, operation, size, group) for size in sizes]
    if group.domains == 1:
        return closed
    prober = Prober(report=report, engine=engine or PACKET_ENGINE)
    probed = prober.probe(cluster, operation, group)
    if prober.interrupted:  # the one pattern that there was
        raise KeyboardInterrupt
    if probed is None:
        missing = tuple(prober.missing)
        return [replace(item, assumptions=(*item.assumptions, *missing)) for item in closed]
    return [prober.engine.put(cluster, item, probed.share, probed.said) for item in closed]


def kind_of(operation: Operation) -> str:
    """Return the pattern that an operation runs: a ring, an exchange or pairs."""
    if operation is Operation.SEND_RECV:
        return "pairs"
    return "ring" if operation in RINGS else "exchange"


def paths_between(cluster: Cluster, operation: Operation, group: Group) -> int:
    """Return the connections of two NICs: channels of the library a NIC, times queue pairs.

    Queue pairs are those that NCCL is told to use, or that the packet settings have.
    """
    channels = collective_time(cluster, operation, _SIZE_BYTES, group).channels
    nics = path_of(Same(cluster), group, current()).nics
    pairs = cluster.nccl.env.get("NCCL_IB_QPS_PER_CONNECTION", "1")
    asked = max(int(pairs) if pairs.isdecimal() else 1, settings_of(cluster).queue_pairs)
    return max(1, round(channels / nics)) * min(MOST_PAIRS, max(1, asked))


def _with_sockets(model: Cluster, cluster: Cluster) -> Cluster:
    """Let the hosts of a model copy as those of the cluster do, whose NICs share them.

    The library keeps its connections, so their windows have grown long before.
    """
    top = find(cluster.fabric.kind).host_socket_bytes_per_s
    nics = cluster.host.nics
    trays = trays_of(cluster.host.gpus, nics)
    settings = settings_of(model)
    asked = settings.sockets or Sockets()
    sockets = asked.with_(
        threads=threads_of(cluster, asked),
        sockets=sockets_of(cluster, asked),
        host_bytes_per_s=asked.host_bytes_per_s or (top and top.value * trays / nics),
    )
    name = model.fabric.kind if model.fabric.settings is None else model.fabric.settings.name
    knobs = {"start_window_bytes": GROWN_WINDOW, **settings.knobs}
    grown = knobs if settings.congestion == "cubic" else settings.knobs
    tuning = Tuning(name=name, settings=settings.with_(sockets=sockets, knobs=grown))
    return model.with_(fabric=model.fabric.with_(settings=tuning))


def _plain(cluster: Cluster) -> Cluster:
    """Keep what packets see of a cluster, its links at the nearest usual rate."""
    fabric, topology = cluster.fabric, cluster.topology
    rate = fabric.link_bytes_per_s or cluster.host.nic_bytes_per_s
    gbit = gbit_from_rate(rate / topology.planes)
    usual = rate_from_gbit(min(USUAL_GBIT, key=lambda item: abs(log2(item / gbit))))
    host = cluster.host.with_(nic="", nic_bytes_per_s=usual, pcie_bytes_per_s=None, server="")
    return Cluster.model_construct(
        name="part", hosts=cluster.hosts, host=host,
        fabric=FabricChoice.model_construct(
            kind=fabric.kind, load_balancing=fabric.load_balancing, tuning=fabric.tuning,
            mtu_bytes=fabric.mtu_bytes, settings=fabric.settings),
        topology=TopologyChoice.model_construct(
            kind=topology.kind, switch=topology.switch, switch_ports=topology.switch_ports,
            oversubscription=topology.oversubscription,
            pod_oversubscription=topology.pod_oversubscription,
            hosts_per_pod=topology.hosts_per_pod, cable_m=topology.cable_m),
    )  # fmt: skip


def _probed(cluster: Cluster, pattern: Pattern, hosts: int) -> Probed:
    share, copied = _band(pattern)
    run = pattern.groups * pattern.hosts
    more = ""
    copies = not find(cluster.fabric.kind).rdma  # what a host copies no doubling changes
    longer = _longer(cluster, pattern) if run < hosts and not copies else None
    if longer is not None:
        share = extrapolated(share, longer, log2(hosts / run))
        more = f"; carried on from {run} to {hosts} hosts, {CARRIED}"
    elif run < hosts:
        more = f"; taken for {hosts} hosts as it is"
    words = f"{cluster.fabric.kind} {cluster.fabric.tuning}"
    if cluster.fabric.settings is not None:
        words = f"{cluster.fabric.kind}, {cluster.fabric.settings.name}"
    kept = f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"
    said = (
        f"packets of {pattern} ({words}, {_balancing(pattern)}, "
        f"{pattern.paths} paths a pair, {len(SEEDS)} seeds) "
        f"keep {kept} of the NICs{copied}{more}"
    )
    return Probed(pattern=str(pattern), share=share, said=said)


def _band(pattern: Pattern) -> tuple[Estimate, str]:
    """Return the middle seed with the range of all; that of what hosts copy where they do.

    Seeds differ in hashes and placement alone, so three tell of nothing else.
    """
    shares = _shares(pattern)
    low, high = min(shares), max(shares)
    sockets = settings_of(pattern.cluster).sockets
    copied = find(pattern.cluster.fabric.kind).socket_bytes_per_s
    if sockets is None or sockets.thread_bytes_per_s is not None or copied is None:
        return Estimate(median(shares), low, high), ""
    ends = [share_of(_copying(pattern, sockets, end), SEEDS[0]) for end in ("low", "high")]
    said = (
        f", if a thread copies {show_rate(copied.value)} ({show_rate(copied.low)} to "
        f"{show_rate(copied.high)}, packets aside)"
    )
    return Estimate(median(shares), min(low, *ends), max(high, *ends)), said


def _copying(pattern: Pattern, sockets: Sockets, end: str) -> Pattern:
    """Return a pattern whose hosts copy at one end of what is published."""
    fabric = pattern.cluster.fabric
    kind = find(fabric.kind)
    thread, top = kind.socket_bytes_per_s, kind.host_socket_bytes_per_s
    assert fabric.settings is not None
    assert thread is not None
    share = 1.0 if top is None else getattr(top, end) / top.value
    copying = sockets.with_(
        thread_bytes_per_s=getattr(thread, end),
        host_bytes_per_s=sockets.host_bytes_per_s and share * sockets.host_bytes_per_s,
    )
    settings = fabric.settings.settings.with_(sockets=copying)
    tuning = fabric.settings.with_(settings=settings)
    return replace(pattern, cluster=pattern.cluster.with_(fabric=fabric.with_(settings=tuning)))


def _longer(cluster: Cluster, pattern: Pattern) -> float | None:
    """Return what the last doubling of hosts added to the slowdown; none where none is known.

    Half of the hosts may fit one switch: then smaller switches stand for both sizes, since a
    trend is only one between networks of the same leaves.
    """
    count = pattern.cluster.hosts // 2
    if count < 2 or pattern.hosts == 2 > pattern.groups:  # noqa: PLR2004 - a pair has no half
        return None
    tiers = layout(pattern.cluster).tiers
    own = pattern.cluster.with_(hosts=count)
    small = own if layout(own).tiers == tiers else model_of(_plain(cluster), count, count)[0]
    small = small.with_(fabric=pattern.cluster.fabric)
    double = small.with_(hosts=2 * count)
    if (small.hosts, layout(small).tiers, layout(double).tiers) != (count, tiers, tiers):
        return None
    half, whole = _halved(pattern, small), replace(pattern, cluster=double)
    return 1 / median(_shares(whole)) - 1 / median(_shares(half))


def _halved(pattern: Pattern, cluster: Cluster) -> Pattern:
    if pattern.groups > 1:
        return replace(pattern, cluster=cluster, groups=pattern.groups // 2)
    return replace(pattern, cluster=cluster, hosts=pattern.hosts // 2)


def _balancing(pattern: Pattern) -> str:
    return options_of(_scenario(pattern), SEEDS[0]).balancing


def _scenario(pattern: Pattern) -> Scenario:
    nothing = IncastTraffic.model_construct(senders=1, size_bytes=1)
    return Scenario.model_construct(
        cluster=pattern.cluster,
        traffic=(TrafficItem.model_construct(incast=nothing),),
        network=settings_of(pattern.cluster),
    )


@lru_cache(maxsize=4096)
def _shares(pattern: Pattern) -> tuple[float, ...]:
    with ThreadPoolExecutor(len(SEEDS)) as pool:
        return tuple(pool.map(lambda seed: share_of(pattern, seed), SEEDS))


def share_of(pattern: Pattern, seed: int) -> float:
    """Simulate once: the wire time of what a NIC sends over the time without latency."""
    scenario = _scenario(pattern)
    options = options_of(scenario, seed)
    fabric = scenario_fabric(scenario)
    schedule = _schedule(pattern, fabric, options.mtu_bytes, seed)
    return share_kept(
        schedule, options, steps=pattern.hosts - 1, paths=pattern.paths,
        ring=pattern.kind == "ring",
        port_bytes_per_s=link_rate_of(pattern.cluster), routes=routes_of(schedule, fabric),
    )  # fmt: skip


def _schedule(pattern: Pattern, fabric: Fabric, mtu_bytes: int, seed: int) -> Schedule:
    """Return all groups side by side, over hosts in an order that the seed draws."""
    cluster = pattern.cluster
    work = Work(fabric=fabric, queue_pairs=pattern.paths)
    order = np.random.default_rng(seed).permutation(cluster.hosts)
    ring = pattern.kind == "ring"
    operation = Operation.ALL_GATHER if ring else Operation.ALL_TO_ALL
    algorithm = plugins.load(collectives, "ring" if ring else "pairwise", Algorithm)
    size = pattern.hosts * PACKETS[pattern.kind] * mtu_bytes * cluster.host.nics
    for number in range(pattern.groups):
        hosts = order[number * pattern.hosts : (number + 1) * pattern.hosts]
        gpus = [int(host) * cluster.host.gpus for host in hosts]
        work.owner = number, 0
        add_collective(work, algorithm, operation, gpus, size, ranks_per_domain=1,
                       channels=cluster.host.nics)  # fmt: skip
    return schedule_of(work)


PACKET_ENGINE: Final = Engine(
    name="packet",
    models=PACKET_EFFECTS,
    placed=PLACED,
    key=_key,
    probed=lambda *asked: _probed(*asked),  # noqa: PLW0108 - looked up when it is called
    put=with_share,
)


def engine_of(fidelity: str) -> Engine:
    """Return what simulates at a fidelity; raise SpecError where nothing is called so."""
    if fidelity == FLOW:
        from weft.predict.flows import FLOW_ENGINE  # noqa: PLC0415 - it takes what is above

        return FLOW_ENGINE
    if fidelity != PACKET_ENGINE.name:
        raise SpecError(
            f"no fidelity is called {fidelity!r}; there are: analytic, {FLOW}, packet"
        )
    return PACKET_ENGINE

"""Traffic as flows with dependencies: ranks placed on hosts and NICs, rounds of sends compiled.

A send waits for the last writers of its chunks at its source. A send inside a scale-up domain
never meets the fabric: it becomes a delay, and so does a gap for computing. A delay is one
byte on a *delay line*, a link of that propagation time beside the network, so the kernel needs
no event of its own for it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from weft.catalogue.devices import Switch
from weft.engines.packet.beside import BESIDE, Beside, Place, with_beside
from weft.engines.packet.inside import Inside, lane_of, with_inside
from weft.engines.packet.simulation import FOREVER_PS, PS_PER_S, Flows, Relay
from weft.engines.packet.wiring import Wiring, with_ends
from weft.errors import Infeasible
from weft.network.faults import faults_of, links_of
from weft.network.forwarding import Forwarding
from weft.network.graph import Graph
from weft.network.network import graph
from weft.spec.cluster import Cluster

MOST_FLOWS = 4_000_000
"""A flow takes a quarter of a kilobyte; more are asked for by mistake."""
LOOK_FLOWS = 1 << 14
SHORTEST_DELAY_PS = 1_000
Ids = tuple[int, ...]
"""The flows of one send: one a plane and queue pair."""
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Fabric:
    """The network of a cluster, and which endpoint each GPU sends from."""

    cluster: Cluster
    graph: Graph
    wiring: Wiring
    """Of the network, from port to port."""
    inside: Inside | None = None
    """What lies between a port and its host, where that is slower."""
    forwarding: Forwarding | None = None
    """Where switches send what is for each port; none: any shortest way."""

    @property
    def lanes(self) -> int:
        """Endpoints of one port."""
        return 1 if self.inside is None else self.inside.lanes

    @property
    def whole(self) -> Wiring:
        """The network with what lies behind its ports; its links come first, in their order."""
        return self.wiring if self.inside is None else with_inside(self.wiring, self.inside)

    @property
    def planes(self) -> int:
        """Endpoints of one NIC."""
        return self.graph.layout.planes

    @cached_property
    def cut(self) -> frozenset[int]:
        """Endpoints whose own link is down."""
        down = list(self.wiring.down)
        near = np.minimum(self.wiring.source[down], self.wiring.target[down])
        return frozenset(near[near < self.wiring.hosts].tolist())

    def nic_of(self, gpu: int) -> int:
        """Return the NIC (of its host) that is nearest to a GPU of the cluster."""
        host = self.cluster.host
        return gpu % host.gpus * host.nics // host.gpus

    def nic_of_rail(self, source: int, target: int) -> int:
        """Return the NIC next to a GPU, in its own tray, of the rail of another GPU's NIC."""
        each = self.graph.layout.site.ports_per_tray
        return self.nic_of(source) // each * each + self.nic_of(target) % each

    def ports(self, gpu: int, nic: int | None = None) -> list[int]:
        """Return the endpoints, one a plane, of a GPU's NIC, or of another NIC of its host."""
        which = self.nic_of(gpu) if nic is None else nic
        host = gpu // self.cluster.host.gpus
        return [endpoint(self.graph, host, which, plane) for plane in range(self.planes)]


def fabric_of(
    cluster: Cluster,
    bit_error_ratio: float | None = None,
    inside: Inside | None = None,
    faults: Sequence[str] = (),
) -> Fabric:
    """Wire the network of a cluster; all its links damage as many bits.

    ``faults`` are names of ``faults.toml``: links slower than built, or without any route.
    """
    network = graph(cluster)
    wiring = wiring_of(network)
    if bit_error_ratio:
        wiring = replace(wiring, bit_error_ratio=np.full(network.links, bit_error_ratio))
    left = dict(links_of(network, faults_of(network, faults)))
    if left:
        rate = wiring.bytes_per_s.copy()
        slow = [link for link, ratio in left.items() if ratio > 0]
        rate[slow] *= [left[link] for link in slow]
        down = tuple(link for link, ratio in left.items() if ratio == 0)
        wiring = replace(wiring, bytes_per_s=rate, down=down)
    return Fabric(cluster=cluster, graph=network, wiring=wiring, inside=inside)


@dataclass(slots=True, kw_only=True)
class Work:
    """Flows as they are collected; every flow belongs to a traffic and one run of it."""

    fabric: Fabric
    queue_pairs: int = 1
    """Flows that a send is split over, each with a hash of its own."""
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    size_bytes: list[int] = field(default_factory=list)
    begin_ps: list[int] = field(default_factory=list)
    queue_pair: list[int] = field(default_factory=list)
    """Which of the flows between its two ends a flow is."""
    traffic: list[int] = field(default_factory=list)
    run: list[int] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    """(before, after)."""
    relays: list[Relay] = field(default_factory=list)
    beside: Beside = field(default_factory=Beside)
    lines: dict[tuple[int, int], int] = field(default_factory=dict)
    """(lane, delay in ps) -> delay line; -1 - 2 line and -2 - 2 line are its ends."""
    owner: tuple[int, int] = (0, 0)
    """Traffic and run that flows now belong to."""
    begin_s: float = 0.0
    """When flows that wait for nothing now begin."""
    barrier: Ids = ()
    """What flows that wait for nothing else now wait for."""
    apart: set[int] = field(default_factory=set)
    """Delays that are long enough to be felt elsewhere no sooner than a cable brings news."""
    cable_ps: int = field(init=False)
    """Time of the longest cable between switches."""
    look: Callable[[], None] | None = None
    """Called now and then, so that whoever waits can stop it by raising."""

    def __post_init__(self) -> None:
        """Look up what every delay needs."""
        self.cable_ps = round(self.fabric.wiring.longest_between_s * PS_PER_S)

    def send(
        self,
        source: int,
        target: int,
        size_bytes: float,
        *,
        after: Iterable[int] = (),
        nic: int | None = None,
        near_nic: int | None = None,
        at_s: float = 0.0,
    ) -> Ids:
        """Send from a GPU to one of another host.

        ``nic`` names the NIC at both ends, ``near_nic`` that of the sender; none: a GPU's own.
        """
        near = self.fabric.ports(source, near_nic if nic is None else nic)
        far = self.fabric.ports(target, nic)
        waits = tuple(after)
        each = self.queue_pairs
        joined = [p for p in zip(near, far, strict=True) if self.fabric.cut.isdisjoint(p)]
        if not joined:
            raise Infeasible(
                f"GPU {source} cannot send to GPU {target}: of the NIC of one of them every "
                "link is down; give the hosts more planes, or leave that fault out"
            )
        size = max(1, round(size_bytes / len(joined) / each))
        lanes = [(*pair, q) for pair in joined for q in range(each)]
        return tuple(self.add(s, t, size, waits, at_s, queue_pair=q) for s, t, q in lanes)

    def wait(self, lane: int, time_s: float, after: Iterable[int] = ()) -> Ids:
        """Let a time pass; waits of one lane at the same moment are a nanosecond apart."""
        delay = min(FOREVER_PS, max(SHORTEST_DELAY_PS, round(time_s * PS_PER_S)))
        news = 2 * self.cable_ps if lane < 0 else 0
        apart = bool(news) and delay >= news + SHORTEST_DELAY_PS
        rest = delay - news if apart else delay
        line = self.lines.setdefault((lane, rest), len(self.lines))
        flow = self.add(-1 - 2 * line, -2 - 2 * line, 1, tuple(after), 0.0)
        if apart:
            self.apart.add(flow)
        return (flow,)

    def add(
        self,
        source: int,
        target: int,
        size: int,
        waits: Ids = (),
        at_s: float = 0.0,
        queue_pair: int = 0,
    ) -> int:
        """Add one flow between two endpoints."""
        flow = len(self.source)
        if flow >= MOST_FLOWS:
            raise too_many_flows()
        if self.look is not None and flow % LOOK_FLOWS == 0:
            self.look()
        waits = waits or self.barrier
        self.source.append(source)
        self.target.append(target)
        self.size_bytes.append(size)
        self.begin_ps.append(min(FOREVER_PS, round((self.begin_s + at_s) * PS_PER_S)))
        self.queue_pair.append(queue_pair)
        self.traffic.append(self.owner[0])
        self.run.append(self.owner[1])
        self.pairs.extend((before, flow) for before in waits)
        return flow

    def mark(self) -> tuple[int, int]:
        """Return a mark of what is collected so far."""
        return len(self.source), len(self.pairs)

    def last_of(self, mark: tuple[int, int]) -> Ids:
        """Return the flows since a mark that no other flow waits for or is fed by."""
        first, first_pair = mark
        waited = {before for before, _ in self.pairs[first_pair:]}
        waited.update(
            flow for relay in self.relays if not relay.lead_bytes for flow in relay.feeders
        )
        return tuple(flow for flow in range(first, len(self.source)) if flow not in waited)


def too_many_flows() -> Infeasible:
    """Say that there are more flows than a simulation can hold."""
    return Infeasible(
        f"this traffic is more than {MOST_FLOWS:,} flows; simulate fewer ranks (a ring of n "
        "sends n times in each of n - 1 rounds, twice for all_reduce), fewer channels, queue "
        "pairs or repeats, or an algorithm of fewer rounds (tree, double_binary_tree)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Flows over a network with its delay lines, and what each flow belongs to."""

    wiring: Wiring
    flows: Flows
    traffic: Ints
    run: Ints
    real: npt.NDArray[np.bool_]
    """Flows that cross the fabric; the others let time pass."""
    fabric_links: int
    """Links before the delay lines: of the network, behind its ports, beside them."""
    beside: tuple[Place, ...] = ()
    """Endpoints that follow those of the ports."""
    relayed: npt.NDArray[np.bool_]
    """Flows that switches send as others come in: their time is not their own."""


def schedule_of(work: Work) -> Schedule:
    """Freeze what was collected; put delay lines and reducers beside the network."""
    fabric = work.fabric
    whole = fabric.whole
    joined = with_beside(whole, work.beside, fabric.wiring, fabric.cluster)
    ends = np.array(work.source, np.int64), np.array(work.target, np.int64)
    connections = _connections(work, *ends)
    source, target = (_numbered(fabric, joined, end, connections) for end in ends)
    pairs = np.array(work.pairs, np.int64).reshape(-1, 2)
    begin_ps = np.array(work.begin_ps, np.int64)
    return Schedule(
        wiring=_with_lines(work, joined),
        flows=Flows(
            source=source,
            target=target,
            size_bytes=np.array(work.size_bytes, np.int64),
            begin_ps=begin_ps,
            predecessor=_once(pairs, len(work.source)),
            lag_ps=_lags(work, pairs, begin_ps),
            connection=connections,
            relays=tuple(work.relays),
        ),
        traffic=np.array(work.traffic, np.int64),
        run=np.array(work.run, np.int64),
        real=ends[0] >= 0,
        fabric_links=len(joined.source),
        beside=work.beside.places,
        relayed=_relayed(work),
    )


def _lags(work: Work, pairs: Ints, begin_ps: Ints) -> Ints | None:
    """Let a long delay begin, and what waits for it, as late as a cable brings the news."""
    if not work.apart:
        return None
    is_apart, waits, late = np.zeros((3, len(work.source)), np.bool_)
    is_apart[list(work.apart)] = True
    waits[pairs[:, 1]] = True
    late[pairs[is_apart[pairs[:, 0]], 1]] = True
    begin_ps[is_apart & ~waits] += work.cable_ps
    return np.where(late | is_apart & waits, work.cable_ps, 0).astype(np.int64)


def _relayed(work: Work) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(work.source), np.bool_)
    found[[flow for relay in work.relays if not relay.lead_bytes for flow in relay.fed]] = True
    return found


def _connections(work: Work, source: Ints, target: Ints) -> Ints:
    """Number connections: one a traffic, pair of ends and queue pair, for all its sends."""
    hosts = work.fabric.wiring.hosts
    beside = hosts + 2 * len(work.lines) - BESIDE  # ports, ends of delay lines, the others
    source, target = (
        np.where(ends < 0, hosts - 1 - ends, np.where(ends < BESIDE, ends, ends + beside))
        for ends in (source, target)
    )
    ends, queue_pairs = int(max(source.max(), target.max())) + 1, max(work.queue_pair) + 1
    lane = np.array(work.traffic, np.int64) * ends + source
    keys = (lane * ends + target) * queue_pairs + np.array(work.queue_pair, np.int64)
    _, numbers = np.unique(keys, return_inverse=True)
    return np.asarray(numbers, np.int64).ravel()


def _once(pairs: Ints, flows: int) -> Ints:
    """Return pairs sorted and without repetition."""
    keys = np.sort(pairs[:, 0] * flows + pairs[:, 1])  # np.unique hashes, which takes longer
    first = np.diff(keys, prepend=-1) > 0
    return np.stack(np.divmod(keys[first], flows), axis=1)


def _numbered(fabric: Fabric, joined: Wiring, ends: Ints, connections: Ints) -> Ints:
    """Give every port one of its lanes; number what is beside ports, then delay lines."""
    lanes = fabric.lanes
    is_port = (ends >= 0) & (ends < BESIDE)
    port = np.where(is_port, ends, 0)
    lane = lane_of(port, connections, lanes) if lanes > 1 else 0
    beside = ends - BESIDE + fabric.wiring.hosts * lanes
    other = np.where(ends < 0, joined.hosts - 1 - ends, beside)
    return np.where(is_port, port * lanes + lane, other)


def _joints(work: Work) -> Ints:
    """Return by delay line which switch joins its ends: one for all hosts of a leaf.

    So a network of many leaves stays one of many parts, which take turns.
    """
    wiring = work.fabric.wiring
    leaf_of = dict(zip(wiring.source.tolist(), wiring.target.tolist(), strict=True))
    near = [
        leaf_of[work.fabric.ports(lane)[0]] if lane >= 0 else lane for lane, _ in work.lines
    ]
    return np.unique(near, return_inverse=True)[1].ravel()


def _with_lines(work: Work, wiring: Wiring) -> Wiring:
    """Add two endpoints a delay line, and the switches that join each two."""
    count = len(work.lines)
    if not count:
        return wiring
    joints = np.repeat(_joints(work), 2)
    # Half of the delay on the way in and half on the way out, less nothing: one byte is short.
    half_s = np.repeat([delay / PS_PER_S / 2 for _, delay in work.lines], 2)
    return with_ends(
        wiring, wiring.switches + joints, wiring.switches + int(joints.max()) + 1,
        bytes_per_s=np.full(2 * count, wiring.bytes_per_s.max()), in_s=half_s, out_s=half_s,
    )  # fmt: skip


LIGHT_IN_GLASS_S_PER_M = 5e-9
"""Propagation in fibre or copper [catalogue notes: 4.5 to 5.0 ns/m]."""


def wiring_of(graph: Graph) -> Wiring:
    """Turn a graph into links with a propagation time.

    The latency of a switch is added to the links that leave it: the engine's switches forward
    at once.
    """
    planes = graph.layout.planes
    endpoints = graph.endpoints * planes
    switches = graph.vertices - graph.endpoints
    source = _vertex(graph, graph.source, graph.plane)
    target = _vertex(graph, graph.target, graph.plane)
    return Wiring(
        hosts=endpoints,
        switches=switches,
        source=source,
        target=target,
        bytes_per_s=graph.rate_bytes_per_s.astype(np.float64),
        propagation_s=graph.length_m * LIGHT_IN_GLASS_S_PER_M
        + np.where(source >= endpoints, _switch_s(graph.layout.site.switch), 0.0),
    )


def endpoint(graph: Graph, host: int, nic: int, plane: int = 0) -> int:
    """Return the endpoint of one NIC of one host on one plane."""
    port = host * graph.layout.site.nics_per_host + nic
    return port * graph.layout.planes + plane


def _vertex(graph: Graph, vertex: Ints, plane: Ints) -> Ints:
    """Number endpoints by port and plane, then switches."""
    planes = graph.layout.planes
    is_port = vertex < graph.endpoints
    moved = vertex - graph.endpoints + graph.endpoints * planes
    return np.where(is_port, vertex * planes + plane, moved)


def _switch_s(switch: Switch) -> float:
    return 0.0 if switch.latency_s is None else switch.latency_s.value

"""Reductions in switches as flows: SHARP over the fabric, NVLS over NVLink switches.

Ranks send to the reducer of their switch; a reducer sends a byte on to the next one, or the
root back to all targets, once every child has delivered it. So every link carries each byte
once a way, and a tree costs one transfer and its hops.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.engines.packet.schedules import Ids, Work
from weft.engines.packet.simulation import Relay
from weft.engines.packet.trees import Tree, switches_of, tree_of
from weft.errors import Infeasible
from weft.network.network import resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """Bytes that some GPUs send to switches, which add them up and give the sum to others."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    size_bytes: float
    after: Mapping[int, Ids]
    """By source: flows that its own waits for."""
    brought: Mapping[int, int]
    """By source: the flow that brings it what it sends, packet by packet."""


def reduce_in_network(work: Work, one: Reduction, turn: int) -> dict[int, Ids]:
    """Add the flows of a reduction; return by target those that bring it the sum.

    ``turn`` spreads reductions over the switches that may be their roots.
    """
    gpus = {*one.sources, *one.targets}
    hosts = {gpu // work.fabric.cluster.host.gpus for gpu in gpus}
    if len(hosts) == 1:
        return _over_nvlink(work, one, hosts.pop(), sorted(gpus))
    return _over_fabric(work, one, sorted(gpus), turn)


def _over_nvlink(work: Work, one: Reduction, host: int, gpus: Sequence[int]) -> dict[int, Ids]:
    if not work.fabric.cluster.host.scale_up.in_network_reduction:
        raise Infeasible(
            "the NVLink switches of these hosts do not reduce "
            "(host.scale_up.in_network_reduction); use ring or tree"
        )
    root = work.beside.end("domain", host)
    ends = {work.beside.end("gpu", gpu): gpu for gpu in gpus}
    tree = Tree(root=root, children={root: tuple(ends)})
    return _Flows(work=work, one=one, tree=tree, gpu_of=ends, size=_share(one, 1)).add()


def _over_fabric(work: Work, one: Reduction, gpus: Sequence[int], turn: int) -> dict[int, Ids]:
    fabric = work.fabric
    if not resolve(fabric.cluster).fabric.in_network_reduction:
        raise Infeasible(
            f"switches of {fabric.cluster.fabric.kind} do not reduce; "
            "use ring, tree or hierarchical, or fabric.kind infiniband"
        )
    around = switches_of(fabric.wiring)
    leaf_of = dict(
        zip(fabric.wiring.source.tolist(), fabric.wiring.target.tolist(), strict=True)
    )
    found: dict[int, Ids] = {}
    for plane in range(fabric.planes):
        ports = {fabric.ports(gpu)[plane]: gpu for gpu in gpus}
        over = tree_of({port: leaf_of[port] for port in ports}, around, turn)
        ends = {node: work.beside.end("switch", node) for node in over.children}
        tree = Tree(
            root=ends[over.root],
            children={
                ends[node]: tuple(ends.get(child, child) for child in children)
                for node, children in over.children.items()
            },
        )
        lead = work.beside.reducing.outstanding_bytes
        flows = _Flows(
            work=work, one=one, tree=tree, gpu_of=ports, size=_share(one, fabric.planes),
            lead_bytes=lead,
        ).add()  # fmt: skip
        for gpu, ids in flows.items():
            found[gpu] = found.get(gpu, ()) + ids
    return found


def _share(one: Reduction, planes: int) -> int:
    return max(1, round(one.size_bytes / planes))


@dataclass(slots=True, kw_only=True)
class _Flows:
    """One reduction over one tree of endpoints on its way to flows."""

    work: Work
    one: Reduction
    tree: Tree
    gpu_of: Mapping[int, int]
    """Endpoint at the edge of the tree -> its GPU."""
    size: int
    lead_bytes: int | None = None
    sent: dict[int, int] = field(default_factory=dict)
    """GPU -> the flow that it sends, where nothing brings it the bytes."""
    found: dict[int, Ids] = field(default_factory=dict)

    def add(self) -> dict[int, Ids]:
        self._descend(self.tree.root, self._climb(self.tree.root))
        if self.lead_bytes is not None:
            for gpu, flow in self.sent.items():
                if gpu in self.found:
                    self._relay(self.found[gpu], (flow,), self.lead_bytes)
        return self.found

    def _relay(self, feeders: Ids, fed: Ids, lead_bytes: int = 0) -> None:
        if feeders and fed:
            self.work.relays.append(Relay(feeders=feeders, fed=fed, lead_bytes=lead_bytes))

    def _climb(self, node: int) -> Ids:
        """Add what flows up to a node; return the flows that end there."""
        feeders: list[int] = []
        for child in self.tree.children[node]:
            if child in self.tree.children:
                below = self._climb(child)
                if below:
                    feeders.append(self.work.add(child, node, self.size))
                    self._relay(below, (feeders[-1],))
            elif self.gpu_of[child] in self.one.sources:
                feeders.append(self._send(child, node))
        return tuple(feeders)

    def _send(self, end: int, node: int) -> int:
        gpu = self.gpu_of[end]
        brought = self.one.brought.get(gpu)
        if brought is None:
            flow = self.work.add(end, node, self.size, self.one.after[gpu])
            self.sent[gpu] = flow
        else:
            flow = self.work.add(end, node, self.size)
            self._relay((brought,), (flow,))
        return flow

    def _descend(self, node: int, feeders: Ids) -> None:
        """Add what flows down from a node, fed by what ends there."""
        fed: list[int] = []
        further: list[tuple[int, int]] = []
        for child in self.tree.children[node]:
            if child in self.tree.children:
                if self._is_wanted_below(child):
                    fed.append(self.work.add(node, child, self.size))
                    further.append((child, fed[-1]))
            elif self.gpu_of[child] in self.one.targets:
                fed.append(self.work.add(node, child, self.size))
                self.found[self.gpu_of[child]] = (fed[-1],)
        self._relay(feeders, tuple(fed))
        for child, flow in further:
            self._descend(child, (flow,))

    def _is_wanted_below(self, node: int) -> bool:
        return any(
            self._is_wanted_below(child)
            if child in self.tree.children
            else self.gpu_of[child] in self.one.targets
            for child in self.tree.children[node]
        )

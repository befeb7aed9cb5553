"""What weft must know of one algorithm: NCCL's cost for it, and weft's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import log2
from typing import Final

from weft import plugins
from weft.engines.analytic.collective import algorithms, tuning
from weft.engines.analytic.collective.graph import Graph, Graphs
from weft.engines.analytic.collective.path import Path
from weft.engines.analytic.collective.tuning import Tuning
from weft.traffic.collective import Operation

Limits = Mapping[str, float]
"""Algorithm bandwidth (size over time) that each part of the path allows, by its name."""

PROTOCOLS: Final = ("ll", "ll128", "simple")
REDUCING: Final = frozenset({Operation.ALL_REDUCE, Operation.REDUCE_SCATTER, Operation.REDUCE})
_MEASURED_TABLES: Final = "2.30.7"
"""Tables whose times stand for the hardware whatever release runs: NVIDIA's newest. Those of
a release steer its choice (Tree counted 28 us a step to 2.22; RCCL's ring counts 320 us)."""
_ONE_WAY: Final = frozenset({Operation.ALL_GATHER, Operation.REDUCE_SCATTER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One algorithm with one protocol on a path; ``row`` names an algorithm of the tables."""

    path: Path
    graphs: Graphs
    operation: Operation
    protocol: str
    library: bool = False
    """Costs are those of the library's published model, which chooses; else those of weft's,
    which predicts."""

    def base_s(self, row: str) -> float:
        """Return the cost of starting one collective."""
        if self.library:
            return self.path.tuning.base_s[row][self.protocol]
        return measured(self.path).base_s[row][self.protocol] * self.path.const("base")

    def local_step_s(self, row: str) -> float:
        """Return the cost of one dependent step inside a domain.

        One GPU a host has no NVLink path, so the library takes the row of PCIe.
        """
        path = self.path
        if self.library:
            link = path.link if path.local > 1 else "pci"
            return path.tuning.step_s[link][row][self.protocol]
        steps = measured(path).step_s[path.link]
        return steps[row][self.protocol] * path.const("local_step")

    def net_step_s(self, row: str) -> float:
        """Return the cost of one dependent step over the network.

        NCCL's constant stands for verbs through one switch; a fabric's own overhead, further
        switches and longer cables come on top. For the library, since 2.23 one rank a host
        counts the step of a tree, for nothing hides it.
        """
        path, fabric = self.path, self.path.fabric
        if self.library:
            as_tree = path.local == 1 and path.tuning.rules.alone_steps_as_tree
            inter = path.tuning.step_s["net"]["tree" if as_tree else row][self.protocol]
            inter += fabric.plugin_latency_s
            return inter + (fabric.plugin_latency_s if self.protocol == "simple" else 0.0)
        base = tuning.find(_MEASURED_TABLES).step_s["net"][row][self.protocol]
        extra = path.net_const("step_overhead", fabric.step_overhead_s.value)
        further = max(0, path.reach.hops - 1) * fabric.switch_hop_s.value
        staging = 0.0 if path.gpudirect else path.fitted("staging_step", 4e-6)
        cables = path.reach.cable_s
        return base * path.net_const("net_step") + extra + further + cables + staging

    def net_bytes_per_s(self, family: str) -> float:
        """Return what a domain sends over the network with an algorithm of a family."""
        path = self.path
        # Where copies of RDMA through host memory are the limit, the NICs are not.
        staged = path.fabric.rdma and not path.gpudirect
        ratio = 1.0 if staged else path.net_const(f"net.{family}", 0.92)
        return path.net_bytes_per_s * path.fabric_ratio * min(1.0, ratio)

    def bus_bytes_per_s(self, graph: Graph) -> float:
        """Return channels times speed: the speed inside for up to two hosts."""
        few = self.path.few_domains
        return graph.channels * (graph.intra_bytes_per_s if few else graph.inter_bytes_per_s)

    def ll_max_bytes_per_s(self) -> float:
        """Return the library's ceiling of LL: by GPU on one host, by CPU on several."""
        path, row = self.path, self.path.table_class
        if path.domains > 1:
            row = "ampere" if path.cpu == "amd" else "volta"
        return path.tuning.ll_max_bytes_per_s[row][path.scale_index]

    @property
    def inside(self) -> str:
        """Name of what bounds traffic inside a domain."""
        return "NVLink" if self.path.link == "nvlink" else "PCIe"

    @property
    def beyond(self) -> str:
        """Name of what bounds traffic between domains."""
        return self.path.fabric_limit or self.path.net_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveAlgorithm:
    """One algorithm of the library."""

    name: str
    title: str
    operations: frozenset[Operation]
    protocols: tuple[str, ...] = ("simple",)
    refusal: Callable[[Path, Operation], str] = lambda _path, _operation: ""
    """Why the library would not use it here; empty: it may."""
    latency_s: Callable[[Use], float]
    nccl_latency_s: Callable[[Use], float] | None = None
    """The library's latency where its law is another than ``latency_s``."""
    nccl_algbw_bytes_per_s: Callable[[Use], float]
    """By the library's published cost model."""
    limits: Callable[[Use], Limits]
    """By weft's."""
    corrected_below: int = 0
    """The library multiplies the bandwidth by a factor that depends on size below 2^(this + 6)
    bytes; 0: never."""

    def library_latency_s(self, use: Use) -> float:
        """Return the latency that the library counts with."""
        return (self.nccl_latency_s or self.latency_s)(replace(use, library=True))


@cache
def find(name: str) -> CollectiveAlgorithm:
    """Load an algorithm by name."""
    return plugins.load(algorithms, name, CollectiveAlgorithm)


@cache
def all_of() -> tuple[CollectiveAlgorithm, ...]:
    """Return every algorithm."""
    return tuple(find(name) for name in plugins.names(algorithms))


def steps(operation: Operation, ranks: int) -> int:
    """Return the dependent steps of a ring."""
    if operation is Operation.ALL_REDUCE:
        return 2 * (ranks - 1)
    return ranks - 1 if operation in _ONE_WAY else ranks


def crossings(operation: Operation, domains: int) -> int:
    """Return how many of the ring's dependent steps cross the network."""
    if domains == 1:
        return 0
    return 2 * (domains - 1) if operation is Operation.ALL_REDUCE else domains - 1


def volume(operation: Operation, ranks: int) -> float:
    """Return what each rank sends over a ring, as a share of the size."""
    return steps(operation, ranks) / ranks


def levels(domains: int) -> int:
    """Return the depth of a binary tree over domains, as NCCL counts it."""
    return int(log2(domains)) if domains > 1 else 0


def measured(path: Path) -> Tuning:
    """Return the tables whose times and ceilings stand for the hardware of a path."""
    return tuning.find(_MEASURED_TABLES) if path.tuning.library == "nccl" else path.tuning

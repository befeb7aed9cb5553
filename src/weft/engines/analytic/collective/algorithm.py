"""What weft must know of one algorithm: NCCL's cost for it, and weft's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
class CollectiveAlgorithm:
    """One algorithm of the library.

    ``refusal`` says why the library would not use it here (empty: it may). The two
    ``nccl_`` functions are the library's published cost model, which chooses; ``latency_s``
    and ``limits`` are weft's, which predict.
    """

    name: str
    title: str
    operations: frozenset[Operation]
    protocols: tuple[str, ...]
    refusal: Callable[[Path, Operation], str]
    nccl_latency_s: Callable[[Path, Operation, str], float]
    nccl_algbw_bytes_per_s: Callable[[Path, Graphs, Operation, str], float]
    latency_s: Callable[[Path, Operation, str], float]
    limits: Callable[[Path, Graphs, Operation, str], Limits]
    corrected_below: int = 0
    """The library multiplies the bandwidth by a factor that depends on size below 2^(this + 6)
    bytes; 0: never."""


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


def net_step_s(path: Path, algorithm: str, protocol: str) -> float:
    """Return weft's cost of one dependent step over the network.

    NCCL's constant stands for verbs through one switch; a fabric's own overhead, further
    switches and longer cables come on top.
    """
    base = tuning.find(_MEASURED_TABLES).step_s["net"][algorithm][protocol]
    fabric = path.fabric
    extra = path.net_const("step_overhead", fabric.step_overhead_s.value)
    further = max(0, path.reach.hops - 1) * fabric.switch_hop_s.value
    staging = 0.0 if path.gpudirect else path.fitted("staging_step", 4e-6)
    cables = path.reach.cable_s
    return base * path.net_const("net_step") + extra + further + cables + staging


def local_step_s(path: Path, algorithm: str, protocol: str) -> float:
    """Return weft's cost of one dependent step inside a domain."""
    return measured(path).step_s[path.link][algorithm][protocol] * path.const("local_step")


def base_s(path: Path, algorithm: str, protocol: str) -> float:
    """Return weft's cost of starting one collective."""
    return measured(path).base_s[algorithm][protocol] * path.const("base")


def net_available(path: Path, family: str) -> float:
    """Return what a domain sends over the network with an algorithm of a family."""
    # Where copies of RDMA through host memory are the limit, the NICs are not.
    staged = path.fabric.rdma and not path.gpudirect
    ratio = 1.0 if staged else path.net_const(f"net.{family}", 0.92)
    return path.net_bytes_per_s * path.fabric_ratio * min(1.0, ratio)


def nccl_net_step_s(path: Path, algorithm: str, protocol: str) -> float:
    """Return the library's own cost of one step over the network.

    Since 2.23 one rank a host counts the step of a tree, for nothing hides it.
    """
    as_tree = path.local == 1 and path.tuning.rules.alone_steps_as_tree
    row = "tree" if as_tree else algorithm
    inter = path.tuning.step_s["net"][row][protocol] + path.fabric.plugin_latency_s
    return inter + (path.fabric.plugin_latency_s if protocol == "simple" else 0.0)


def nccl_local_step_s(path: Path, algorithm: str, protocol: str) -> float:
    """Return the library's own cost of one step inside a domain.

    One GPU a host has no NVLink path, so the library takes the row of PCIe.
    """
    row = path.link if path.local > 1 else "pci"
    return path.tuning.step_s[row][algorithm][protocol]


def nccl_bus_bytes_per_s(path: Path, graph: Graph) -> float:
    """Return channels times speed: the speed inside for up to two hosts."""
    few = path.few_domains
    return graph.channels * (graph.intra_bytes_per_s if few else graph.inter_bytes_per_s)


def nccl_ll_max(path: Path) -> float:
    """Return the library's ceiling of LL: by GPU on one host, by CPU on several."""
    row = path.table_class
    if path.domains > 1:
        row = "ampere" if path.cpu == "amd" else "volta"
    return path.tuning.ll_max_bytes_per_s[row][path.scale_index]

"""Joins of jobs, ranks and what they run on, by name; each yields the clue where it holds."""

from collections.abc import Iterator, Mapping
from typing import Final

from weft.doctor.case import Case, Hit, last, spans_hosts
from weft.doctor.cause import Clue
from weft.inventory.inventory import EVERYTHING, Reading


def ranks_left_early(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield nothing yet: which ranks ended before the others."""
    del clue, case
    return iter(())


def watchdog_without_other_cause(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield watchdog timeouts where nothing says that the fabric or a rank failed."""
    if not _fabric_failed(case):
        for event in case.events.get("torch.watchdog", ()):
            yield Hit(clue, EVERYTHING, tuple(event.evidence))


_FABRIC: Final = ("nccl.retry_exceeded", "nccl.peer_closed", "process.killed",
                  "process.oom_killed", "job.checkpoint_failed",
                  "gpu.off_the_bus", "torch.gpu_memory")  # fmt: skip


def _fabric_failed(case: Case) -> bool:
    return any(code in case.events for code in _FABRIC)


def benchmark_ran_over_shared_memory(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield runs that asked for no network and printed results: its errors do not matter."""
    if "mpi.shared_memory_only" in case.events:
        for event in case.events["mpi.shared_memory_only"]:
            yield Hit(clue, event.entity, tuple(event.evidence))


def requested_resource_not_offered(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield resources that are requested and that no node of the input offers."""
    offered = {entity.key[-1] for entity, found in case.inventory.of("resource")
               if "allocatable" in found}  # fmt: skip
    for entity, found in case.inventory.of("resource"):
        if "requested" in found and entity.key[-1] not in offered and offered:
            yield Hit(clue, entity, (found["requested"][-1].evidence,))


_MANY: Final = 16


def many_ranks_on_sockets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield processes of jobs of many ranks over several hosts whose network is sockets."""
    if case.known.cluster is not None and case.known.cluster.fabric.kind == "tcp":
        return
    processes = list(case.inventory.of("process"))
    ranks = max((_count(found, "ranks") for _, found in processes), default=0.0)
    several = any(spans_hosts(found) for _, found in processes)
    if max(ranks, len(processes)) < _MANY or not several:
        return
    for entity, found in processes:
        if last(found, "network") == "Socket":
            yield Hit(clue, entity, (found["network"][-1].evidence,))


def efa_beside_sockets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield processes that use sockets between hosts where libfabric has EFA."""
    if not any(case.inventory.coded("ofi.efa")):
        return
    for entity, found in case.inventory.of("process"):
        if last(found, "network") == "Socket":
            yield Hit(clue, entity, (found["network"][-1].evidence,))


def _count(found: Mapping[str, list[Reading]], name: str) -> float:
    value = last(found, name)
    return value if isinstance(value, float) else 0.0


_FULL: Final = 0.95


def shared_memory_full(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield /dev/shm where it is almost full."""
    for entity, found in case.inventory.of("memory"):
        used = last(found, "used")
        if entity.key[-1] == "/dev/shm" and isinstance(used, float) and used > _FULL:  # noqa: S108
            yield Hit(clue, entity, (found["used"][-1].evidence,))

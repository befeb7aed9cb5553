"""Joins of GPUs, their links and modules, each by name; it yields the clue where it holds."""

from collections.abc import Iterator

from weft.doctor.case import Case, Hit
from weft.doctor.cause import Clue


def all_links_inactive_on_nvswitch_host(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield inactive NVLinks, unless a GPU is named that needs a bridge to have any."""
    models = [
        str(found["model"][-1].value)
        for _, found in case.inventory.of("gpu")
        if "model" in found
    ]
    sxm = any(_is_sxm(model) for model in models)
    if models and not sxm:
        return
    for event in case.events.get("nvlink.all_inactive", ()):
        yield Hit(clue, event.entity, tuple(event.evidence))


def _is_sxm(model: str) -> bool:
    return any(mark in model for mark in ("SXM", "HBM3", "B200", "B300", "GB200"))


def fabric_manager_stopped_on_nvswitch_host(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a fabric manager that does not run on a host whose GPUs sit on NVSwitches."""
    on_switch = {
        entity.field("host")
        for entity, found in case.inventory.of("gpu")
        if "model" in found and _is_sxm(str(found["model"][-1].value))
    }
    for entity, found in case.inventory.of("service"):
        name, state = entity.field("service"), found.get("state", [])
        stopped = any(reading.value in {"inactive", "failed"} for reading in state[-1:])
        if "fabricmanager" in name and stopped and entity.field("host") in on_switch:
            yield Hit(clue, entity, (state[-1].evidence,))


def more_nodes_than_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield communicators in which a GPU counts as a node of its own."""
    for entity, found in case.inventory.of("process"):
        local, ranks = found.get("local_ranks", []), found.get("ranks")
        ones = [reading for reading in local if reading.value == 1.0]
        more = [
            reading
            for reading in local
            if isinstance(reading.value, float) and reading.value > 1
        ]
        if ones and more and ranks:
            yield Hit(clue, entity, (ones[0].evidence, more[0].evidence))


def no_nvswitch(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield hosts whose GPUs are named and are none that sit on an NVSwitch."""
    for entity, found in case.inventory.of("gpu"):
        if "model" in found and not _is_sxm(str(found["model"][-1].value)):
            yield Hit(clue, entity, (found["model"][-1].evidence,))


def gpu_buffer_not_registered(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield transfers from GPU memory whose registration failed."""
    gpu = case.events.get("perftest.gpu_buffer", ())
    for event in case.events.get("perftest.registration_failed", ()):
        if gpu:
            yield Hit(clue, event.entity, (*event.evidence, *gpu[0].evidence))


def peermem_not_listed(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield hosts whose list of modules has the driver and not the module for peer memory."""
    for event in case.events.get("modules.driver", ()):
        loaded = any(
            entity.field("host") == event.entity.field("host")
            and entity.field("module") in {"nvidia_peermem", "nv_peer_mem"}
            for entity, _ in case.inventory.of("module")
        )
        if not loaded and not case.inventory.value(event.entity, "dma_buf"):
            yield Hit(clue, event.entity, tuple(event.evidence))

"""Joins of how jobs find and use the network, by name; each yields the clue where it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from weft.doctor.case import Case, Hit, last, spans_hosts
from weft.doctor.cause import Clue
from weft.doctor.infer import near
from weft.inventory.entity import Entity
from weft.inventory.inventory import Event, Inventory, Reading, Setting
from weft.inventory.values import number, whole

_GID_SETTINGS: Final = ("NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX", "NVSHMEM_IB_GID_INDEX")
_OLD_NCCL: Final = (2, 22, 4)
"""From this version on NCCL looks for nvidia_peermem by its present name."""


def _between_hosts(inventory: Inventory) -> list[Entity]:
    """Return the processes of jobs over several hosts that use sockets."""
    processes = list(inventory.of("process"))
    several = any(spans_hosts(found) for _, found in processes)
    on_sockets = [
        process
        for process, found in processes
        if "Socket" in {last(found, "network"), last(found, "path")}
    ]
    return on_sockets if several else []


def _of_job(clue: Clue, case: Case, events: Sequence[Event]) -> Iterator[Hit]:
    """Yield events where a job over several hosts uses sockets."""
    if _between_hosts(case.inventory):
        for event in events:
            yield Hit(clue, event.entity, tuple(event.evidence))


def no_device_between_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield "no device" where a job over several hosts then uses sockets."""
    yield from _of_job(clue, case, case.events.get("nccl.no_device", ()))


def no_library_between_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a missing verbs library where a job over several hosts then uses sockets."""
    yield from _of_job(clue, case, case.events.get("nccl.no_verbs_library", ()))


def active_ports_beside_sockets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield active ports where a job over several hosts uses sockets."""
    if not _between_hosts(case.inventory):
        return
    for entity, found in case.inventory.of("port"):
        if last(found, "state") == "active":
            yield Hit(clue, entity, (found["state"][-1].evidence,))


def _setting(case: Case, *names: str) -> Iterator[tuple[Entity, Reading | Setting]]:
    for entity, found in case.inventory.of_both("setting"):
        if entity.key[-1] in names and "value" in found:
            yield entity, found["value"][-1]


def verbs_disabled_between_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield NCCL_IB_DISABLE=1 where a job over several hosts uses sockets."""
    if _between_hosts(case.inventory):
        for entity, reading in _setting(case, "NCCL_IB_DISABLE"):
            if reading.value == "1":
                yield Hit(clue, entity, (reading.evidence,))


def filter_without_device(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield NCCL_IB_HCA where NCCL then finds no device, or names one that is not there."""
    known = {entity.field("adapter") for entity, _ in case.inventory.of("port")}
    between = "nccl.no_device" in case.events and _between_hosts(case.inventory)
    for entity, reading in _setting(case, "NCCL_IB_HCA"):
        wanted = {part.strip("=^").split(":")[0] for part in str(reading.value).split(",")}
        absent = known and not any(name.startswith(text) for text in wanted for name in known)
        if absent or (between and _found_no_device(case, entity, reading)):
            yield Hit(clue, entity, (reading.evidence,))


def filter_on_sockets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield NCCL_IB_HCA where NCCL finds no device and the log does not say how many hosts."""
    processes = [found for _, found in case.inventory.of("process")]
    if "nccl.no_device" in case.events and not any(
        last(process, "nodes") for process in processes
    ):
        for entity, reading in _setting(case, "NCCL_IB_HCA"):
            if _found_no_device(case, entity, reading):
                yield Hit(clue, entity, (reading.evidence,))


def _found_no_device(case: Case, setting: Entity, reading: Reading | Setting) -> bool:
    """Return whether NCCL found no device on the host of a setting, or that is not known.

    Where the same setting works on another host it is not to blame.
    """
    used = {entity.field("host") for entity, found in case.inventory.of("process")
            if last(found, "network") == "IB"}  # fmt: skip
    works = any(
        other.value == reading.value and entity.field("host") in used - {""}
        for entity, other in _setting(case, "NCCL_IB_HCA")
    )
    without = {event.entity.fields.get("host", "") for event in case.events["nccl.no_device"]}
    host = setting.field("host")
    return not works and (not host or "" in without or host in without)


def fewer_adapters_than_active_ports(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield processes that use fewer adapters than ports of one kind are active."""
    active: dict[object, set[str]] = {}
    for entity, found in case.inventory.of("port"):
        if last(found, "state") == "active" and "link_layer" in found:
            kind = (last(found, "link_layer"), last(found, "rate"))
            active.setdefault(kind, set()).add(entity.field("adapter"))
    most = max((len(group) for group in active.values()), default=0)
    for entity, found in case.inventory.of("process"):
        used = last(found, "adapters")
        if isinstance(used, tuple) and len(used) < most:
            yield Hit(clue, entity, (found["adapters"][-1].evidence,))


def adapters_differ_between_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield processes with fewer adapters than others of the same input use."""
    counts = {
        entity: len(used)
        for entity, found in case.inventory.of("process")
        if isinstance(used := last(found, "adapters"), tuple)
    }
    most = max(counts.values(), default=0)
    for entity, count in counts.items():
        if count < most:
            line = case.inventory.all(entity, "adapters")[-1].evidence
            yield Hit(clue, entity, (line,))


def mixed_link_layers(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield processes that use adapters of both link layers."""
    for entity, found in case.inventory.of("process"):
        used = last(found, "adapters")
        if isinstance(used, tuple):
            layers = {"/IB" in text for text in used if "/" in text}
            if len(layers) > 1:
                yield Hit(clue, entity, (found["adapters"][-1].evidence,))


def gid_table_starts_late(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports whose lowest GID index is above 3, where the version of GIDs is looked up."""
    searched = any(_setting(case, "NCCL_IB_ROCE_VERSION_NUM")) or any(
        code in case.events for code in ("nccl.gid_version_unread", "verbs.qp_no_gid")
    )
    lowest: dict[tuple[str, ...], tuple[int, Reading, Entity]] = {}
    for entity, found in case.inventory.of("gid"):
        index = whole(entity.key[-1])
        if index is None:
            continue
        reading = next(iter(found.values()))[-1]
        at = entity.key[:-1]
        if at not in lowest or index < lowest[at][0]:
            lowest[at] = (index, reading, entity)
    for index, reading, entity in lowest.values():
        if index > 3 and searched:  # noqa: PLR2004 - v1 and v2 of two addresses
            yield Hit(clue, entity, (reading.evidence,))


def chosen_gid_not_usable(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield GIDs that a setting chooses and that are link-local beside an IP address.

    Of a port that has no entry of the chosen index its first entry is yielded.
    """
    tables: dict[tuple[str, ...], dict[str, tuple[Entity, Reading]]] = {}
    for entity, found in case.inventory.of("gid"):
        if "address" in found:
            table = tables.setdefault(entity.key[:-1], {})
            table[entity.key[-1]] = (entity, found["address"][-1])
    for setting, reading in _setting(case, *_GID_SETTINGS):
        for table in tables.values():
            first, address = table.get(str(reading.value)) or next(iter(table.values()))
            absent = str(reading.value) not in table and str(reading.value) != "-1"
            local = not absent and _is_link_local(address) and not all(
                _is_link_local(other) for _, other in table.values()
            )  # fmt: skip
            if (absent or local) and near(setting, first):
                yield Hit(clue, first, (reading.evidence, address.evidence), detail=(
                    f"{setting.key[-1]} is {reading.value}; that GID is "
                    f"{'absent' if absent else address.value}"))  # fmt: skip


def _is_link_local(address: Reading) -> bool:
    return str(address.value).lower().startswith("fe80")


def gids_of_different_subnets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield failed connections whose two GIDs are of different subnets."""
    for event in case.events.get("nccl.gids", ()):
        if event.fields.get("local") != event.fields.get("remote"):
            yield Hit(clue, event.entity, tuple(event.evidence))


_COMPLETIONS: Final = ("nccl.retry_exceeded", "nccl.flushed", "nccl.completion_error")
_BOTH: Final = 2


def two_hosts_report_one_another(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield failed transfers of two hosts that each name another peer: both are alive.

    Of a process that died, the others name one address, and its own host reports nothing.
    """
    events = [event for code in _COMPLETIONS for event in case.events.get(code, ())]
    hosts = {event.entity.field("host") for event in events if event.entity.field("host")}
    peers = {event.fields["peer"] for event in events if event.fields.get("peer")}
    if len(hosts) == _BOTH == len(peers):
        for event in events:
            yield Hit(clue, event.entity, tuple(event.evidence))


def two_interfaces_in_one_subnet(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield interfaces of one host that are attached to the same IP network."""
    seen: dict[tuple[str, object], Entity] = {}
    for entity, found in case.inventory.of("interface"):
        net = last(found, "subnet")
        first = seen.setdefault((entity.field("host"), net), entity)
        if net and first is not entity:
            yield Hit(clue, entity, (found["subnet"][-1].evidence,))


def same_address_on_two_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield addresses that two hosts or pods have."""
    seen: dict[object, Entity] = {}
    for entity, found in case.inventory.of("interface"):
        address = last(found, "address")
        if not address or str(address[0]).startswith("127."):  # type: ignore[index]
            continue
        first = seen.setdefault(address, entity)
        hosts = {first.field("host"), entity.field("host")}
        if len(hosts) > 1 and "" not in hosts:
            yield Hit(clue, entity, (found["address"][-1].evidence,))


def _gdr_off_beside_peermem(case: Case, *, old: bool) -> Iterator[Event]:
    loaded = any(
        entity.key[-1] == "nvidia_peermem" for entity, _ in case.inventory.of("module")
    )
    versions = [
        tuple(whole(part) or 0 for part in str(last(found, "nccl")).split("."))
        for _, found in case.inventory.of("process")
        if "nccl" in found
    ]
    if loaded and versions and (min(versions) < _OLD_NCCL) == old:
        for event in case.events.get("nccl.gdr_adapter", ()):
            if event.fields.get("state") == "Disabled":
                yield event


def gdr_off_beside_peermem_and_old_nccl(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield adapters without GPUDirect beside the module, where NCCL does not know its name."""
    for event in _gdr_off_beside_peermem(case, old=True):
        yield Hit(clue, event.entity, tuple(event.evidence))


def gdr_off_beside_peermem_and_new_nccl(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield adapters without GPUDirect although the module is loaded and NCCL knows it."""
    for event in _gdr_off_beside_peermem(case, old=False):
        yield Hit(clue, event.entity, tuple(event.evidence))


def _insufficient(case: Case) -> Iterator[tuple[Event, Entity, Mapping[str, list[Reading]]]]:
    """Yield resources that the scheduler refused, with what each node says of them."""
    for event in case.events.get("k8s.insufficient", ()):
        for entity, found in case.inventory.of("resource"):
            if entity.key[-1] == event.fields.get("resource", "").rstrip("."):
                yield event, entity, found


def resource_all_allocated(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield refused resources of which a node has allocated all that it offers."""
    for event, entity, found in _insufficient(case):
        offered, used = last(found, "allocatable"), last(found, "allocated")
        if offered and used is not None and used >= offered:  # type: ignore[operator]
            yield Hit(clue, entity, (*event.evidence, found["allocated"][-1].evidence))


def resource_free_yet_refused(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield refused resources of which a node has some left."""
    for event, entity, found in _insufficient(case):
        offered, used = last(found, "allocatable"), last(found, "allocated")
        if offered and used is not None and used < offered:  # type: ignore[operator]
            yield Hit(clue, entity, (*event.evidence, found["allocated"][-1].evidence))


def resource_unhealthy(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield refused resources that a node has and offers none of."""
    for event, entity, found in _insufficient(case):
        capacity, offered = last(found, "capacity"), last(found, "allocatable")
        if capacity and offered == 0.0:
            yield Hit(clue, entity, (*event.evidence, found["allocatable"][-1].evidence))


def adapters_open_beside_those_refused(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield hosts that use verbs although some devices, of others, could not be opened."""
    for event in case.events.get("verbs.open_failed", ()):
        for entity, found in case.inventory.of("process"):
            same = entity.field("host") == event.entity.field("host")
            if same and "adapters" in found and last(found, "network") != "Socket":
                yield Hit(clue, event.entity, (found["adapters"][-1].evidence,))


def chosen_port_down(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports that are down and that NCCL_IB_HCA names."""
    wanted = {
        part.strip("=^").split(":")[0]
        for _, reading in _setting(case, "NCCL_IB_HCA")
        for part in str(reading.value).split(",")
    }
    for entity, found in case.inventory.of("port"):
        if entity.field("adapter") in wanted and last(found, "state") == "down":
            yield Hit(clue, entity, (found["state"][-1].evidence,))


_SLOW_BYTES_PER_S: Final = 12.5e9
"""What one TCP connection of 100 Gb/s carries; ranks of one host have NVLink or PCIe."""
_LARGE_BYTES: Final = 64e6


def slow_over_sockets(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield "no device" where NCCL uses sockets and a large collective is as slow as TCP."""
    slow = any(
        isinstance(busbw := last(found, "busbw"), float)
        and busbw < _SLOW_BYTES_PER_S
        and (number(entity.field("size")) or 0.0) >= _LARGE_BYTES
        for entity, found in case.inventory.of("collective")
    )
    processes = case.inventory.of("process")
    if slow and any(last(found, "network") == "Socket" for _, found in processes):
        for event in case.events.get("nccl.no_device", ()):
            yield Hit(clue, event.entity, tuple(event.evidence))

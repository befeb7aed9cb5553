"""Quality of service of a switch, as several rules look at it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.rule import Case, Device

CNP_DSCP: Final = 48
"""Of the firmware of ConnectX, where nobody says another."""
ECN_BITS: Final = 4
"""A traffic class is DSCP x 4 and two bits of ECN. [RFC 3168]"""
CLASSES: Final = 8
DSCPS: Final = 64


def table(device: Device, kind: facts.Map) -> dict[int, facts.Mapped]:
    """Return a map of labels as the ports of a switch use it; unused tables are left out."""
    names = {one.table for one in device.of(facts.MapUse) if one.kind is kind}
    rows = [one for one in device.of(facts.Mapped) if one.kind is kind]
    used = [one for one in rows if one.table in names] if names else rows
    return {one.source: one for one in used}


def target(rows: dict[int, facts.Mapped], source: int) -> int:
    """Return where a label leads; to the same number where the map does not say."""
    return rows[source].target if source in rows else source


def paused(device: Device) -> set[int]:
    """Return the priorities that some port of a switch pauses."""
    return {priority for one in device.of(facts.Pause) for priority in one.priorities}


def lossless_queues(device: Device) -> set[int]:
    """Return the queues of the paused priorities."""
    rows = table(device, facts.Map.PAUSE_TO_QUEUE)
    return {target(rows, priority) for priority in paused(device)}


def host_pauses(case: Case) -> list[facts.Pause]:
    """Return what NICs pause, where they pause anything."""
    return [one for one in case.of_hosts(facts.Pause) if one.priorities]


def host_map(case: Case) -> dict[int, facts.Mapped]:
    """Return the priority that NICs give each DSCP."""
    return {one.source: one for one in case.of_hosts(facts.Mapped)}


def traffic_classes(case: Case) -> Iterator[tuple[facts.Variable, int]]:
    """Yield the traffic classes of jobs that can be read."""
    for one in case.variables("NCCL_IB_TC"):
        value = whole(one.value)
        if value is not None:
            yield one, value


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedQueue:
    """An ECN profile on a queue of some ports; ``ports`` empty: of all."""

    use: facts.Fact
    marking: facts.Marking
    queue: int
    ports: tuple[str, ...]


def marked(device: Device) -> Iterator[MarkedQueue]:
    """Yield every queue that has an ECN profile."""
    by_name: dict[str, list[facts.Marking]] = {}
    for one in device.of(facts.Marking):
        if one.name:
            by_name.setdefault(one.name, []).append(one)
        else:
            for queue in one.queues:
                yield MarkedQueue(use=one, marking=one, queue=queue, ports=one.ports)
    for use in device.of(facts.QueueUse):
        for one in by_name.get(use.marking, []):
            yield MarkedQueue(use=use, marking=one, queue=use.queue, ports=use.ports)


def overlap(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether two settings meet on a port; an empty list stands for all ports."""
    one, other = set(first), set(second)
    return not one or not other or bool(one & other)


def lossless_profiles(device: Device) -> Iterator[tuple[facts.GroupUse, facts.BufferProfile]]:
    """Yield the buffer profiles of paused priority groups with their use."""
    profiles = {one.name: one for one in device.of(facts.BufferProfile)}
    groups = table(device, facts.Map.PAUSE_TO_GROUP)
    wanted = {target(groups, priority) for priority in paused(device)}
    for use in device.of(facts.GroupUse):
        if use.ingress and use.group in wanted and use.profile in profiles:
            yield use, profiles[use.profile]


def dscp_class(device: Device, dscp: int) -> facts.Mapped | None:
    """Return the row of the map of a DSCP, where the switch has one."""
    return table(device, facts.Map.DSCP_TO_CLASS).get(dscp)

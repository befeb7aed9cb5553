"""Joins of traffic classes, by name; each yields the clue where it holds."""

from collections.abc import Iterator
from typing import Final

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue
from weft.inventory.entity import Entity

_FAR_MORE: Final = 100.0
"""So many times the packets of the lossless class are not a few acknowledgements."""
_BUSY: Final = 1e6
"""Packets from which on an interface carried a job."""


def traffic_outside_lossless_class(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield interfaces whose traffic is in priority 0 while another priority is lossless."""
    for entity, found in case.inventory.of("interface"):
        enabled = last(found, "pfc")
        if not isinstance(enabled, tuple) or "1" not in enabled:
            continue
        lossless = [str(place) for place, flag in enumerate(enabled) if flag == "1"]
        for interface in _counted(case, entity):
            used = sum(_sent(case, interface, priority) for priority in lossless)
            default = _sent(case, interface, "0")
            if "0" not in lossless and default > _BUSY and default > _FAR_MORE * used:
                of_default = Entity("priority", (*interface.key, "0"))
                line = case.inventory.all(of_default, "tx_packets")[-1].evidence
                yield Hit(clue, interface, (line, found["pfc"][-1].evidence))


def _counted(case: Case, interface: Entity) -> list[Entity]:
    """Return the interface, or those of its host that have counters where it is not named."""
    if interface.field("interface"):
        return [interface]
    host = interface.field("host")
    keys = dict.fromkeys(
        entity.key[:2]
        for entity, _ in case.inventory.of("priority")
        if entity.field("host") == host
    )
    return [Entity("interface", key) for key in keys]


def _sent(case: Case, interface: Entity, priority: str) -> float:
    known = case.inventory.value(Entity("priority", (*interface.key, priority)), "tx_packets")
    return known if isinstance(known, float) else 0.0

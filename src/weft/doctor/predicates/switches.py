"""Joins of switches and the hosts behind them."""

from collections.abc import Iterator
from typing import Final

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue

_USUAL_MTU: Final = 1500
"""Interfaces that carry no RDMA often have it, whatever the switches have."""


def switch_mtu_below_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports of switches, in use, that pass less than the hosts send."""
    hosts = [found["mtu"][-1] for entity, found in case.inventory.of("interface")
             if "mtu" in found and entity.field("interface") != "lo"
             and last(found, "state") != "down"]  # fmt: skip
    sizes = {one.value: one.evidence for one in hosts if isinstance(one.value, float)}
    smallest = min((one for one in sizes if one > _USUAL_MTU), default=0.0)
    for entity, found in case.inventory.of("switch_port"):
        mtu = last(found, "mtu")
        up = last(found, "state") in {"up", "active"}
        if up and isinstance(mtu, float) and mtu < smallest:
            yield Hit(clue, entity, (found["mtu"][-1].evidence, sizes[smallest]))


def several_masters(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a subnet of which two managers say that they are the master."""
    for entity, found in case.inventory.of("subnet"):
        lines = {one.value: one.evidence for one in found.get("masters", ())}
        if len(lines) > 1:
            yield Hit(clue, entity, tuple(lines.values()))

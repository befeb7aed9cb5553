"""Joins of switches and the hosts behind them."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue
from weft.inventory.entity import Entity

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


_UNEVEN: Final = 2.0
"""Times the mean that a port sends: hashing many flows over equal paths never does so."""
_FEWEST_PATHS: Final = 3


def next_hops_uneven(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports of a switch that send far more than the mean of the ports of its routes."""
    ports = list(case.inventory.of("switch_port"))
    hops = {_short(entity) for entity, found in ports if last(found, "next_hop")}
    switches: dict[str, list[tuple[float, Hit]]] = {}
    for entity, found in ports:
        name = next((one for one in ("tx_rate", "tx_use") if one in found), "")
        sent = last(found, name)
        if _short(entity) in hops and isinstance(sent, float):
            hit = Hit(clue, entity, (found[name][-1].evidence,))
            switches.setdefault(entity.field("switch"), []).append((sent, hit))
    for sending in switches.values():
        mean = sum(sent for sent, _ in sending) / len(sending)
        if len(sending) >= _FEWEST_PATHS:
            yield from (hit for sent, hit in sending if sent > _UNEVEN * mean)


def fewer_next_hops(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a port of each switch whose routes lead over fewer ports than those of most."""
    hops: dict[str, list[Entity]] = {}
    for entity, found in case.inventory.of("switch_port"):
        if last(found, "next_hop"):
            hops.setdefault(entity.field("switch"), []).append(entity)
    counts = Counter(len(ports) for ports in hops.values())
    if not counts:
        return
    (usual, count), *_ = counts.most_common(1)
    for ports in hops.values():
        if count >= _FEWEST_PATHS and len(ports) < usual:
            lines = case.inventory.all(ports[0], "next_hop")
            yield Hit(
                clue, Entity("switch", (ports[0].field("switch"),)), (lines[-1].evidence,)
            )


def _short(entity: Entity) -> tuple[str, str]:
    """Return a port as its switch and a name that all tables share: Ethernet49/1 is Et49/1."""
    name = entity.field("port").lower()
    digits = name.lstrip("abcdefghijklmnopqrstuvwxyz-")
    return entity.field("switch"), f"{name[:2]}{digits}"


def several_masters(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a subnet of which two managers say that they are the master."""
    for entity, found in case.inventory.of("subnet"):
        lines = {one.value: one.evidence for one in found.get("masters", ())}
        if len(lines) > 1:
            yield Hit(clue, entity, tuple(lines.values()))

"""Joins of switches and the hosts behind them."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import re2

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue
from weft.expectations.cabling import short_port
from weft.inventory.entity import Entity

_USUAL_MTU: Final = 1500
"""Interfaces that carry no RDMA often have it, whatever the switches have."""


def switch_mtu_below_hosts(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ports of switches, in use, that pass less than the hosts send."""
    hosts = [found["mtu"][-1] for entity, found in case.inventory.of("interface")
             if "mtu" in found and entity.field("interface") != "lo"
             and last(found, "state") != "down"]  # fmt: skip
    sizes = {host.value: host.evidence for host in hosts if isinstance(host.value, float)}
    smallest = min((size for size in sizes if size > _USUAL_MTU), default=0.0)
    for entity, found in case.inventory.of("switch_port"):
        mtu = last(found, "mtu")
        up = last(found, "state") in {"up", "active"}
        if up and isinstance(mtu, float) and mtu < smallest:
            yield Hit(clue, entity, (found["mtu"][-1].evidence, sizes[smallest]))


_UNEVEN: Final = 2.0
"""Times the mean that a port sends: hashing many flows over equal paths never does so."""
_BUSY_RATIO: Final = 0.1
"""Share of its rate below which a port is idle: a few flows that differ say nothing."""
_FEWEST_PATHS: Final = 3
_RARE_RATIO: Final = 1 / 3
"""Most switches with fewer next hops, to those with the usual number; more are built so."""
_DIGITS: Final = re2.compile(r"\d+")


def next_hops_uneven(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield busy ports that send far more than the mean of the next hops of one route."""
    sending: dict[tuple[str, str], tuple[float, Hit]] = {}
    for entity, found in case.inventory.of("switch_port"):
        share = last(found, "tx_use")
        if isinstance(share, float):
            hit = Hit(clue, entity, (found["tx_use"][-1].evidence,))
            sending[short_port(entity)] = (share, hit)
    groups = {frozenset(map(short_port, hops)) for hops in _next_hops(case).values()}
    uneven: dict[Entity, Hit] = {}
    for group in groups:
        known = [sending[hop] for hop in sorted(group & sending.keys())]
        mean = sum(share for share, _ in known) / max(1, len(known))
        for share, hit in known if len(known) >= _FEWEST_PATHS else ():
            if share > max(_BUSY_RATIO, _UNEVEN * mean):
                uneven[hit.entity] = hit
    yield from uneven.values()


def fewer_next_hops(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield switches that have a route over fewer ports than most of their peers.

    Peers are the switches whose names differ by numbers only: a spine has one path to a leaf
    where the other leaves have several.
    """
    routes: dict[tuple[str, str], dict[str, list[Entity]]] = {}
    for (switch, prefix), hops in _next_hops(case).items():
        routes.setdefault((_DIGITS.sub("#", switch), prefix), {})[switch] = hops
    fewer: dict[str, Hit] = {}
    for switches in routes.values():
        counts = Counter(map(len, switches.values()))
        (usual, most), *_ = counts.most_common(1)
        for switch, hops in switches.items() if most >= _FEWEST_PATHS else ():
            if len(hops) < usual and counts[len(hops)] <= _RARE_RATIO * most:
                line = case.inventory.all(hops[0], "next_hop")[-1].evidence
                fewer.setdefault(switch, Hit(clue, Entity("switch", (switch,)), (line,)))
    yield from fewer.values()


def _next_hops(case: Case) -> dict[tuple[str, str], list[Entity]]:
    """Return over which ports each switch has a route to each prefix."""
    hops: dict[tuple[str, str], list[Entity]] = {}
    for entity, found in case.inventory.of("switch_port"):
        for prefix in {str(reading.value) for reading in found.get("next_hop", ())}:
            hops.setdefault((entity.field("switch"), prefix), []).append(entity)
    return hops


def several_masters(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield a subnet of which two managers say that they are the master."""
    for entity, found in case.inventory.of("subnet"):
        lines = {master.value: master.evidence for master in found.get("masters", ())}
        if len(lines) > 1:
            yield Hit(clue, entity, tuple(lines.values()))

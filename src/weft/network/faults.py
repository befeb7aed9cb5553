"""Faults of a network by name: which links each touches, and what it leaves of their rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from weft.errors import SpecError
from weft.network.graph import HOST_LEAF, LEAF_SPINE, SPINE_CORE, Graph, Ints
from weft.records import table

LAYERS: Final = {"host_leaf": HOST_LEAF, "leaf_spine": LEAF_SPINE, "spine_core": SPINE_CORE}
TIERS: Final = {"leaf": 0, "spine": 1, "core": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row of ``faults.toml``."""

    name: str
    title: str
    part: str
    left_ratio: float
    monthly_ratio: float | None
    """Share of such parts that fail in a month; none: not published."""
    source: str


def faults_of(network: Graph, names: Sequence[str]) -> tuple[Fault, ...]:
    """Return the rows of some names; one given twice is in two places.

    Raises SpecError for an unknown name or a part that the network does not have that often.
    """
    faults = named(names)
    for part in {row.part for row in faults}:
        wanted = [row for row in faults if row.part == part]
        places = len(places_of(network, wanted[0]))
        if len(wanted) > places:
            given = ", ".join(row.name for row in wanted)
            raise SpecError(
                f"{given}: the network has {places} such parts ({part}), fewer than the "
                f"{len(wanted)} that fail; give fewer, or another fault"
            )
    return faults


def named(names: Sequence[str]) -> tuple[Fault, ...]:
    """Return the rows of some names; raise SpecError for an unknown one."""
    rows = {row.name: row for row in known_faults()}
    for name in names:
        if name not in rows:
            raise SpecError(f"unknown fault {name!r}; known are: {', '.join(rows)}")
    return tuple(rows[name] for name in names)


@cache
def known_faults() -> tuple[Fault, ...]:
    """Return the rows of ``faults.toml`` in their order."""
    rows = table("weft.network", "faults")
    return tuple(
        Fault(
            name=name, title=row["title"], part=row["part"], left_ratio=row["left"],
            monthly_ratio=rate.get("value"),
            source=rows["sources"][rate["source"]]["title"] if rate else "",
        )
        for name, row in rows.items() if name != "sources"
        for rate in (row.get("monthly", {}),)
    )  # fmt: skip


def places_of(network: Graph, fault: Fault) -> Ints:
    """Return all parts that can have a fault: switches, or cables by their link up."""
    if fault.part in TIERS:
        tier = TIERS[fault.part]
        return np.arange(network.first[tier], network.first[tier + 1])
    up = network.source < network.target
    return np.flatnonzero((network.layer == LAYERS[fault.part]) & up)


def links_of(network: Graph, faults: tuple[Fault, ...]) -> tuple[tuple[int, float], ...]:
    """Return the links that faults touch, each fault in the next place of its kind."""
    found: dict[int, float] = {}
    for number, fault in enumerate(faults):
        places = places_of(network, fault)
        place = places[sum(item.part == fault.part for item in faults[:number]) % len(places)]
        if fault.part in TIERS:
            touched = np.flatnonzero((network.source == place) | (network.target == place))
        else:
            touched = np.array([place, network.reverse[place]])
        for link in touched.tolist():
            found[link] = min(found.get(link, 1.0), fault.left_ratio)
    return tuple(sorted(found.items()))

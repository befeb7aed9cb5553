"""How far a collective lies from anything measured, axis by axis."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2
from typing import Any, Final

WITHIN: Final = "within the measured domain"
SIZE, DOMAIN, COLLECTIVE, GENERATION, FABRIC, VERSION = AXES = (
    "size", "domain", "collective", "generation", "fabric", "version",
)  # fmt: skip
"""Hosts and GPUs; GPUs of one scale-up domain; collective; GPU class; fabric; NCCL release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one measured sweep or one prediction lies."""

    operation: str
    ranks: int
    domains: int
    local: int
    generation: str
    fabric: str
    version: tuple[int, ...]
    """Empty where the library is not NCCL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """What was measured inside one domain, or across several."""

    ranks: Mapping[str, int]
    """Most GPUs by collective."""
    domains: Mapping[str, int]
    """Most scale-up domains by collective."""
    local: int
    """Most GPUs of a scale-up domain."""
    generations: frozenset[str]
    fabrics: frozenset[str]
    version: tuple[int, int]
    """Newest NCCL release."""


Measured = Mapping[str, Extent]
"""By reach: ``inside`` one scale-up domain, ``across`` several."""


def reach(place: Place) -> str:
    """Return the part of the measurements that a place is compared with."""
    return "across" if place.domains > 1 else "inside"


def extents(places: Iterable[Place]) -> dict[str, Extent]:
    """Return what some measured places span."""
    by_reach: dict[str, list[Place]] = {}
    for place in places:
        by_reach.setdefault(reach(place), []).append(place)
    return {name: _extent(found) for name, found in by_reach.items()}


def _extent(places: list[Place]) -> Extent:
    ranks: dict[str, int] = {}
    domains: dict[str, int] = {}
    for p in places:
        ranks[p.operation] = max(ranks.get(p.operation, 0), p.ranks)
        domains[p.operation] = max(domains.get(p.operation, 0), p.domains)
    newest = max((p.version[:2] for p in places if p.version), default=(0, 0))
    return Extent(
        ranks=ranks, domains=domains, local=max(p.local for p in places),
        generations=frozenset(p.generation for p in places),
        fabrics=frozenset(p.fabric for p in places), version=(newest[0], newest[-1]),
    )  # fmt: skip


def distances(place: Place, measured: Measured) -> dict[str, float]:
    """Return the distance beyond what was measured along each axis; empty inside of it.

    Doublings along ``size`` and ``domain``, minor releases along ``version``, 1 for a
    collective, generation or fabric without a measurement.
    """
    extent = measured.get(reach(place))
    if extent is None:
        return {COLLECTIVE: 1.0, GENERATION: 1.0}
    found = {
        SIZE: max(
            _doublings(place.ranks, _most(extent.ranks, place.operation)),
            _doublings(place.domains, _most(extent.domains, place.operation)),
        ),
        DOMAIN: _doublings(place.local, extent.local),
        COLLECTIVE: float(place.operation not in extent.ranks),
        GENERATION: float(place.generation not in extent.generations),
        FABRIC: float(place.domains > 1 and place.fabric not in extent.fabrics),
        VERSION: _releases(place.version, extent.version),
    }
    return {axis: far for axis, far in found.items() if far > 0}


def _most(by_operation: Mapping[str, int], operation: str) -> int:
    return by_operation.get(operation) or max(by_operation.values())


def _doublings(value: int, largest: int) -> float:
    return max(0.0, log2(value / largest))


def _releases(version: tuple[int, ...], newest: tuple[int, int]) -> float:
    if len(version) < len(newest) or version[:2] <= newest:
        return 0.0
    return float(version[1] - newest[1]) if version[0] == newest[0] else 1.0


def sentence(place: Place, measured: Measured, far: Mapping[str, float]) -> str:
    """Say whether an estimate is interpolated, and what lies beyond the measurements if not."""
    if not far:
        return WITHIN
    extent = measured.get(reach(place))
    if extent is None:
        return "extrapolated: nothing of this kind was measured"
    return "extrapolated: " + "; ".join(_part(axis, place, extent) for axis in far)


def _part(axis: str, place: Place, extent: Extent) -> str:
    ranks = _most(extent.ranks, place.operation)
    domains = _most(extent.domains, place.operation)
    texts = {
        SIZE: f"{place.ranks:,} GPUs, largest measured {ranks:,}"
        if place.ranks > ranks
        else f"{place.domains:,} hosts, largest measured {domains:,}",
        DOMAIN: f"{place.local:,} GPUs in one scale-up domain, largest measured"
        f" {extent.local:,}",
        COLLECTIVE: f"{place.operation} not measured",
        GENERATION: f"GPU generation {place.generation} not measured",
        FABRIC: f"fabric {place.fabric} not measured",
        VERSION: f"NCCL {'.'.join(map(str, place.version[:2]))}, newest measured"
        f" {'.'.join(map(str, extent.version))}",
    }
    return texts[axis]


def to_table(measured: Measured) -> dict[str, dict[str, Any]]:
    """Return extents as tables of numbers and texts, for a file that ``spread`` reads."""
    return {
        name: {
            "local": e.local,
            "generations": sorted(e.generations),
            "fabrics": sorted(e.fabrics),
            "version": list(e.version),
            "ranks": dict(sorted(e.ranks.items())),
            "domains": dict(sorted(e.domains.items())),
        }
        for name, e in sorted(measured.items())
    }

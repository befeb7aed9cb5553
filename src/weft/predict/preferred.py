"""Ranges of sizes at which the library had better run something else than it chooses."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from weft.engines.analytic import collective as engine
from weft.engines.analytic.collective import Preference
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation

OPERATIONS: Final = (
    Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.REDUCE_SCATTER,
    Operation.BROADCAST, Operation.REDUCE,
)  # fmt: skip
"""Operations whose algorithm can be chosen."""
SIZES_BYTES: Final = tuple(2**power for power in range(10, 33))
"""1 KiB to 4 GiB: below, every choice is a start-up time; a plug-in's table ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """One range of sizes with one better choice."""

    operation: Operation
    first_bytes: int
    last_bytes: int
    algorithm: str
    protocol: str
    instead_of: tuple[str, str]
    """What the library chooses at the first of these sizes."""
    least_gain_ratio: float
    """Of the sizes tried in the range."""
    band_ratio: float
    """Widest of the model's band at these sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the model prefers for one job: what it can tell, and what it cannot."""

    hosts: int
    ranks: int
    preferred: tuple[Preferred, ...]
    untold: int
    """Sizes at which another choice looks better, but by less than the band is wide."""


def choices(cluster: Cluster) -> Choices:
    """Return the better choices for a job on every GPU of a cluster."""
    group = Group(ranks=cluster.gpus, ranks_per_domain=cluster.gpus_per_domain)
    found: list[Preferred] = []
    untold = 0
    for operation in OPERATIONS:
        tried = [engine.preference(cluster, operation, size, group) for size in SIZES_BYTES]
        found += _ranges(operation, tried)
        untold += sum(1 < item.gain_ratio <= item.band_ratio for item in tried)
    return Choices(
        hosts=cluster.hosts, ranks=cluster.gpus, preferred=tuple(found), untold=untold
    )


def _ranges(operation: Operation, tried: list[Preference]) -> Iterator[Preferred]:
    """Yield one range for neighbouring sizes that prefer the same pair."""
    held: Preferred | None = None
    for item in tried:
        told = item.gain_ratio > item.band_ratio
        longer = held and told and _longer(held, item)
        if longer:
            held = longer
            continue
        if held is not None:
            yield held
        held = _range(operation, item) if told else None
    if held is not None:
        yield held


def _longer(held: Preferred, one: Preference) -> Preferred | None:
    """Return a range with one more size, if its least gain stays above its widest band."""
    gain = min(held.least_gain_ratio, one.gain_ratio)
    band = max(held.band_ratio, one.band_ratio)
    if one.fastest != (held.algorithm, held.protocol) or gain <= band:
        return None
    return replace(
        held, last_bytes=2 * one.size_bytes - 1, least_gain_ratio=gain, band_ratio=band
    )


def _range(operation: Operation, one: Preference) -> Preferred:
    """Return the range of one size: up to the next that is tried."""
    return Preferred(
        operation=operation, first_bytes=one.size_bytes, last_bytes=2 * one.size_bytes - 1,
        algorithm=one.fastest[0], protocol=one.fastest[1], instead_of=one.chosen,
        least_gain_ratio=one.gain_ratio, band_ratio=one.band_ratio,
    )  # fmt: skip

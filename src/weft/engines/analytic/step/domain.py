"""How far a training step lies from any that was measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, hypot, log, log2, sqrt
from typing import Any, Final

from weft.engines.analytic.collective.constants import shipped
from weft.engines.analytic.collective.domain import WITHIN
from weft.records import table
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.workload import Job

_TAU: Final = {"gpus": 0.05, "generation": 0.15, "fabric": 0.05}
"""Spread of log time per doubling of GPUs, and of a generation and a fabric that was not
measured. A prior: published series leave too few runs beyond a limit."""
_EDGE: Final = 1.2816
"""Spreads of a normal law from its middle to the edge of its 80 % band."""


def measured() -> Mapping[str, Any]:
    """Return what published steps span."""
    return table(__package__, "spans")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a training step lies among those that were measured."""

    gpus: int
    generation: str
    fabric: str
    """Empty where the job stays in one host."""


def place_of(cluster: Cluster, job: Job, generation: str) -> Place:
    """Return where the step of a job on a cluster lies."""
    gpus = job.gpus or cluster.gpus
    return Place(
        gpus=gpus,
        generation=generation,
        fabric=cluster.fabric.kind if gpus > cluster.host.gpus else "",
    )


def distances(place: Place) -> dict[str, float]:
    """Return the distance beyond published steps along each axis; empty inside of them."""
    known, fabrics = measured(), shipped().spread.measured["across"].fabrics
    found = {
        "gpus": max(0.0, log2(max(1, place.gpus) / _largest(place))),
        "generation": float(place.generation not in known["gpus"]),
        "fabric": float(bool(place.fabric) and place.fabric not in fabrics),
    }
    return {axis: far for axis, far in found.items() if far > 0}


def _largest(place: Place) -> int:
    by_generation: Mapping[str, int] = measured()["gpus"]
    return by_generation.get(place.generation) or max(by_generation.values())


def sentence(place: Place) -> str:
    """Say whether a step is interpolated, and what lies beyond the measurements if not."""
    far = distances(place)
    if not far:
        return WITHIN
    texts = {
        "gpus": f"{place.gpus:,} GPUs, largest measured {_largest(place):,}",
        "generation": f"GPU generation {place.generation} not measured",
        "fabric": f"fabric {place.fabric} not measured",
    }
    return "extrapolated: " + "; ".join(texts[axis] for axis in far)


def widened(band: Estimate, place: Place) -> Estimate:
    """Return a band with the variance of what lies beyond the measurements."""
    far = distances(place)
    if not far:
        return band
    more = _EDGE * sqrt(sum(_TAU[axis] ** 2 * distance for axis, distance in far.items()))
    low, high = band.value / band.low, band.high / band.value
    return Estimate(band.value, band.value / _wider(low, more), band.value * _wider(high, more))


def _wider(ratio: float, more: float) -> float:
    """Return one end over the value with an independent spread added."""
    return exp(hypot(log(ratio), more))

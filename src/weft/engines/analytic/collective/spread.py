"""How far measured times lie from predicted ones: the hierarchical error model.

::

    log(measured / predicted) = class + family + system + sweep(size) + residual
    s^2 = exp(2 (base + size + scale + collective + network)) + sum over axes tau^2 distance

``s`` is the spread of a system that took no part in a fit: it holds the variance between
families and between systems. A system that was measured keeps the shares of sweep and
residual alone. ``levels`` are conformal: the quantiles of the law at which the measured
80 % lay on systems left out, by size, by number of hosts, by network, and inside or outside
what was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import Any, Final

from pydantic import TypeAdapter

from weft.engines.analytic.collective.domain import Measured, Place
from weft.network import fabric

_LARGE_BYTES: Final = 64 * 2**20
_SMALL_BYTES: Final = 256 * 2**10
_MANY_DOMAINS: Final = 8
_EVEN: Final = (0.1, 0.9)
COLLECTIVES: Final[Mapping[str, str]] = {
    "all_reduce": "all_reduce", "all_gather": "one_way", "reduce_scatter": "one_way",
    "alltoall": "exchange", "sendrecv": "exchange",
}  # fmt: skip
"""Collective -> class with one spread; others are ``rooted``."""
VERBS: Final = frozenset({"infiniband", "roce"})


def bucket(size_bytes: float) -> str:
    """Name the range of sizes that a band belongs to."""
    if size_bytes >= _LARGE_BYTES:
        return "large"
    return "small" if size_bytes <= _SMALL_BYTES else "middle"


def scale(domains: int) -> str:
    """Name the range of hosts that a band belongs to."""
    if domains > _MANY_DOMAINS:
        return "many_hosts"
    return ("one_host", "two_hosts", "few_hosts")[min(domains, 3) - 1]


def network(place: Place) -> str:
    """Name the class of network: inside a domain, verbs, kernel sockets or a plug-in."""
    if place.domains == 1:
        return "inside"
    if place.fabric in VERBS:
        return "verbs"
    return "plugin" if fabric.find(place.fabric).gpudirect else "sockets"


def features(place: Place, size: str) -> tuple[str, ...]:
    """Return the names of the terms of log s that apply to a place and a range of sizes."""
    return (
        "base",
        f"size.{size}",
        f"scale.{scale(place.domains)}",
        f"collective.{COLLECTIVES.get(place.operation, 'rooted')}",
        f"network.{network(place)}",
    )


def group(place: Place, size: str, *, within: bool) -> str:
    """Name the conformal group of a place and a range of sizes, its parents before its dots."""
    side = "within" if within else "beyond"
    volume = "large" if size == "large" else "below"
    return f"{volume}.{side}.{scale(place.domains)}.{network(place)}"


def parent(name: str) -> str:
    """Return the group that a small group looks to; empty for one without a parent."""
    return name.rpartition(".")[0]


@dataclass(frozen=True, eq=False)
class Spread:
    """The error model as fitted; all its spreads are of the logarithm of time."""

    log_scale: Mapping[str, float]
    tau: Mapping[str, float]
    """By axis of extrapolation: spread at distance 1."""
    levels: Mapping[str, tuple[float, float]]
    """By conformal group: the quantiles of the law between which 80 % were measured."""
    shares: Mapping[str, float]
    """Of the variance: family, system, sweep, residual; they add up to 1."""
    calibrated: Mapping[str, float]
    """Share of the band that is left once one sweep of a system was measured: of the ``same``
    collective of as many ranks, and of ``other`` collectives and numbers of ranks."""
    choice: Mapping[str, float]
    """``stated`` and ``open``: trust in NCCL's choice where its release is known or not;
    ``nvls_off``: how often NVLS does not run where nothing is said of it."""
    measured: Measured = field(default_factory=dict)

    def sigma(self, place: Place, size: str, far: Mapping[str, float]) -> float:
        """Return the spread s of the error on a system never measured, at some distances."""
        inside = exp(2 * sum(self.log_scale.get(n, 0.0) for n in features(place, size)))
        beyond = sum(self.tau.get(axis, 0.0) ** 2 * d for axis, d in far.items())
        return sqrt(inside + beyond)

    def ends(self, place: Place, size: str, far: Mapping[str, float]) -> tuple[float, float]:
        """Return the quantiles of the law that are the ends of the 80 % band."""
        name = group(place, size, within=not far)
        while name and name not in self.levels:
            name = parent(name)
        return self.levels.get(name, _EVEN)


def from_raw(raw: Mapping[str, Any]) -> Spread:
    """Read the tables of a file of fitted constants."""
    return TypeAdapter(Spread).validate_python(raw)


def fixed(wide_ratio: float = 1.01) -> Spread:
    """Return a spread of one width everywhere, with NCCL's choice taken as certain.

    For fits, which need no band, and tests: the band is a factor ``wide_ratio`` to each side.
    """
    sigma = log(wide_ratio) / NormalDist().inv_cdf(_EVEN[1])
    return Spread(
        log_scale={"base": log(sigma)}, tau={}, levels={},
        shares={"family": 0.25, "system": 0.25, "sweep": 0.25, "residual": 0.25},
        calibrated={"same": 0.0, "other": 1.0},
        choice={"stated": inf, "open": inf, "nvls_off": 0.0},
    )  # fmt: skip

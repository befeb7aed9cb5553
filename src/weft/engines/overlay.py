"""Laying the user's own measurements over what an engine predicts."""

from collections.abc import Mapping
from dataclasses import replace
from math import exp, hypot, log

from weft.engines.engine import CollectiveTime
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.overlay import UNCHANGED


def overlaid(
    cluster: Cluster, found: CollectiveTime, volume_s: float, left: Mapping[str, float]
) -> CollectiveTime:
    """Return a collective's time with the ratios of the cluster's overlay, if it has one.

    ::

        t' = fixed ratio x (t - volume) + volume ratio x volume

    ``left`` is the share of the band that is left once the system has been measured: by the
    ``same`` collective of as many ranks, or by ``other`` ones. The band holds that and what
    the overlay left over, and is never wider than without the overlay.
    """
    overlay = cluster.overlay
    across = found.group.domains > 1
    if overlay is None or (across and overlay.fabric not in {"", cluster.fabric.kind}):
        return found
    ratios = overlay.collective(
        across=across,
        operation=found.operation.value,
        algorithm=found.algorithm,
    )
    if ratios is UNCHANGED:
        return found
    volume_s = min(volume_s, found.time_s.value)
    time_s = ratios.volume_ratio * volume_s
    time_s += ratios.fixed_ratio * (found.time_s.value - volume_s)
    same = overlay.measured(
        across=across, operation=found.operation.value, ranks=found.group.ranks
    )
    known_ratio = left["same" if same else "other"]
    band = Estimate(
        time_s,
        time_s / _end(found.time_s.value / found.time_s.low, 1 / ratios.low_ratio, known_ratio),
        time_s * _end(found.time_s.high / found.time_s.value, ratios.high_ratio, known_ratio),
    )
    said = f"measured on this cluster at {ratios.rows} sizes (overlay {overlay.name})"
    return replace(
        found,
        time_s=band,
        reasons=(*found.reasons, said),
    )


def _end(bare_ratio: float, left_over_ratio: float, known_ratio: float) -> float:
    """Return one end of the band over the value, as a ratio of at least 1."""
    bare, left_over = log(bare_ratio), log(max(1.0, left_over_ratio))
    return exp(min(bare, hypot(known_ratio * bare, left_over)))

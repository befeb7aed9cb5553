"""Laying the user's own measurements over what an engine predicts."""

from dataclasses import replace

from weft.engines.engine import CollectiveTime
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.overlay import UNCHANGED


def overlaid(cluster: Cluster, found: CollectiveTime, volume_s: float) -> CollectiveTime:
    """Return a collective's time with the ratios of the cluster's overlay, if it has one.

    ::

        t' = fixed ratio x (t - volume) + volume ratio x volume
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
    said = f"measured on this cluster at {ratios.rows} sizes (overlay {overlay.name})"
    return replace(
        found,
        time_s=Estimate(time_s, time_s * ratios.low_ratio, time_s * ratios.high_ratio),
        reasons=(*found.reasons, said),
    )

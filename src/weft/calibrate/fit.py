"""Ratios from readings: one pair a class, by medians, so that one bad size moves nothing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from weft.calibrate.reader import CollectiveReading, MessageReading
from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.point_to_point import Link, bandwidth, latency
from weft.errors import SpecError
from weft.spec.cluster import Cluster
from weft.spec.overlay import ANY, UNCHANGED, CollectiveRatios
from weft.traffic.collective import Group

_HUGE_BYTES: Final = 2.0**38
"""So large that only volume counts: its time gives the rate of the volume."""
_FIXED: Final = 0.8
"""Share of a time above which a size tells about what does not grow with it."""
_VOLUME: Final = 0.5
_SMALLEST: Final = 0.01
_LARGEST: Final = 100.0
_NARROWEST: Final = 0.03
"""No cluster repeats a collective more closely than this [OCI A100, five versions]."""

_ENOUGH: Final = 5
_OF_FEW: Final = 0.1
"""Half of the band where fewer sizes than that were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """One size: what was measured, and the two parts of what is predicted."""

    measured_s: float
    fixed_s: float
    volume_s: float

    @property
    def volume_share(self) -> float:
        return self.volume_s / (self.fixed_s + self.volume_s)

    def time_s(self, fixed_ratio: float, volume_ratio: float) -> float:
        return fixed_ratio * self.fixed_s + volume_ratio * self.volume_s


def collective_ratios(
    cluster: Cluster, readings: Iterable[CollectiveReading]
) -> dict[str, CollectiveRatios]:
    """Return the ratios of every class that was measured, and of each reach as a whole."""
    points: dict[str, list[_Point]] = defaultdict(list)
    ranks: dict[str, set[int]] = defaultdict(set)
    for reading in readings:
        group = group_of(cluster, reading.ranks, reading.hosts)
        found = collective_time(cluster, reading.operation, reading.size_bytes, group)
        huge = collective_time(cluster, reading.operation, _HUGE_BYTES, group)
        volume_s = huge.time_s.value / _HUGE_BYTES * reading.size_bytes
        volume_s = min(volume_s, found.time_s.value)
        reach = "across" if group.domains > 1 else "inside"
        point = _Point(
            measured_s=reading.time_s, volume_s=volume_s,
            fixed_s=found.time_s.value - volume_s,
        )  # fmt: skip
        for name in (f"{reading.operation.value}.{found.algorithm}", f"{ANY}.{ANY}"):
            points[f"{reach}.{name}"].append(point)
            ranks[f"{reach}.{name}"].add(group.ranks)
    wholes = {
        name: _ratios(found, UNCHANGED)
        for name, found in points.items()
        if name.endswith(f"{ANY}.{ANY}")
    }
    ratios = wholes | {
        name: _ratios(found, wholes[f"{name.partition('.')[0]}.{ANY}.{ANY}"])
        for name, found in sorted(points.items())
        if name not in wholes
    }
    return {name: own.with_(ranks=sorted(ranks[name])) for name, own in ratios.items()}


def group_of(cluster: Cluster, ranks: int, hosts: int) -> Group:
    """Return where measured ranks sat on the cluster."""
    per_host = -(-ranks // hosts)
    if hosts > cluster.hosts:
        # A rack of 72 GPUs is one host here and eighteen operating systems in a log.
        per_host = min(cluster.gpus_per_domain, ranks)
    if per_host > cluster.gpus_per_domain or -(-ranks // per_host) > cluster.hosts:
        raise SpecError(
            f"{ranks} ranks on {hosts} hosts were measured, and the cluster has "
            f"{cluster.hosts} hosts of {cluster.gpus_per_domain} GPUs; describe the cluster "
            "that was measured"
        )
    return Group(ranks=ranks, ranks_per_domain=per_host)


def _ratios(points: Sequence[_Point], default: CollectiveRatios) -> CollectiveRatios:
    """Return the ratios of a class; what its sizes do not tell is as the default has it."""
    fixed, volume = default.fixed_ratio, default.volume_ratio
    start = [p for p in points if p.volume_share < 1 - _FIXED]
    if start:
        fixed = _held(median(p.measured_s / (p.fixed_s + p.volume_s) for p in start))
    large = [p for p in points if p.volume_share > _VOLUME]
    if large:
        volume = _held(median((p.measured_s - fixed * p.fixed_s) / p.volume_s for p in large))
    least = _NARROWEST if len(points) >= _ENOUGH else _OF_FEW
    left = sorted(p.measured_s / p.time_s(fixed, volume) for p in points)
    return CollectiveRatios(
        fixed_ratio=fixed, volume_ratio=volume, rows=len(points),
        low_ratio=_held(min(_at(left, 0.1), 1 - least)),
        high_ratio=_held(max(_at(left, 0.9), 1 + least)),
    )  # fmt: skip


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[round(share * (len(ordered) - 1))]


def _held(ratio: float) -> float:
    return min(_LARGEST, max(_SMALLEST, ratio))


def message_ratios(
    cluster: Cluster, readings: Iterable[MessageReading]
) -> Mapping[str, CollectiveRatios]:
    """Return what perftest says of everything that crosses the fabric.

    It stands in for collectives that were not measured: latency for what does not grow with
    the size, bandwidth of large messages for what does.
    """
    link = Link(
        fabric=cluster.fabric.kind, bytes_per_s=cluster.host.nic_bytes_per_s,
        mtu_bytes=cluster.fabric.mtu_bytes,
    )  # fmt: skip
    fixed, volume = [], []
    for reading in readings:
        size_bytes, verb = reading.size_bytes, reading.verb
        if reading.time_s is not None:
            found = latency(link, size_bytes, verb).value
            fixed.append(reading.time_s / found)
        if reading.bytes_per_s is not None:
            expected = (
                reading.ways
                * bandwidth(
                    link, size_bytes, verb, queue_pairs=reading.queue_pairs, depth=reading.depth
                ).value
            )
            if expected > _VOLUME * reading.ways * link.line_bytes_per_s:
                volume.append(expected / reading.bytes_per_s)
    if not fixed and not volume:
        return {}
    ratios = CollectiveRatios(
        fixed_ratio=_held(median(fixed)) if fixed else 1.0,
        volume_ratio=_held(median(volume)) if volume else 1.0,
        low_ratio=0.8, high_ratio=1.25, rows=len(fixed) + len(volume),
    )  # fmt: skip
    return {f"across.{ANY}.{ANY}": ratios}

"""What a sweep should have shown on a cluster: the curve, its band, how well that is known."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from weft.bench import noise
from weft.bench.baseline import FEWEST_DEGREES, Baseline, at, table_of
from weft.bench.sweep import MessageTest, Sweep, Timing
from weft.calibrate import fit
from weft.engines.analytic.collective import collective_time, constants
from weft.engines.analytic.collective.constants import Fitted
from weft.engines.analytic.point_to_point import Link, bandwidth, latency, streams
from weft.results import Estimate
from weft.sources import Kind, Source, sourced
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation
from weft.units import rate_from_gbit

ONE_PAIR: Final = sourced(1.38, "roce400_one_pair", low=1.0, high=1.38, confidence=2)
"""Time of a line from 400 Gb/s with one queue pair over that with eight, on sound hosts."""
NET_STEP: Final = "net_step"
"""The fitted constant of one step between hosts; a fault multiplies it."""
ONE_PAIR_FROM: Final = rate_from_gbit(400.0)
SOURCES: Final = {
    "roce400_one_pair": Source(
        key="roce400_one_pair",
        kind=Kind.MEASURED,
        title="ib_write_bw, ConnectX-7 400 Gb/s RoCE: one queue pair against eight, one host",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where and how a sweep ran: all that its expected curve depends on."""

    cluster: Cluster
    sweep: Sweep
    group: Group
    baseline: Baseline | None = None
    """Own runs known to be good; none: the model says what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is expected of one size."""

    size_bytes: float
    time_s: Estimate
    degrees: int
    """Degrees of freedom of its law: the fewer, the farther a healthy system may lie."""
    allowed_ratio: float = 1.0
    """What the way of measuring may cost a sound system at most; ``time_s.high`` holds it."""
    limit: str = ""


def group_of(cluster: Cluster, sweep: Sweep) -> Group:
    """Return where the ranks of a sweep sat on a cluster."""
    if sweep.what != "collective":
        return Group(ranks=2, ranks_per_domain=1)
    ranks = sweep.ranks or cluster.gpus
    hosts = sweep.host_count or -(-ranks // cluster.gpus_per_domain)
    return fit.group_of(cluster, ranks, hosts)


def times_s(setting: Setting, cluster: Cluster, factors: Mapping[str, float]) -> list[float]:
    """Return the curve of a changed cluster, with fitted constants multiplied by factors.

    A message between two hosts is one step of the network.
    """
    if setting.sweep.what != "collective":
        link = replace(link_of(cluster), ends_ratio=factors.get(NET_STEP, 1.0))
        return [message.time_s.value for message in _messages(setting.sweep, link)]
    with constants.using(_scaled(factors) if factors else constants.current()):
        return [point.time_s.value for point in _points(setting, cluster)]


def expected(setting: Setting) -> list[Expected]:
    """Return what is expected at every size of a sweep: of good runs, or of the model."""
    points = _points(setting, setting.cluster)
    own = setting.baseline
    if own is None:
        return points
    keys = sorted({key for run in own.runs for key in run})
    tests = {table_of(timing): timing.test for timing in setting.sweep.timings}
    measured = tuple(
        Timing(size_bytes=size, time_s=1.0, noise_ratio=0.0, test=tests[table])
        for table, size in keys
        if table in tests
    )
    there = replace(setting, sweep=replace(setting.sweep, timings=measured))
    modelled = {
        (table_of(t), t.size_bytes): p.time_s.value
        for t, p in zip(measured, _points(there, setting.cluster), strict=True)
    }
    ratios = own.ratios(modelled)
    return [
        _as_good(own, ratios.get(table_of(t), []), p)
        for t, p in zip(setting.sweep.timings, points, strict=True)
    ]


def as_good_runs(sweep: Sweep, own: Baseline) -> list[Expected | None]:
    """Return what good runs alone say, where no model is known; none of sizes too far off.

    Between their sizes the time of a byte is interpolated.
    """
    keys = {key for run in own.runs for key in run}
    by_byte = own.ratios({(table, size): size for table, size in keys})
    found: list[Expected | None] = []
    for timing in sweep.timings:
        log = (
            at(by_byte[table_of(timing)], timing.size_bytes)
            if table_of(timing) in by_byte
            else None
        )
        if log is None:
            found.append(None)
            continue
        band = own.band(timing.size_bytes * math.exp(log))
        found.append(Expected(size_bytes=timing.size_bytes, time_s=band, degrees=own.degrees))
    return found


def _as_good(own: Baseline, ratios: Sequence[tuple[float, float]], point: Expected) -> Expected:
    log = at(ratios, point.size_bytes) if ratios else None
    if log is None:
        return point
    time_s = own.band(point.time_s.value * math.exp(log))
    return replace(point, time_s=time_s, degrees=own.degrees, allowed_ratio=1.0)


def _scaled(factors: Mapping[str, float]) -> Fitted:
    """Multiply constants; ``net_step`` stands for that of every fabric."""
    own = constants.current()
    values = dict(own.values)
    for name, factor in factors.items():
        found = [key for key in values if key == name or key.startswith(f"{name}.")]
        values |= {key: values[key] * factor for key in found} or {name: factor}
    return Fitted(values, own.spread)


def _points(setting: Setting, cluster: Cluster) -> list[Expected]:
    sweep = setting.sweep
    if sweep.what == "collective":
        return [_collective(setting, cluster, timing) for timing in sweep.timings]
    return _messages(sweep, link_of(cluster))


def _messages(sweep: Sweep, link: Link) -> list[Expected]:
    own = MessageTest(what=sweep.what, verb=sweep.verb, queue_pairs=sweep.queue_pairs)
    return [_message(link, t.test or own, t.size_bytes) for t in sweep.timings]


def operation_of(sweep: Sweep, timing: Timing) -> Operation:
    """Return the collective that a timing is of."""
    return (timing.test.operation if timing.test else None) or sweep.operation


def _collective(setting: Setting, cluster: Cluster, timing: Timing) -> Expected:
    operation = operation_of(setting.sweep, timing)
    found = collective_time(cluster, operation, timing.size_bytes, setting.group)
    return Expected(
        size_bytes=timing.size_bytes, time_s=found.time_s, limit=found.limit,
        degrees=_degrees(cluster, setting, operation, found.algorithm),
    )  # fmt: skip


def _degrees(cluster: Cluster, setting: Setting, operation: Operation, algorithm: str) -> int:
    domains = setting.group.domains
    overlay = cluster.overlay
    if overlay is not None and overlay.fabric in {"", cluster.fabric.kind}:
        rows = overlay.collective(
            across=domains > 1, operation=operation.value, algorithm=algorithm
        ).rows
        if rows:
            return min(noise.errors().degrees, max(FEWEST_DEGREES, rows - 1))
    return noise.errors().degrees


def link_of(cluster: Cluster) -> Link:
    """Return one NIC to another, as perftest measures it."""
    host, choice = cluster.host, cluster.fabric
    rate = min(host.nic_bytes_per_s, choice.link_bytes_per_s or host.nic_bytes_per_s)
    rate *= 1 - choice.load_ratio
    if host.pcie_bytes_per_s is not None:
        rate = min(rate, host.pcie_bytes_per_s)
    return Link(fabric=choice.kind, bytes_per_s=rate, mtu_bytes=choice.mtu_bytes)


def _stream(link: Link, connections: int, size_bytes: float) -> Expected:
    rate = streams(replace(link, fabric="tcp"), connections)
    time_s = rate.map(lambda per_s: size_bytes / per_s)
    return Expected(
        size_bytes=size_bytes, time_s=time_s, degrees=noise.errors().degrees, limit="TCP"
    )


def _message(link: Link, test: MessageTest, size_bytes: float) -> Expected:
    if test.verb == "tcp":
        return _stream(link, test.queue_pairs, size_bytes)
    allowed = 1.0
    if test.what == "latency":
        time_s = latency(link, size_bytes, test.verb)
    else:
        rate = bandwidth(link, size_bytes, test.verb, queue_pairs=test.queue_pairs)
        time_s = rate.map(lambda per_s: size_bytes / per_s)
        if test.queue_pairs == 1 and link.bytes_per_s >= ONE_PAIR_FROM:
            allowed = ONE_PAIR.high
            time_s = replace(time_s, high=time_s.high * allowed)
    return Expected(
        size_bytes=size_bytes, time_s=time_s, degrees=noise.errors().degrees,
        allowed_ratio=allowed,
        limit="NIC" if test.what == "bandwidth" else "latency",
    )  # fmt: skip


def busbw(sweep: Sweep, times: Sequence[float]) -> list[float]:
    """Return bus bandwidths of times at the sizes of a sweep; without ranks size over time."""
    ranks = sweep.ranks if sweep.what == "collective" else None
    return [
        t.size_bytes / s * (operation_of(sweep, t).bus_factor(ranks) if ranks else 1.0)
        for t, s in zip(sweep.timings, times, strict=True)
    ]

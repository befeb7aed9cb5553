"""What the verdict would be on each system that a run without a cluster file may come from.

Where a log does not say which network was measured, the verdict stays open. What it hangs on
is told by judging the run as if it came from each system that is usual for its GPU, or from a
port of each usual rate: often all of them agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft import catalogue, units
from weft.bench.expected import Setting, expected, group_of
from weft.bench.infer import domains, link_between
from weft.bench.sweep import Sweep
from weft.bench.verdict import Outcome, judge_ranges, overall
from weft.catalogue.named import gpu_of
from weft.errors import WeftError
from weft.spec.cluster import Cluster
from weft.spec.load import preset, presets

RATES: Final = ("25Gb/s", "50Gb/s", "100Gb/s", "200Gb/s", "400Gb/s", "800Gb/s")
"""Of ports, as they are sold."""
_PARTS: Final = (2, 4, 8)
"""What share of the usual NICs a host may have been built with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposition:
    """One system that it may be, and the verdict then."""

    system: str
    network: str
    outcome: Outcome
    slower_ratio: float
    """Of the largest sizes that were measured."""
    too_fast: bool
    """Faster than this system can be: it is another."""


def suppositions(sweep: Sweep) -> tuple[Supposition, ...]:
    """Judge a sweep as if it came from each system that it may come from."""
    found = []
    for system, cluster in _systems(sweep):
        try:
            found.append(_suppose(system, cluster, sweep))
        except WeftError:
            continue
    return tuple(found)


def _systems(sweep: Sweep) -> Iterator[tuple[str, Cluster]]:
    if sweep.what != "collective":
        kind = _layer(sweep)
        for text in RATES:
            rate = units.parse_rate(text)
            yield f"{units.show_rate(rate)} {kind}", link_between(kind, rate)
        return
    gpu, ranks = gpu_of(sweep.gpu_name), sweep.ranks
    if gpu is None or not sweep.host_count or not ranks:
        return
    hosts, per_host = domains(gpu, ranks, sweep.host_count)
    if sweep.host_count == 1:
        return
    for name in presets():
        own = preset(name, hosts=hosts)
        if own.host.gpu == gpu and own.gpus_per_domain >= per_host:
            yield name, own
            if hosts == sweep.host_count:
                yield from _with_fewer_nics(name, own)
            else:
                yield f"{name}, hosts not joined", _apart(own, sweep.host_count, ranks)


def _apart(rack: Cluster, hosts: int, ranks: int) -> Cluster:
    """Return the hosts of a rack without the NVLink between them, each with its own NICs."""
    own = -(-ranks // hosts)
    up = rack.host.scale_up.with_(gpus=own)
    nics = max(1, rack.host.nics * own // rack.host.gpus)
    return rack.with_(hosts=hosts, host=rack.host.with_(gpus=own, nics=nics, scale_up=up))


def _with_fewer_nics(name: str, cluster: Cluster) -> Iterator[tuple[str, Cluster]]:
    """Yield servers of one's own choice of NICs; those that are rented are as they are."""
    if catalogue.find("servers", cluster.host.server or name).cloud:
        return
    for part in _PARTS:
        count = cluster.host.nics // part
        if count >= 1:
            few = cluster.host.with_(nics=count)
            yield f"{name}, NICs: {count}", cluster.with_(host=few)


def _layer(sweep: Sweep) -> str:
    if any(timing.test and timing.test.verb == "tcp" for timing in sweep.timings):
        return "tcp"
    return "roce" if sweep.link_layer == "ethernet" else "infiniband"


def _suppose(system: str, cluster: Cluster, sweep: Sweep) -> Supposition:
    setting = Setting(cluster=cluster, sweep=sweep, group=group_of(cluster, sweep))
    ranges = judge_ranges(sweep.timings, expected(setting))
    outcome, _ = overall(ranges, needs_large=sweep.what == "collective")
    host = cluster.host
    return Supposition(
        system=system,
        outcome=outcome,
        slower_ratio=ranges[-1].slower_ratio,
        network=f"{host.nics} x {units.show_rate(host.nic_bytes_per_s)} {cluster.fabric.kind}",
        too_fast=any(
            verdict.slower_ratio < verdict.implausible_below_ratio for verdict in ranges
        ),
    )

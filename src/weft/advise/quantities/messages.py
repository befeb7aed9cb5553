"""Latencies of messages, single collectives, and what printed figures mean."""

from weft.advise.latencies import message_s
from weft.advise.quantity import ARITHMETIC, ASSUMED, Trial, exactly, quantity
from weft.engines.analytic.collective import collective_time
from weft.engines.engine import CollectiveTime
from weft.network.network import resolve
from weft.network.topology import trays_of
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation
from weft.units import gbit_from_rate, rate_from_gbit

SIZE_BYTES, RANKS = 1e9, 8
"""all_reduce_perf of 1 GB on eight GPUs."""


@quantity("one way, NIC to NIC, {fabric}, switches: {switches}", "s", ASSUMED)
def latency(_: Trial, fabric: str, switches: int = 1) -> Estimate:
    """Return the time of a small message."""
    return message_s(fabric, switches)


@quantity(
    "time that {busbw_gbit} Gb/s of bus bandwidth mean for 1 GB on 8 GPUs", "s", ARITHMETIC
)
def time_meant(_: Trial, busbw_gbit: float) -> Estimate:
    """Return size x 2(n-1)/n / busbw."""
    factor = Operation.ALL_REDUCE.bus_factor(RANKS)
    return exactly(SIZE_BYTES * factor / rate_from_gbit(busbw_gbit))


@quantity(
    "bus bandwidth of 1 GB on 8 GPUs, each with its own {nic_gbit} Gb/s NIC, {name}", "Gb/s"
)
def all_reduce_busbw(trial: Trial, name: str, nic_gbit: float) -> Estimate:
    """Return the bus bandwidth between eight hosts of one GPU: the network is used."""
    found = _all_reduce(_hosts_of_one(trial, name, nic_gbit), SIZE_BYTES)
    factor = Operation.ALL_REDUCE.bus_factor(RANKS)
    return found.time_s.map(lambda s: gbit_from_rate(SIZE_BYTES / s * factor))


@quantity("all-reduce of {size_mb} MB over all GPUs: time without SHARP over that with", "x")
def sharp_speedup(trial: Trial, size_mb: int) -> Estimate:
    """Return what reduction in the switches is worth; the band of both is shared."""
    cluster = trial.row("infiniband_sharp").prediction.cluster
    plain = cluster.with_(fabric=cluster.fabric.with_(in_network_reduction=False))
    with_s, without_s = (_whole(item, size_mb * 1e6).time_s.value for item in (cluster, plain))
    return exactly(without_s / with_s)


@quantity(
    "what the cores of a host copy for {name} over the rate of its NICs", "ratio", ASSUMED
)
def copied_share(trial: Trial, name: str) -> Estimate:
    """Return the ceiling of kernel TCP in a host."""
    cluster = trial.row(name).prediction.cluster
    copied = resolve(cluster).fabric.host_socket_bytes_per_s
    host = cluster.host
    trays = trays_of(host.gpus, host.nics)
    rate = host.nics * host.nic_bytes_per_s / trays
    if copied is None:
        return exactly(1.0)
    return Estimate(copied.value / rate, copied.low / rate, copied.high / rate)


def _hosts_of_one(trial: Trial, name: str, nic_gbit: float) -> Cluster:
    cluster = trial.row(name).prediction.cluster
    host = cluster.host
    return cluster.with_(
        hosts=RANKS,
        host=host.with_(
            gpus=1, nics=1, nic_bytes_per_s=rate_from_gbit(nic_gbit), pcie_bytes_per_s=None,
            scale_up=host.scale_up.with_(gpus=1),
        ),
        fabric=cluster.fabric.with_(link_bytes_per_s=None),
        topology=cluster.topology.with_(switch=None, planes=1),
    )  # fmt: skip


def _all_reduce(cluster: Cluster, size_bytes: float) -> CollectiveTime:
    group = Group(ranks=RANKS, ranks_per_domain=1)
    return collective_time(cluster, Operation.ALL_REDUCE, size_bytes, group)


def _whole(cluster: Cluster, size_bytes: float) -> CollectiveTime:
    group = Group(ranks=cluster.gpus, ranks_per_domain=cluster.gpus_per_domain)
    return collective_time(cluster, Operation.ALL_REDUCE, size_bytes, group)

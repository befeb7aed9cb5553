"""What the job over the emulated hosts prints: the log of NCCL, a run of nccl-tests."""

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from weft.emulate.state import Host, State
from weft.predict.collective import expect
from weft.spec.cluster import Cluster

NOISE: Final = 0.01
"""Standard deviation of one size of a healthy sweep, as a share."""
SMALLEST: Final = 1 << 20
LARGEST: Final = 8 << 30
MICROSECONDS: Final = 1e6
GIGA: Final = 1e9
FLOAT_BYTES: Final = 4


def nccl_log(state: State) -> str:
    """Return the log of NCCL at INFO, one rank a host, and what faults added to it."""
    lines: list[str] = []
    for rank, host in enumerate(state.hosts):
        lines += _setup(state, host, rank)
    for host in state.hosts:
        lines += host.log
    return "\n".join(lines) + "\n"


def _setup(state: State, host: Host, rank: int) -> Iterator[str]:
    head = f"{host.name}:101:101 [0] NCCL INFO"
    used = host.rails[: int(host.values.get("host.adapters_used", len(host.rails)))]
    layer = "IB" if state.kind == "infiniband" else "RoCE"
    listed = " ".join(f"[{part.number}]{part.device}:1/{layer}" for part in used)
    yield f"{head} NCCL version {host.values['host.nccl']}+cuda12.8"
    if host.values["host.network"] == "IB":
        yield f"{head} NET/IB : Using {listed} [RO]; OOB eth0:10.200.0.{host.number % 250}<0>"
    else:
        yield f"{head} NET/IB : No device found."
    yield f"{head} Using network {host.values['host.network']}"
    peer = (rank + 1) % len(state.hosts)
    if peer != rank:
        direct = "/GDRDMA" if host.values["host.gdr"] == "yes" else ""
        network = f"NET/{host.values['host.network']}/0{direct}"
        yield f"{head} Channel 00/0 : {rank}[0] -> {peer}[0] [send] via {network}"


def slowed(state: State) -> Cluster:
    """Return the cluster with what the faults leave of its network.

    The slowest rail sets the pace of the rings over all of them.
    """
    cluster = state.plan.cluster.with_(hosts=len(state.hosts))
    left = min(_left(rail.values) for host in state.hosts for rail in host.rails)
    host = cluster.host.with_(nic_bytes_per_s=cluster.host.nic_bytes_per_s * left)
    if any(host.values["host.gdr"] == "no" for host in state.hosts):
        host = host.with_(gpudirect=False)
    fabric = cluster.fabric
    if any(host.values["host.network"] == "Socket" for host in state.hosts):
        fabric = fabric.with_(kind="tcp", load_balancing=None, in_network_reduction=False)
        host = host.with_(gpudirect=False)
    return cluster.with_(host=host, fabric=fabric)


def _left(values: Mapping[str, Any]) -> float:
    """Return the share of its rate that a rail has: of link and PCIe the less."""
    pcie = values["slot.width"] * values["slot.speed"] / (16 * 32)
    return float(min(values["port.rate_ratio"], 1.0, max(pcie, 1 / 16)))


def nccl_tests(state: State, seed: int) -> str:
    """Return a run of all_reduce_perf over the hosts, from the model, with noise."""
    cluster = slowed(state)
    curve = expect(cluster, "all_reduce", smallest_bytes=SMALLEST, largest_bytes=LARGEST)
    chance = random.Random(seed)  # noqa: S311 - noise, no secret
    factor = curve.operation.bus_factor(curve.ranks)
    swept = f"minBytes {SMALLEST} maxBytes {LARGEST} step: 2(factor)"
    lines = [
        "# Collective test starting: all_reduce_perf",
        f"# nThread 1 nGpus 1 {swept} warmup iters: 5 iters: 20 agg iters: 1 validation: 1",
        "#", "# Using devices", *_devices(state),
        "#",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)",
    ]  # fmt: skip
    means = []
    for point in curve.points:
        time_s = point.time_s.value * max(0.5, chance.gauss(1.0, NOISE))
        algbw = point.size_bytes / time_s / GIGA
        means.append(algbw * factor)
        lines.append(
            f"{int(point.size_bytes):12d}  {int(point.size_bytes) // FLOAT_BYTES:12d}     float"
            f"     sum      -1 {time_s * MICROSECONDS:8.1f} {algbw:7.2f} {algbw * factor:7.2f}"
            "      0"
        )
    mean = sum(means) / len(means)
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {mean:.4f}", "#"]
    return "\n".join(lines) + "\n"


def _devices(state: State) -> Iterator[str]:
    each = state.plan.cluster.host.gpus
    for at, host in enumerate(state.hosts):
        for gpu in range(each):
            rank = at * each + gpu
            yield (
                f"#  Rank {rank:2d} Group  0 Pid {1000 + rank:6d} on {host.name:>12s} device "
                f"{gpu:2d} [0000:{0x81 + 2 * gpu:02x}:00] NVIDIA H100 80GB HBM3"
            )

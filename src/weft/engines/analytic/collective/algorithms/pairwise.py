"""Pairwise: sends and receives of all-to-all and send/recv, straight to each peer."""

from weft.engines.analytic.collective.algorithm import (
    CollectiveAlgorithm,
    Limits,
    base_s,
    local_step_s,
    net_available,
    net_step_s,
)
from weft.engines.analytic.collective.graph import Graphs, peer_channels
from weft.engines.analytic.collective.path import Path
from weft.traffic.collective import Operation


def _refusal(path: Path, operation: Operation) -> str:  # noqa: ARG001 - one signature
    return ""


def _peers(path: Path, operation: Operation) -> tuple[int, int]:
    """Return the peers of one rank inside its domain and beyond."""
    if operation is Operation.SEND_RECV:
        return (0, 1) if path.domains > 1 else (1, 0)
    return path.local - 1, path.ranks - path.local


def _latency(path: Path, operation: Operation, protocol: str) -> float:
    inside, beyond = _peers(path, operation)
    first = net_step_s(path, "ring", protocol) if beyond else 0.0
    first = max(first, local_step_s(path, "ring", protocol) if inside else 0.0)
    each = inside * path.fitted("peer.local", 1e-6) + beyond * path.fitted("peer.net", 1.5e-6)
    return base_s(path, "ring", protocol) + first + each


def _unused_latency(path: Path, operation: Operation, protocol: str) -> float:
    return _latency(path, operation, protocol)


def _unused_algbw(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> float:
    return min(_limits(path, graphs, operation, protocol).values())


def _limits(path: Path, graphs: Graphs, operation: Operation, protocol: str) -> Limits:  # noqa: ARG001
    inside, beyond = _peers(path, operation)
    ranks = 1 if operation is Operation.SEND_RECV else path.ranks
    carried = 0.5 if protocol == "ll" else 1.0
    found = {}
    if inside:
        family = "p2p" if operation is Operation.SEND_RECV else "pairwise"
        rate = path.scale_up_bytes_per_s * path.scale_up_const(family, 0.75) * carried
        found["NVLink" if path.link == "nvlink" else "PCIe"] = rate * ranks / inside
    if beyond:
        # Send/recv: one pair of ranks, so the NICs of one GPU; all-to-all: all of them.
        alone = operation is Operation.SEND_RECV
        senders = min(path.local, path.nics) if alone else path.local
        # One steady stream fills a NIC as a ring does; all-to-all keeps switching peers.
        total = net_available(path, "ring" if alone else "pairwise")
        net = total / senders
        if alone and path.fabric.socket_bytes_per_s is not None:
            # What the cores of a host copy is not split by NICs: one pair may have all of it.
            net = min(total, path.nics * path.nic_line_bytes_per_s / senders)
        net *= carried
        found[path.fabric_limit or path.net_limit] = net * ranks / beyond
        if alone and path.fabric.rdma and path.tuning.library == "nccl":
            each = path.fitted("peer_channel", 15e9)
            found["channels of one peer"] = peer_channels(path) * each * carried
    return found


pairwise = CollectiveAlgorithm(
    name="pairwise",
    title="Pairwise",
    operations=frozenset({Operation.ALL_TO_ALL, Operation.SEND_RECV}),
    protocols=("ll", "simple"),
    refusal=_refusal,
    nccl_latency_s=_unused_latency,
    nccl_algbw_bytes_per_s=_unused_algbw,
    latency_s=_latency,
    limits=_limits,
)

"""Pairwise: sends and receives of all-to-all and send/recv, straight to each peer."""

from dataclasses import replace

from weft.engines.analytic.collective.algorithm import CollectiveAlgorithm, Limits, Use
from weft.engines.analytic.collective.graph import peer_channels
from weft.traffic.collective import Operation


def _peers(use: Use) -> tuple[int, int]:
    """Return the peers of one rank inside its domain and beyond."""
    path = use.path
    if use.operation is Operation.SEND_RECV:
        return (0, 1) if path.domains > 1 else (1, 0)
    return path.local - 1, path.ranks - path.local


def _further_s(use: Use) -> float:
    """Return what sends between rails take longer over the switches that join them."""
    path = use.path
    more = path.crossing.hops - path.reach.hops
    return more * path.fabric.switch_hop_s.value + path.crossing.cable_s - path.reach.cable_s


def _latency(use: Use) -> float:
    path, (inside, beyond) = use.path, _peers(use)
    first = use.net_step_s("ring") if beyond else 0.0
    first += _further_s(use) if use.operation is Operation.ALL_TO_ALL else 0.0
    first = max(first, use.local_step_s("ring") if inside else 0.0)
    each = inside * path.fitted("peer.local", 1e-6) + beyond * path.fitted("peer.net", 1.5e-6)
    return use.base_s("ring") + first + each


def _limits(use: Use) -> Limits:
    path, (inside, beyond) = use.path, _peers(use)
    # Send/recv: one pair of ranks, so the NICs of one GPU; all-to-all: all of them.
    alone = use.operation is Operation.SEND_RECV
    ranks = 1 if alone else path.ranks
    carried = 0.5 if use.protocol == "ll" else 1.0
    found = {}
    if inside:
        family = "p2p" if alone else "pairwise"
        rate = path.scale_up_bytes_per_s * path.scale_up_const(family, 0.75) * carried
        found[use.inside] = rate * ranks / inside
    if beyond:
        senders = min(path.local, path.nics) if alone else path.local
        # One steady stream fills a NIC as a ring does; all-to-all keeps switching peers.
        total = use.net_bytes_per_s("ring" if alone else "pairwise")
        net = total / senders * (1.0 if alone else path.crossing_ratio)
        if alone and path.fabric.socket_bytes_per_s is not None:
            # What the cores of a host copy is not split by NICs: one pair may have all of it.
            net = min(total, path.nics * path.nic_line_bytes_per_s / senders)
        net *= carried
        found[use.beyond] = net * ranks / beyond
        if alone and path.fabric.rdma and path.tuning.library == "nccl":
            each = path.fitted("peer_channel", 15e9)
            found["channels of one peer"] = peer_channels(path) * each * carried
    return found


pairwise = CollectiveAlgorithm(
    name="pairwise",
    title="Pairwise",
    operations=frozenset({Operation.ALL_TO_ALL, Operation.SEND_RECV}),
    protocols=("ll", "simple"),
    # The library has no model of it, and chooses by size alone.
    nccl_latency_s=lambda use: _latency(replace(use, library=False)),
    nccl_algbw_bytes_per_s=lambda use: min(_limits(use).values()),
    latency_s=_latency,
    limits=_limits,
)

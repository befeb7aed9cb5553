"""Adaptive routing: near line rate, little harm by links that are gone. [arXiv:2605.21187]

The paper measures 1,024 GPUs under three tiers and 1,152 in four planes; here 64 NICs stand on
8 leaves under 16 spines of half the rate, so that a missing link is a small part, as there.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from reproduction import (
    PS,
    Curve,
    Figure,
    Floats,
    Limit,
    Number,
    Paper,
    curves,
    plain,
    rings,
    spread_of,
)

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import rate_from_gbit

RATE_BYTES_PER_S = rate_from_gbit(400.0)
LEAVES, HOSTS_PER_LEAF, SPINES = 8, 8, 16
HOSTS = LEAVES * HOSTS_PER_LEAF
SIZE_BYTES = 16 << 20
GONE = 0.1
SEEDS = range(4)
PROBE_BYTES, LOAD_BYTES = 4 << 10, 256 << 10
LOAD, PROBES = 0.75, 2000
LASTS_S = 300e-6
Ints = npt.NDArray[np.int64]


def _wiring(gone: float, seed: int, spines: int = SPINES) -> Wiring:
    """Wire leaves to spines, without so large a part of the cables between them."""
    whole = leaf_spine(
        leaves=LEAVES, hosts_per_leaf=HOSTS_PER_LEAF, spines=spines,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=300e-9,
    )  # fmt: skip
    between = (whole.source >= HOSTS) & (whole.target >= HOSTS)
    up = np.flatnonzero(between & (whole.target > whole.source))
    down = np.flatnonzero(between & (whole.target < whole.source))
    lost = np.random.default_rng(seed).choice(len(up), round(gone * len(up)), replace=False)
    kept = np.ones(len(whole.source), bool)
    kept[up[lost]] = kept[down[lost]] = False
    return replace(
        whole, source=whole.source[kept], target=whole.target[kept],
        bytes_per_s=np.where(between, HOSTS_PER_LEAF / spines, 1.0)[kept] * RATE_BYTES_PER_S,
        propagation_s=whole.propagation_s[kept],
    )  # fmt: skip


def _targets(seed: int, *, leaf_by_leaf: bool) -> Ints:
    """Return a target for every host, each taken once, of one other leaf or of all leaves."""
    rng = np.random.default_rng(seed)
    if not leaf_by_leaf:
        order = rng.permutation(HOSTS)
        found = np.empty(HOSTS, np.int64)
        found[order] = np.roll(order, 1)
        return found
    shifted = (np.arange(LEAVES) + rng.integers(1, LEAVES)) % LEAVES
    within = rng.permuted(np.tile(np.arange(HOSTS_PER_LEAF), (LEAVES, 1)), axis=1)
    return (shifted[:, None] * HOSTS_PER_LEAF + within).ravel()


@lru_cache
def _rates(
    seed: int, way: str, gone: float = 0.0, spines: int = SPINES, *, leaf_by_leaf: bool = True
) -> Floats:
    """Return the share of the line of every flow of a permutation between leaves."""
    flows = Flows(
        source=np.arange(HOSTS), target=_targets(seed, leaf_by_leaf=leaf_by_leaf),
        size_bytes=np.full(HOSTS, SIZE_BYTES),
    )  # fmt: skip
    options = Options(flow_control=FlowControl.PFC, balancing=way, seed=seed)
    took = simulate(_wiring(gone, seed, spines), flows, options).end_ps / PS
    return np.asarray(SIZE_BYTES / RATE_BYTES_PER_S / took)


def _line_rate() -> Figure:
    """Return the rates of all pairs under adaptive routing and under hashes."""
    rates = {
        way: np.sort(np.concatenate([_rates(seed, way, 0.0, spines) for seed in SEEDS]))
        for way, spines in (("adaptive", SPINES), ("ecmp", HOSTS_PER_LEAF))
    }
    x = np.linspace(0, 1, len(rates["ecmp"]))
    worst = float(np.quantile(rates["adaptive"], 0.01))
    mean = rates["ecmp"].mean()
    return Figure(
        name="line_rate",
        title="Rates of a permutation between leaves",
        setup="64 NICs, every leaf sends to one other, 16 MiB a pair. Hashed "
        "flows meet; their spines have links of the whole rate, one a host",
        x="share of pairs",
        y="share of the line",
        curves=curves(x, rates),
        numbers=(
            Number(
                name="adaptive, 1st of 100 pairs", unit="ratio", published=0.98,
                simulated=worst, tolerance_ratio=0.03,
                place="abstract: 98 % of line rate", rows=("f0049",),
            ),
            Number(
                name="adaptive, mean", unit="ratio", published=0.95,
                simulated=float(rates["adaptive"].mean()), tolerance_ratio=0.06,
                place="vendor: 95 % with adaptive routing", rows=("f0050",),
            ),
            Number(
                name="hashed, mean", unit="ratio", published=0.60, simulated=float(mean),
                spread=spread_of(rates["ecmp"]), tolerance_ratio=0.15,
                place="vendor: 60 % on standard Ethernet", rows=("f0050",),
            ),
        ),
    )  # fmt: skip


def _latencies(seed: int, gone: float) -> Floats:
    """Return the times of small messages beside random transfers at three quarters load."""
    rng = np.random.default_rng(seed)
    many = int(LOAD * RATE_BYTES_PER_S * LASTS_S * HOSTS / LOAD_BYTES)
    count = many + PROBES
    source = rng.integers(0, HOSTS, count)
    target = (source + rng.integers(1, HOSTS, count)) % HOSTS
    begin = rng.uniform(0, LASTS_S, count)
    flows = Flows(
        source=source, target=target,
        size_bytes=np.where(np.arange(count) < many, LOAD_BYTES, PROBE_BYTES),
        begin_ps=(begin * PS).astype(np.int64),
    )  # fmt: skip
    options = Options(flow_control=FlowControl.PFC, balancing="adaptive", seed=seed)
    outcome = simulate(_wiring(gone, seed), flows, options)
    late = (np.arange(count) >= many) & (begin > LASTS_S / 3)
    return np.asarray((outcome.end_ps - outcome.begin_ps)[late] / PS)


def _failures() -> Figure:
    """Return what a tenth of the links costs."""
    whole, fewer = (
        np.sort(np.concatenate([_latencies(seed, gone) for seed in SEEDS]))
        for gone in (0.0, GONE)
    )
    share = np.linspace(0, 1, len(whole))
    shown = slice(None, None, max(1, len(whole) // 200))
    tail = [np.quantile(one, 0.99) for one in (whole, fewer)]
    rates = [
        np.mean([_rates(seed, "adaptive", gone, leaf_by_leaf=False) for seed in SEEDS])
        for gone in (0.0, GONE)
    ]
    return Figure(
        name="failures",
        title="A tenth of the links between leaves and spines gone",
        setup="messages of 4 KiB beside transfers of 256 KiB at 75 % load, and a permutation "
        "of all hosts",
        x="share of messages",
        y="time (us)",
        curves=(
            Curve(name="all links", x=share[shown], y=1e6 * whole[shown]),
            Curve(name="a tenth gone", x=share[shown], y=1e6 * fewer[shown]),
        ),
        numbers=(
            Limit(
                name="longer 99th of 100 messages", unit="ratio", at_least=0.0, at_most=0.15,
                simulated=float(tail[1] / tail[0] - 1),
                place="abstract: 7 % more latency", rows=("f0049",),
            ),
            Number(
                name="mean rate of the pairs over that with all links", unit="ratio",
                published=335 / 378, simulated=float(rates[1] / rates[0]),
                tolerance_ratio=0.1, place="bandwidth: 378 to 335 Gb/s",
            ),
        ),
    )  # fmt: skip


def _two_hosts() -> Figure:
    """Return a ring of two hosts under one leaf with adaptive routing and without."""
    found = []
    for way in ("ecmp", "adaptive"):
        order = np.arange(2)
        flows = rings([plain(2)(order)], 64, 4 << 20)
        options = Options(flow_control=FlowControl.PFC, balancing=way)
        took = simulate(_wiring(0.0, 0), flows, options).completion_ps / PS
        found.append(64 * (4 << 20) / RATE_BYTES_PER_S / took)
    return Figure(
        name="two_hosts",
        title="Two hosts of one leaf: nothing to route",
        setup="rings of two hosts under one leaf, with hashes and with adaptive routing",
        x="adaptive routing",
        y="share of the line",
        curves=(Curve(name="ring", x=np.array([0.0, 1.0]), y=np.array(found)),),
        numbers=(
            Limit(
                name="adaptive over hashed", unit="ratio", at_least=0.99, at_most=1.01,
                simulated=found[1] / found[0],
                place="NVIDIA/nccl#2409: 455.0 and 455.2 GB/s", rows=("f0051",),
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="High-speed networking for giga-scale AI factories",
    source="Khashab et al., arXiv:2605.21187; NVIDIA on Spectrum-X; NVIDIA/nccl#2409",
    control="none",
    figures=(_line_rate, _failures, _two_hosts),
)

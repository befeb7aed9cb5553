"""Latency of one switch and of three, rails and planes, hashed rings. [DeepSeek, ISCA 2025]

Table 5 measures 64 bytes between CPUs; what NICs and CPUs take of it is no matter of packets,
but the difference between two hosts of one leaf and of two is two more switches and cables.
"""

from dataclasses import replace

import numpy as np
from reproduction import (
    PS,
    Curve,
    Figure,
    Floats,
    Limit,
    Paper,
    Scene,
    curves,
    placed,
    plain,
    rings,
    spread_of,
)

from weft.engines.packet.schedules import LIGHT_IN_GLASS_S_PER_M
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import rate_from_gbit

RATE_BYTES_PER_S = rate_from_gbit(400.0)
CABLE_M = 30.0
MESSAGE_BYTES = 64
SWITCH_S = {
    "RoCE": (560e-9, 700e-9, 1000e-9),
    "InfiniBand": (100e-9, 130e-9, 330e-9),
    "Spectrum": (500e-9, 500e-9, 1000e-9),
}
"""Least, usual and most of Tomahawk 5, Quantum-2 and Spectrum-4, as the catalogue has them."""
ROUNDS, SIZE_BYTES = 12, 1 << 20
SEEDS = range(6)


def more_s(switch_s: float, rate_bytes_per_s: float = RATE_BYTES_PER_S) -> float:
    """Return how much longer a message takes between leaves than within one."""
    whole = leaf_spine(
        leaves=2, hosts_per_leaf=2, spines=1, bytes_per_s=rate_bytes_per_s,
        propagation_s=CABLE_M * LIGHT_IN_GLASS_S_PER_M,
    )  # fmt: skip
    later = np.where(whole.source >= whole.hosts, switch_s, 0.0)
    wiring: Wiring = replace(whole, propagation_s=whole.propagation_s + later)
    took: list[float] = []
    for target in (1, 2):
        one = Flows(
            source=np.array([0]), target=np.array([target]),
            size_bytes=np.array([MESSAGE_BYTES]),
        )  # fmt: skip
        options = Options(cut_through_bytes=MESSAGE_BYTES)
        took.append(simulate(wiring, one, options).completion_ps / PS)
    return took[1] - took[0]


def _latency() -> Figure:
    """Return what two more switches add."""
    found = {name: np.array([more_s(one) for one in ends]) for name, ends in SWITCH_S.items()}
    return Figure(
        name="latency",
        title="64 bytes: how much longer between leaves than within one",
        setup="400 Gb/s, cables of 30 m, switches of the catalogue: least, usual and most; "
        "what is published must lie between",
        x="latency of a switch (us)",
        y="longer by (us)",
        curves=tuple(
            Curve(name=name, x=1e6 * np.array(SWITCH_S[name]), y=1e6 * one)
            for name, one in found.items()
        ),
        numbers=tuple(
            Limit(
                name=f"longer over {name}, most of the catalogue's switches", unit="s",
                at_least=published, simulated=float(found[name][2]),
                spread=spread_of(found[name]),
                place=place, rows=(row,),
            )
            for name, published, place, row in (
                ("RoCE", 2.0e-6, "table 5: 3.6 us and 5.6 us", "f0039"),
                ("InfiniBand", 0.9e-6, "table 5: 2.8 us and 3.7 us", "f0040"),
                ("Spectrum", 1.45e-6, "MRC, section 5.2.1: 5.09 us and 6.54 us", "f0036"),
            )
        ),
    )  # fmt: skip


def _all_to_all_s(kind: str, hosts: int) -> float:
    """Return the time of an all-to-all that keeps to rails (PXN)."""
    scene = Scene(
        {
            "cluster": {
                "preset": "dgx_h100", "hosts": hosts,
                "topology": {"kind": kind, "switch": "qm9700"},
            },
            "traffic": [
                {
                    "collective": {
                        "operation": "alltoall", "algorithm": "hierarchical",
                        "size_bytes": f"{hosts * 2}MiB",
                    }
                }
            ],
        }
    )  # fmt: skip
    return scene.completion_s()


def _rails() -> Figure:
    """Return all-to-alls over rails that spines join, and over rails that nothing joins."""
    hosts = np.array([2, 4, 8, 16])
    kinds = ("rail_optimized", "rail_only")
    times = {kind: np.array([_all_to_all_s(kind, int(one)) for one in hosts]) for kind in kinds}
    ratio = times["rail_only"] / times["rail_optimized"] - 1
    return Figure(
        name="rails",
        title="All-to-all by PXN over joined rails and over planes",
        setup="16 to 128 H100 on NDR InfiniBand; a message first goes to the GPU of its rail "
        "inside its host, so it never changes the rail, whether spines join them or not",
        x="GPUs",
        y="time (us)",
        curves=curves(8.0 * hosts, {kind: 1e6 * one for kind, one in times.items()}),
        numbers=(
            Limit(
                name="planes over joined rails", unit="ratio", at_least=-0.015, at_most=0.015,
                simulated=float(ratio[np.abs(ratio).argmax()]), spread=spread_of(ratio),
                place="figures 5 and 6: within 1.5 %", rows=("f0042",),
            ),
        ),
    )  # fmt: skip


def _share(seed: int, way: str) -> float:
    """Return the share of the line that rings side by side keep."""
    order = np.random.default_rng(seed).permutation(64).reshape(-1, 16)
    flows = rings([plain(2)(one) for one in order], ROUNDS, SIZE_BYTES)
    wiring = leaf_spine(
        leaves=8, hosts_per_leaf=8, spines=8,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip
    hashed = "ecmp" if way == "static" else way
    options = Options(flow_control=FlowControl.PFC, balancing=hashed, seed=seed)
    run = placed if way == "static" else simulate
    return (
        ROUNDS
        * SIZE_BYTES
        / RATE_BYTES_PER_S
        / (run(wiring, flows, options).completion_ps / PS)
    )


def _routing() -> Figure:
    """Return rings under hashes, adaptive routing and chosen static paths."""
    ways = ("ecmp", "adaptive", "static")
    kept: dict[str, Floats] = {
        way: np.array([_share(seed, way) for seed in SEEDS]) for way in ways
    }
    return Figure(
        name="routing",
        title="Rings side by side under hashes, adaptive routing and static paths",
        setup="64 NICs in four rings at random places, two connections a hop, as all-gathers "
        "of tensor parallelism across hosts run; static: each connection has a path of its own",
        x="seed",
        y="share of the line",
        curves=curves(SEEDS, {way: kept[way] for way in ways}),
        numbers=(
            Limit(
                name="hashed over adaptive, most of the seeds", unit="ratio", at_most=0.9,
                simulated=float((kept["ecmp"] / kept["adaptive"]).max()),
                spread=spread_of(kept["ecmp"] / kept["adaptive"]),
                place="figure 8: clearly lower", rows=("f0044",),
            ),
            Limit(
                name="hashed over static, most of the seeds", unit="ratio", at_most=0.9,
                simulated=float((kept["ecmp"] / kept["static"]).max()),
                spread=spread_of(kept["ecmp"] / kept["static"]),
                place="figure 8: clearly lower", rows=("f0044",),
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Insights into DeepSeek-V3: hardware for AI architectures",
    source="DeepSeek-AI, ISCA 2025",
    control="none",
    figures=(_latency, _rails, _routing),
)

"""Single measurements of vendors and sites: balancing, scheduled fabrics, faults, TCP.

What was wired is published of none of them, so set-ups are small and plain, and what is held
against is direction, or a wide range.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from reproduction import (
    PS,
    ROCE_TUNED,
    Figure,
    Floats,
    Limit,
    Number,
    Paper,
    Scene,
    curves,
    exchange,
    plain,
    rings,
    spread_of,
)

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import rate_from_gbit

RATE_BYTES_PER_S = rate_from_gbit(400.0)
SEEDS = range(6)
GROUP = 16
ROUNDS, SIZE_BYTES = 12, 1 << 20
EXCHANGED_BYTES = 512 << 10
SCHEDULED = {
    "flow_control": FlowControl.PFC, "congestion": "rccc", "balancing": "spray",
    "knobs": {"base_rtt_ps": 10e6, "start_window_bytes": 500_000, "first_window_lapses": 0},
    "xoff_bytes": 2_000_000, "xon_bytes": 1_900_000,
}  # fmt: skip
"""As `scheduled_ethernet` has them."""
FAULTY, KEPT = 0.1, 0.25


def _wiring(leaves: int = 8) -> Wiring:
    return leaf_spine(
        leaves=leaves, hosts_per_leaf=8, spines=8,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip


def _servers(way: str, pairs: int, seed: int) -> float:
    """Return the mean rate of two servers' GPUs, each sending to all of the other."""
    source, target = (
        one.ravel() for one in np.meshgrid(np.arange(8), np.arange(8), indexing="ij")
    )
    ends = np.concatenate([np.stack([source, 8 + target]), np.stack([8 + source, target])], 1)
    ends = np.repeat(ends, pairs, axis=1)
    size_bytes = 8 * EXCHANGED_BYTES
    flows = Flows(
        source=ends[0], target=ends[1],
        size_bytes=np.full(ends.shape[1], size_bytes // pairs),
        connection=np.arange(ends.shape[1]) if pairs > 1 else ends[0],
    )  # fmt: skip
    options = Options(**ROCE_TUNED, balancing=way, seed=seed)  # type: ignore[arg-type]
    outcome = simulate(_wiring(2), flows, options)
    ended_s = np.array([outcome.end_ps[flows.source == one].max() for one in range(16)]) / PS
    return float((8 * size_bytes / RATE_BYTES_PER_S / ended_s).mean())


def _balancing() -> Figure:
    """Return the use of the NICs under three ways of balancing. [Asterfusion]"""
    ways = {
        "five-tuple": ("ecmp", 1),
        "queue pair": ("ecmp", 8),
        "adaptive": ("adaptive", 1),
    }
    use = {name: np.array([_servers(*way, s) for s in SEEDS]) for name, way in ways.items()}
    mean = {name: float(one.mean()) for name, one in use.items()}
    why = (
        "how many uplinks there were is not published; as many as NICs are wired here, which "
        "is the least that does not oversubscribe, and collisions cost most then"
    )
    return Figure(
        name="balancing",
        title="Use of the NICs of two servers: hashes and adaptive routing",
        setup="two leaves, a server of eight NICs on each, eight uplinks; everyone sends to "
        "everyone of the other. Hashed by five-tuple, all that a NIC sends takes one path; by "
        "queue pair, each of eight takes its own; adaptive routing stands in for paths chosen "
        "by telemetry",
        x="seed",
        y="mean use of the NICs",
        curves=curves(SEEDS, use),
        numbers=(
            Number(
                name="five-tuple", unit="ratio", published=0.845, simulated=mean["five-tuple"],
                spread=spread_of(use["five-tuple"]), tolerance_ratio=0.1,
                place="84.5 %", rows=("f0045",), outside=why,
            ),
            Number(
                name="queue pair", unit="ratio", published=0.8805, simulated=mean["queue pair"],
                spread=spread_of(use["queue pair"]), tolerance_ratio=0.1,
                place="88.05 %", rows=("f0046",),
            ),
            Number(
                name="adaptive", unit="ratio", published=0.97, simulated=mean["adaptive"],
                spread=spread_of(use["adaptive"]), tolerance_ratio=0.05,
                place="97 % by paths chosen by telemetry", rows=("f0045",),
            ),
        ),
    )  # fmt: skip


def _groups(seed: int) -> list[npt.NDArray[np.int64]]:
    return list(np.random.default_rng(seed).permutation(64).reshape(-1, GROUP))


def _job_s(kind: str, settings: dict[str, object], pairs: int, seed: int) -> float:
    groups = _groups(seed)
    if kind == "ring":
        flows = rings([plain(2 * pairs)(one) for one in groups], ROUNDS, SIZE_BYTES)
    else:
        flows = exchange(groups, EXCHANGED_BYTES, pairs)
    options = Options(**settings, seed=seed)  # type: ignore[arg-type]
    return simulate(_wiring(), flows, options).completion_ps / PS


def _scheduled() -> Figure:
    """Return how much sooner jobs end on a scheduled fabric. [Scala, DriveNets]"""
    less = {
        (kind, pairs): np.array(
            [
                1 - _job_s(kind, SCHEDULED, 1, s) / _job_s(kind, ROCE_TUNED, pairs, s)
                for s in SEEDS
            ]
        )
        for kind in ("exchange", "ring")
        for pairs in (4, 16)
    }
    each = np.concatenate(list(less.values()))
    return Figure(
        name="scheduled",
        title="How much sooner collectives end on a scheduled fabric",
        setup="64 NICs, four jobs at random places; hashed Clos with 4 or 16 queue pairs "
        "against spraying with credit from the receiver. Of a whole job, computing and all, "
        "it is less",
        x="seed",
        y="time saved",
        curves=curves(
            SEEDS,
            {f"{kind}, {pairs} queue pairs": one for (kind, pairs), one in less.items()},
        ),
        numbers=(
            Limit(
                name="time saved, median of all", unit="ratio", at_least=0.10,
                simulated=float(np.median(each)), spread=spread_of(each),
                place="10 % of a job (simulated by Scala), 10 to 30 % (vendor)",
                rows=("f0047", "f0048"),
            ),
        ),
    )  # fmt: skip


def _faulty(seed: int) -> Wiring:
    """Leave a quarter of the rate of a tenth of the cables between switches.

    As where a link repeats each frame three times in the mean.
    """
    whole = _wiring()
    up = np.flatnonzero((whole.source >= whole.hosts) & (whole.target > whole.source))
    drawn = np.random.default_rng(seed).choice(len(up), round(FAULTY * len(up)), replace=False)
    rate = whole.bytes_per_s.copy()
    rate[up[drawn]] *= KEPT
    return replace(whole, bytes_per_s=rate)


def _resilience() -> Figure:
    """Return what rings lose where a tenth of the links are slow. [Meta]"""
    lost: dict[str, Floats] = {}
    for way in ("ecmp", "adaptive"):
        found = []
        for seed in SEEDS:
            flows = rings([plain(8)(one) for one in _groups(seed)], ROUNDS, SIZE_BYTES)
            options = Options(flow_control=FlowControl.CREDITS, balancing=way, seed=seed)
            whole, faulty = (
                simulate(one, flows, options).completion_ps
                for one in (_wiring(), _faulty(seed))
            )
            found.append(1 - whole / faulty)
        lost[way] = np.array(found)
    return Figure(
        name="resilience",
        title="Bandwidth lost to slow links, with adaptive routing and without",
        setup="InfiniBand, four rings of 16 at random places; one cable in ten between the "
        "switches repeats so many frames that a quarter of its rate is left",
        x="seed",
        y="bandwidth lost",
        curves=curves(SEEDS, lost),
        numbers=(
            Limit(
                name="lost without adaptive routing, median", unit="ratio", at_least=0.5,
                simulated=float(np.median(lost["ecmp"])), spread=spread_of(lost["ecmp"]),
                place="more than half may be lost", rows=("f0054",),
            ),
            Limit(
                name="lost with it, median", unit="ratio", at_most=0.5,
                simulated=float(np.median(lost["adaptive"])),
                spread=spread_of(lost["adaptive"]), place="and is kept with it",
                rows=("f0054",),
            ),
        ),
    )  # fmt: skip


def _bus_bytes_per_s(*, nics: int, mtu: int, threads: bool, segment: str = "") -> float:
    """Return the bus bandwidth of an all-reduce of two hosts at 200 Gb/s a NIC."""
    written: dict[str, object] = {
        "cluster": {
            "preset": "h100_tcp_100g" if threads else "dgx_h100",
            "hosts": 2,
            "host": {
                "gpus": nics, "nic": "", "nics": nics, "nic_bytes_per_s": "200Gb/s",
                "server": "", "pcie_bytes_per_s": None, "scale_up": {"gpus": nics},
            },
            "fabric": {"kind": "tcp" if threads else "infiniband", "mtu_bytes": f"{mtu}B"},
        },
        "traffic": [
            {
                "collective": {
                    "operation": "all_reduce", "size_bytes": "32MiB",
                    "ranks_per_host": 1, "channels": nics,
                }
            }
        ],
    }  # fmt: skip
    if threads:
        written["network"] = {"sockets": {"segment_bytes": segment} if segment else {}}
    return float(32 << 20) / Scene(written).completion_s()


def _tcp() -> Figure:
    """Return RDMA over sockets on the same hosts. [Azure NDv4, CSCS Alps]"""
    azure = np.array(
        [
            _bus_bytes_per_s(nics=8, mtu=4096, threads=False),
            _bus_bytes_per_s(nics=1, mtu=2044, threads=True),
            _bus_bytes_per_s(nics=1, mtu=2044, threads=True, segment="64KiB"),
        ]
    )
    alps = np.array(
        [
            _bus_bytes_per_s(nics=4, mtu=4096, threads=False),
            _bus_bytes_per_s(nics=1, mtu=9000, threads=True),
            _bus_bytes_per_s(nics=4, mtu=9000, threads=True),
        ]
    )
    x = np.array([0.0, 1.0, 2.0])
    return Figure(
        name="sockets",
        title="All-reduce of two hosts: RDMA and sockets",
        setup="0: RDMA, a ring over all NICs. 1 and 2: one thread a NIC copies, at the costs "
        "that other measurements gave (`tcp` among the fabrics). NDv4: one interface of IPoIB, "
        "packets by themselves and 64 KiB at once, as the kernel may; Alps: one interface and "
        "four, which is not said. What the library costs is not in packets, nor its other "
        "algorithms: two nodes of Alps pass the rate of their NICs with RDMA (122.6 GB/s)",
        x="RDMA, sockets",
        y="bus bandwidth (GB/s)",
        curves=curves(x, {"NDv4": azure / 1e9, "Alps": alps / 1e9}),
        numbers=(
            Limit(
                name="NDv4: RDMA over sockets", unit="ratio", at_least=187 / 3.2,
                simulated=float(azure[0] / azure[1]),
                spread=(float(azure[0] / azure[2]), float(azure[0] / azure[1])),
                place="187 and 3.2 GB/s", rows=("f0063",),
            ),
            Limit(
                name="Alps: RDMA over sockets", unit="ratio", at_least=122.6 / 6.0,
                simulated=float(alps[0] / alps[1]),
                spread=(float(alps[0] / alps[2]), float(alps[0] / alps[1])),
                place="122.6 and 6.0 GB/s", rows=("f0064",),
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Other measurements",
    source="Asterfusion CX864E-N test report; Scala Computing for DriveNets; Kokolis et al., "
    "Revisiting Reliability (Meta); Azure/aks-rdma-infiniband; CSCS documentation of Alps",
    control="dcqcn, rccc, cubic",
    figures=(_balancing, _scheduled, _resilience, _tcp),
)

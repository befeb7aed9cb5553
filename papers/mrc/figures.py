"""A victim beside an incast, a ring over one path or many, loss. [MRC, arXiv:2605.04333]

The measurements are of 16 servers (incast) and 64 GPUs (ring) at 400 Gb/s; their cabling and
the settings of their NICs are not published. Here two leaves of 8 hosts, or 8 of 8, stand under
8 spines, one link each.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from reproduction import (
    ROCE_TUNED,
    Figure,
    Floats,
    Limit,
    Number,
    Paper,
    curves,
    plain,
    rates_over,
    rings,
    spread_of,
)

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import bytes_from_bits, rate_from_gbit

RATE_GBIT_PER_S = 400.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
SENDERS = 7
SEEDS = range(8)
SPRAYED = {
    "flow_control": FlowControl.NONE, "congestion": "nscc", "balancing": "spray",
    "queue_limit_bytes": 800_000, "kmin_bytes": 100_000, "kmax_bytes": 400_000,
    "pmax_ratio": 1.0,
}  # fmt: skip
NOTIFIED = {"flow_control": FlowControl.PFC, "congestion": "dcqcn"}
NETWORKS = {
    "PFC alone": {"flow_control": FlowControl.PFC},
    "PFC and DCQCN": NOTIFIED,
    "sprayed, trimmed, NSCC": SPRAYED,
}
UNHARMED = 0.99
START_S, UNTIL_S, STEP_S = 3e-3, 12e-3, 1e-3
MANY = 8
ROUNDS = 12
RING_BYTES = 1 << 20
CONNECTIONS = (1, 2, 4, 8, 16, 32)
LOSS_ROUNDS = 8
LOSSES = (0.0, 0.001, 0.01)
SIZES = (1 << 20, 8 << 20)
MTU_BYTES = 4096
REPEATED = SPRAYED | {
    "recovery": "selective_repeat", "reordering_packets": 64, "timeout_ps": 50_000_000,
}  # fmt: skip
GO_BACK = {"flow_control": FlowControl.PFC, "recovery": "go_back_n"}


def _leaves(count: int) -> Wiring:
    return leaf_spine(
        leaves=count, hosts_per_leaf=8, spines=8,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip


def _victim_gbit_per_s(settings: dict[str, object], seed: int, pairs: int = 1) -> Floats:
    """Return the rate of a flow from the senders' leaf to a neighbour of their target.

    By steps of a millisecond, without the first, in which rates are found.
    """
    flows = Flows(
        source=np.repeat(np.arange(SENDERS + 1), pairs),
        target=np.repeat([8] * SENDERS + [9], pairs),
        size_bytes=np.full((SENDERS + 1) * pairs, 1 << 40),
    )
    options = Options(**settings, seed=seed)  # type: ignore[arg-type]
    rates = rates_over(_leaves(2), flows, options, until_s=UNTIL_S, step_s=STEP_S)
    late = rates[int(START_S / STEP_S) - 1 :, -pairs:].sum(1)
    return late / RATE_BYTES_PER_S * RATE_GBIT_PER_S


def _victim() -> Figure:
    """Return the victim's rate under three networks, by seed of the hash."""
    rates = {
        name: np.array([_victim_gbit_per_s(settings, seed).mean() for seed in SEEDS])
        for name, settings in NETWORKS.items()
    }
    met = rates["PFC alone"] < UNHARMED * RATE_GBIT_PER_S
    paused, notified, sprayed = (one[met] for one in rates.values())
    return Figure(
        name="victim",
        title="A victim beside an incast of seven",
        setup="the victim goes from the senders' leaf to the target's, to another host; "
        "numbers are of the seeds whose hash puts it on the path of a sender, from 3 ms on: "
        "in the first milliseconds of DCQCN, before rates are found, it has 245 Gb/s",
        x="seed",
        y="rate of the victim (Gb/s)",
        curves=curves(SEEDS, rates),
        numbers=(
            Limit(
                name="victim with PFC alone, median", unit="Gb/s", at_least=30, at_most=100,
                simulated=float(np.median(paused)), spread=spread_of(paused),
                place="appendix: 30 to 100 Gb/s", rows=("f0032",),
            ),
            Number(
                name="victim with DCQCN and one connection, median", unit="Gb/s",
                published=0.75 * RATE_GBIT_PER_S, simulated=float(np.median(notified)),
                spread=spread_of(notified), tolerance_ratio=0.1,
                place="section 5.2.8: 25 % less", rows=("f0030",),
            ),
            Limit(
                name="victim with packets sprayed and trimmed", unit="Gb/s",
                at_least=0.97 * RATE_GBIT_PER_S, simulated=float(sprayed.min()),
                spread=spread_of(sprayed), place="section 5.2.8: no impact", rows=("f0033",),
            ),
        ),
    )  # fmt: skip


def _many_pairs() -> Figure:
    """Return the victim's worst millisecond with eight connections a pair."""
    runs = {
        "timers of the paper": [_victim_gbit_per_s(NOTIFIED, seed, MANY) for seed in SEEDS],
        "timers of 20 us": [_victim_gbit_per_s(ROCE_TUNED, seed, MANY) for seed in SEEDS],
    }
    worst = {name: np.array([one.min() for one in found]) for name, found in runs.items()}
    eager = worst["timers of 20 us"]
    return Figure(
        name="victim_of_many",
        title="The same victim with eight connections a pair",
        setup="57 flows share the paths, and all grow by the same step, so what matters is the "
        "step of the NIC, which is not published. With DCQCN's of 2015 (40 Mb/s for 40 Gb/s, "
        "every 55 us) nothing happens; with steps of 2 % every 20 us rates swing, and in its "
        "worst millisecond the victim loses most. Intervals are of a second in the paper",
        x="seed",
        y="worst millisecond of the victim (Gb/s)",
        curves=curves(SEEDS, worst),
        numbers=(
            Number(
                name="worst millisecond with steps of 2 %", unit="Gb/s",
                published=0.25 * RATE_GBIT_PER_S, simulated=float(np.median(eager)),
                spread=spread_of(eager), tolerance_ratio=0.5,
                place="section 5.2.8: down 75 % in one-second intervals", rows=("f0031",),
            ),
        ),
    )  # fmt: skip


def _ring_shares(
    connections: int, *, orders: range = range(3), worst: bool = True, **settings: object
) -> Floats:
    """Return the share of the line that a ring reaches, by seed."""
    found: list[float] = []
    for seed in orders:
        order: npt.NDArray[np.int64] = np.arange(64).reshape(-1, 8).T.ravel()
        if not worst:
            order = np.random.default_rng(seed).permutation(64)
        flows = rings([plain(connections)(order)], ROUNDS, RING_BYTES)
        options = Options(seed=seed, **settings)  # type: ignore[arg-type]
        took_s = simulate(_leaves(8), flows, options).completion_ps / 1e12
        found.append(ROUNDS * RING_BYTES / RATE_BYTES_PER_S / took_s)
    return np.array(found)


def _ring() -> Figure:
    """Return the share of the line by number of connections, and with spraying."""
    pauses = FlowControl.PFC
    shares = np.array([_ring_shares(one, flow_control=pauses).mean() for one in CONNECTIONS])
    random = np.array(
        [_ring_shares(one, worst=False, flow_control=pauses).mean() for one in CONNECTIONS]
    )
    sprayed = _ring_shares(1, flow_control=pauses, balancing="spray")
    x = np.array(CONNECTIONS, float)
    one = _ring_shares(1, worst=False, orders=range(8), **ROCE_TUNED)
    sixteen = CONNECTIONS.index(16)
    return Figure(
        name="ring",
        title="Ring of 64 over hashed and sprayed paths",
        setup="once every hop crosses the spines, once hosts stand in random order (seven hops "
        "of eight cross); the order and the cabling of the measurement are not published",
        x="connections (queue pairs) a pair of NICs",
        y="share of the line",
        curves=curves(x, {
            "hashed, all hops cross": shares,
            "hashed, random order": random,
            "sprayed, one connection": np.full(len(x), sprayed.mean()),
        }),
        numbers=(
            Number(
                name="one connection, hashed, random order", unit="ratio", published=0.5,
                simulated=float(np.median(one)), spread=spread_of(one), tolerance_ratio=0.2,
                place="section 5.2.7: about half", rows=("f0034",),
                outside="half means that no more than two flows meet on a link. With 64 hops "
                "hashed over 8 links a leaf three or four meet somewhere, and the ring waits "
                "for them; a ring in order of the hosts keeps all. The measured one lies "
                "between, as if part of its hops stayed under a leaf",
            ),
            Limit(
                name="sprayed over 16 connections hashed", unit="ratio", at_least=1.0,
                simulated=float(sprayed.mean() / shares[sixteen]),
                place="section 5.2.7: spraying beats 16 queue pairs", rows=("f0034",),
            ),
            Limit(
                name="gain from 8 to 16 connections over that from 1 to 8", unit="ratio",
                at_most=1.0,
                simulated=float(
                    np.log(shares[sixteen] / shares[sixteen - 1])
                    / np.log(shares[sixteen - 1] / shares[0])
                ),
                place="section 5.2.7: little gain beyond 8", rows=("f0034",),
            ),
        ),
    )  # fmt: skip


def _lossy(loss: float) -> Wiring:
    """Lose so large a part of the packets between leaf and spine."""
    whole = _leaves(8)
    up = (whole.source >= whole.hosts) & (whole.target > whole.source)
    errors = loss / MTU_BYTES * bytes_from_bits(1.0)
    return replace(whole, bit_error_ratio=np.where(up, errors, 0.0)) if loss else whole


def _kept(settings: dict[str, object], pairs: int, loss: float, size_bytes: int) -> float:
    order = np.random.default_rng(0).permutation(64)
    flows = rings([plain(pairs)(order)], LOSS_ROUNDS, size_bytes)
    options = Options(**settings)  # type: ignore[arg-type]
    took_s = simulate(_lossy(loss), flows, options).completion_ps / 1e12
    return LOSS_ROUNDS * size_bytes / RATE_BYTES_PER_S / took_s


def _loss() -> Figure:
    """Return what a ring keeps where packets are lost on all paths."""
    ways = {
        "RoCE, 8 connections": (GO_BACK, 8),
        "sprayed, selective": (REPEATED, 1),
    }
    kept = {
        (name, size): np.array([_kept(*way, loss, size) for loss in LOSSES])
        for name, way in ways.items()
        for size in SIZES
    }
    roce = np.array([kept["RoCE, 8 connections", size][2] for size in SIZES])
    sprayed = np.array([kept["sprayed, selective", size][2] for size in SIZES])
    little = kept["sprayed, selective", SIZES[1]]
    return Figure(
        name="loss",
        title="Ring of 64 where packets are lost between leaf and spine",
        setup="random order of hosts; RoCE goes back to the gap, a sprayed connection repeats "
        "what is missing after 64 later packets or 50 us; each hop passes 1 or 8 MiB on, and "
        "all wait for the slowest",
        x="packets lost (%)",
        y="share of the line",
        curves=curves(
            100 * np.array(LOSSES),
            {f"{name}, {size >> 20} MiB": one for (name, size), one in kept.items()},
        ),
        numbers=(
            Limit(
                name="RoCE at 1 % loss", unit="ratio", at_most=0.25,
                simulated=float(roce.mean()), spread=spread_of(roce),
                place="section 5.2.7: unusable", rows=("f0035",),
            ),
            Number(
                name="sprayed at 1 % loss", unit="ratio", published=1 / 3,
                simulated=float(sprayed.mean()), spread=spread_of(sprayed),
                tolerance_ratio=0.5, place="section 5.2.7: about one third", rows=("f0035",),
            ),
            Limit(
                name="sprayed, 8 MiB: 0.1 % loss over none", unit="ratio", at_least=0.7,
                simulated=float(little[1] / little[0]),
                place="section 5.2.7: little impact at large sizes",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="MRC: multipath reliable connections",
    source="Araujo et al., arXiv:2605.04333, section 5.2 and appendix",
    control="dcqcn, nscc",
    figures=(_victim, _many_pairs, _ring, _loss),
)

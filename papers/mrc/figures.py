"""A victim beside an incast, and a ring over one path or many. [MRC, arXiv:2605.04333]

The measurements are of 16 servers (incast) and 64 GPUs (ring) at 400 Gb/s; their cabling is not
published. Here two leaves of 8 hosts, or 8 of 8, stand under 8 spines, one link each.
"""

import numpy as np
from reproduction import Curve, Figure, Floats, Limit, Number, Paper, ring_time_s

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import rate_from_gbit

RATE_GBIT_PER_S = 400.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
SENDERS = 7
SEEDS = range(10)
SPRAYED = {
    "flow_control": FlowControl.NONE, "congestion": "nscc", "balancing": "spray",
    "queue_limit_bytes": 800_000, "kmin_bytes": 100_000, "kmax_bytes": 400_000,
    "pmax_ratio": 1.0,
}  # fmt: skip
NETWORKS = {
    "PFC alone": {"flow_control": FlowControl.PFC},
    "PFC and DCQCN": {"flow_control": FlowControl.PFC, "congestion": "dcqcn"},
    "sprayed, trimmed, NSCC": SPRAYED,
}
UNHARMED = 0.99
ROUNDS = 12
RING_BYTES = 1 << 20
CONNECTIONS = (1, 2, 4, 8, 16, 32)


def _leaves(count: int) -> Wiring:
    return leaf_spine(
        leaves=count, hosts_per_leaf=8, spines=8,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip


def _victim_gbit_per_s(settings: dict[str, object], seed: int) -> float:
    """Return the rate of a flow from the senders' leaf to a neighbour of their target."""
    flows = Flows(
        source=np.arange(SENDERS + 1),
        target=np.array([8] * SENDERS + [9]),
        size_bytes=np.full(SENDERS + 1, 1 << 40),
    )
    options = Options(**settings, seed=seed)  # type: ignore[arg-type]
    early, late = (
        simulate(_leaves(2), flows, options, until_ps=until).received_bytes[SENDERS]
        for until in (1_000_000_000, 4_000_000_000)
    )
    return float(late - early) / 3e-3 / RATE_BYTES_PER_S * RATE_GBIT_PER_S


def _victim() -> Figure:
    """Return the victim's rate under three networks, by seed of the hash."""
    rates = {
        name: np.array([_victim_gbit_per_s(settings, seed) for seed in SEEDS])
        for name, settings in NETWORKS.items()
    }
    met = rates["PFC alone"] < UNHARMED * RATE_GBIT_PER_S
    paused, notified, sprayed = (one[met] for one in rates.values())
    return Figure(
        name="victim",
        title="A victim beside an incast of seven",
        setup="the victim goes from the senders' leaf to the target's, to another host; "
        "numbers are of the seeds whose hash puts it on the path of a sender",
        x="seed",
        y="rate of the victim (Gb/s)",
        curves=tuple(
            Curve(name=name, x=np.array(SEEDS, float), y=one) for name, one in rates.items()
        ),
        numbers=(
            Limit(
                name="victim with PFC alone, median", unit="Gb/s", at_least=30, at_most=100,
                simulated=float(np.median(paused)), place="appendix: 30 to 100 Gb/s (f0032)",
            ),
            Number(
                name="victim with DCQCN and one connection, median", unit="Gb/s",
                published=0.75 * RATE_GBIT_PER_S, simulated=float(np.median(notified)),
                tolerance_ratio=0.25, place="section 5.2.8: 25 % less (f0030)",
            ),
            Limit(
                name="victim with packets sprayed and trimmed", unit="Gb/s",
                at_least=0.97 * RATE_GBIT_PER_S, simulated=float(sprayed.min()),
                place="section 5.2.8: no impact (f0033)",
            ),
        ),
    )  # fmt: skip


def _ring_share(connections: int, **settings: object) -> float:
    """Return the share of the line that a ring across leaves reaches, mean of three seeds."""
    times_s = [
        ring_time_s(
            _leaves(8),
            Options(seed=seed, **settings),  # type: ignore[arg-type]
            ROUNDS,
            RING_BYTES,
            connections,
        )
        for seed in range(3)
    ]
    shares = [ROUNDS * RING_BYTES / RATE_BYTES_PER_S / one for one in times_s]
    return float(np.mean(shares))


def _ring() -> Figure:
    """Return the share of the line by number of connections, and with spraying."""
    shares: Floats = np.array([
        _ring_share(one, flow_control=FlowControl.PFC) for one in CONNECTIONS
    ])  # fmt: skip
    sprayed = _ring_share(1, flow_control=FlowControl.PFC, balancing="spray")
    x = np.array(CONNECTIONS, float)
    return Figure(
        name="ring",
        title="Ring of 64 over hashed and sprayed paths",
        setup="every hop of the ring crosses the spines, the worst order there is; the "
        "published order is not known, so only bounds are compared",
        x="connections (queue pairs) a pair of NICs",
        y="share of the line",
        curves=(
            Curve(name="hashed", x=x, y=shares),
            Curve(name="sprayed, one connection", x=x, y=np.full(len(x), sprayed)),
        ),
        numbers=(
            Limit(
                name="one connection, hashed", unit="ratio", at_most=0.6,
                simulated=float(shares[0]), place="section 5.2.7: about half (f0034)",
            ),
            Limit(
                name="sprayed over 16 connections hashed", unit="ratio", at_least=1.0,
                simulated=sprayed / float(shares[CONNECTIONS.index(16)]),
                place="section 5.2.7: spraying beats 16 queue pairs (f0034)",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="MRC: multipath reliable connections",
    source="Araujo et al., arXiv:2605.04333, figures f0030 to f0034 of fabric_behaviour.csv",
    control="dcqcn, nscc",
    figures=(_victim, _ring),
)

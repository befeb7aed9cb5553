"""What more queue pairs do for hashed paths. [Gangidi et al., SIGCOMM 2024]

Leaves have twice the uplinks that their hosts can fill, as in the paper; the ring takes
an order in which every hop crosses the spines (its "non-optimal placement").
"""

import numpy as np
from reproduction import Curve, Figure, Limit, Paper, ring_time_s

from weft.engines.packet.simulation import Options
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine
from weft.units import rate_from_gbit

RATE_BYTES_PER_S = rate_from_gbit(400.0)
CONNECTIONS = (1, 4, 16, 32)
ROUNDS = 12
SIZE_BYTES = 2 << 20
SEEDS = range(4)


def _over_roofline(connections: int) -> list[float]:
    """Return the time of the ring over the time at line rate, by seed."""
    wiring = leaf_spine(
        leaves=8, hosts_per_leaf=8, spines=16,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip
    roofline_s = ROUNDS * SIZE_BYTES / RATE_BYTES_PER_S
    return [
        ring_time_s(
            wiring,
            Options(flow_control=FlowControl.PFC, congestion="dcqcn", seed=seed),
            ROUNDS,
            SIZE_BYTES,
            connections,
        )
        / roofline_s
        for seed in SEEDS
    ]


def _by_connections() -> Figure:
    """Return the time over the roofline by queue pairs."""
    over = {one: _over_roofline(one) for one in CONNECTIONS}
    x = np.array(CONNECTIONS, float)
    mean = np.array([np.mean(one) for one in over.values()])
    worst = np.array([max(one) for one in over.values()])
    return Figure(
        name="time_by_queue_pairs",
        title="Time of a ring over the roofline, by queue pairs",
        setup="64 NICs of 400 Gb/s, 16 uplinks for 8 hosts, hashed by queue pair, DCQCN. The "
        "paper simulates collectives of many channels, whose gaps (40 % at 4, 20 % at 32) are "
        "smaller than those of this one ring: only directions are compared",
        x="queue pairs",
        y="time over roofline",
        curves=(Curve(name="mean", x=x, y=mean), Curve(name="worst seed", x=x, y=worst)),
        numbers=(
            Limit(
                name="time at 4 queue pairs", unit="x roofline", at_least=1.4,
                simulated=float(mean[1]), place="simulation: 40 % over on average (f0018)",
            ),
            Limit(
                name="time at 32 queue pairs", unit="x roofline", at_most=1.2,
                simulated=float(mean[3]), place="simulation: 20 % over (f0019)",
            ),
            Limit(
                name="gain from 1 to 16 queue pairs", unit="ratio", at_least=1.0,
                simulated=float(mean[0] / mean[2]),
                place="figure 7: faster, there by up to 40 % (f0017)",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="RDMA over Ethernet for Distributed AI Training at Meta Scale",
    source="Gangidi et al., SIGCOMM 2024, figures f0017 to f0019 of fabric_behaviour.csv",
    control="dcqcn",
    figures=(_by_connections,),
)

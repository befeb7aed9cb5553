"""HPCC: a link kept just below full, with no queue. [Li et al., SIGCOMM 2019]

Set-up of section 5.1: 100 Gb/s, eta 95 %, five stages, base round trip 13 us, additive increase
80 bytes. The engine carries the largest load of a path in a packet, as the variant PINT does.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from reproduction import (
    Curve,
    Figure,
    Floats,
    Limit,
    Number,
    Paper,
    Watched,
    curves,
    jain_ratio,
    one_switch,
    watch,
)

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine
from weft.units import rate_from_gbit

RATE_GBIT_PER_S = 100.0
RATE_BYTES_PER_S = rate_from_gbit(RATE_GBIT_PER_S)
PACKET_BYTES = 1000
CONTROL_BYTES = 64
ROUND_TRIP_S = 13e-6
HELD_BYTES = RATE_BYTES_PER_S * ROUND_TRIP_S
ETA = 0.95
ADDITIVE_BYTES = 80.0
SHOWN_S = 0.5e-3
LARGE_BYTES, SMALL_BYTES, SMALL_FLOWS = 4_000_000, 3_000, 1000
LASTS_S = 4e-3


def _run(
    senders: int,
    *,
    until_s: float,
    step_s: float,
    begin_s: Sequence[float] | None = None,
    additive_bytes: float = ADDITIVE_BYTES,
) -> Watched:
    """Let senders share the link."""
    own_s = 2 * (PACKET_BYTES + CONTROL_BYTES) / RATE_BYTES_PER_S
    options = Options(
        flow_control=FlowControl.PFC, congestion="hpcc", mtu_bytes=PACKET_BYTES,
        control_bytes=CONTROL_BYTES, xoff_bytes=1 << 30, xon_bytes=1 << 29,
        knobs={
            "base_rtt_ps": ROUND_TRIP_S * 1e12, "target_load_ratio": ETA, "most_stages": 5,
            "additive_increase_bytes": additive_bytes, "smallest_window_bytes": 100,
        },
    )  # fmt: skip
    return watch(
        one_switch(senders + 1, RATE_GBIT_PER_S, ROUND_TRIP_S - own_s),
        options,
        begin_s=np.zeros(senders) if begin_s is None else np.array(begin_s),
        until_s=until_s,
        step_s=step_s,
    )


def _incast(senders: int) -> Figure:
    """Return the queue of an incast: full windows at first, then none. [section 5.2]"""
    seen = _run(senders, until_s=4e-3, step_s=5e-6)
    late = seen.after(2e-3)
    rates = seen.rates_bytes_per_s()[late[1:]]
    shown = seen.time_s < SHOWN_S
    return Figure(
        name=f"incast_{senders}",
        title=f"Incast of {senders} senders",
        setup=f"{senders} senders of 100 Gb/s begin together, each with a full window",
        x="time (us)",
        y="queue (KB)",
        curves=(
            Curve(
                name="simulated", x=1e6 * seen.time_s[shown], y=seen.queue_bytes[shown] / 1e3
            ),
        ),
        numbers=(
            Number(
                name="use of the link once settled", unit="ratio", published=ETA,
                simulated=float(rates.sum(1).mean() / RATE_BYTES_PER_S),
                tolerance_ratio=0.02, place="section 3.3: the load settles at eta",
            ),
            Limit(
                name="95th percentile of the queue once settled", unit="bytes",
                at_most=0.1 * HELD_BYTES,
                simulated=float(np.percentile(seen.queue_bytes[late], 95)),
                place="section 5.2: near-zero queues",
            ),
        ),
    )  # fmt: skip


def _joining() -> Figure:
    """Return four flows that join one after another. [figure 9, fairness]"""
    most = HELD_BYTES * (1 - ETA) / 4
    begin_s = (0.0, 10e-3, 20e-3, 30e-3)
    seen = _run(4, until_s=60e-3, step_s=100e-6, begin_s=begin_s, additive_bytes=most)
    rates = seen.rates_bytes_per_s() / RATE_BYTES_PER_S
    late = seen.after(50e-3)[1:]
    return Figure(
        name="four_flows_join",
        title="Flows that join get their share",
        setup="one more flow every 10 ms; additive increase W (1 - eta) / N of section 3.3 for "
        "four flows, where the paper's testbed let a flow join every second",
        x="time (ms)",
        y="rate (share of the link)",
        curves=tuple(
            Curve(name=f"flow {flow + 1}", x=1e3 * seen.time_s[1:], y=rates[:, flow])
            for flow in range(4)
        ),
        numbers=(
            Limit(
                name="Jain's index 20 ms after the last", unit="ratio", at_least=0.99,
                simulated=jain_ratio(rates[late].mean(0)), place="section 5.2: fair",
            ),
            Limit(
                name="use of the link then", unit="ratio", at_least=ETA, at_most=1.0,
                simulated=float(rates[late].sum(1).mean()),
                place="section 3.3: the sum of additive increases fits between eta and 1",
            ),
        ),
    )  # fmt: skip


def _small_flows_s(control: str, seed: int) -> Floats:
    """Return the times of small flows beside large ones under one leaf-spine."""
    rng = np.random.default_rng(seed)
    hosts, many = 32, 160
    count = many + SMALL_FLOWS
    source = rng.integers(0, hosts, count)
    begin = rng.uniform(0, LASTS_S, count)
    large = np.arange(count) < many
    flows = Flows(
        source=source,
        target=(source + rng.integers(1, hosts, count)) % hosts,
        size_bytes=np.where(large, LARGE_BYTES, SMALL_BYTES),
        begin_ps=(begin * 1e12).astype(np.int64),
    )
    marks = {"kmin_bytes": 400_000, "kmax_bytes": 1_600_000, "pmax_ratio": 0.2}
    knobs = {"base_rtt_ps": ROUND_TRIP_S * 1e12} if control == "hpcc" else {}
    options = Options(
        congestion=control, mtu_bytes=PACKET_BYTES, xoff_bytes=4_000_000,
        xon_bytes=3_900_000, knobs=knobs, seed=seed, **marks,
    )  # fmt: skip
    wiring = leaf_spine(
        leaves=4, hosts_per_leaf=8, spines=8, bytes_per_s=RATE_BYTES_PER_S,
        propagation_s=1e-6,
    )  # fmt: skip
    outcome = simulate(wiring, flows, options)
    return np.asarray((outcome.end_ps - outcome.begin_ps)[~large] / 1e12)


def _tails() -> Figure:
    """Return the times of small flows under DCQCN and under HPCC. [section 5.3]"""
    controls = ("dcqcn", "hpcc")
    times = {
        one: np.sort(np.concatenate([_small_flows_s(one, seed) for seed in range(4)]))
        for one in controls
    }
    x = np.linspace(0, 1, len(times["hpcc"]))
    shown = slice(None, None, max(1, len(x) // 200))
    tails = [float(np.quantile(times[one], 0.99)) for one in controls]
    return Figure(
        name="small_flows",
        title="Small flows beside large ones",
        setup="32 hosts of 100 Gb/s, flows of 4 MB at half load and of 3 KB, marks as section "
        "5.1 scales them for DCQCN; the paper's loads are traces with incasts",
        x="share of flows",
        y="completion (us)",
        curves=curves(x[shown], {one: 1e6 * times[one][shown] for one in controls}),
        numbers=(
            Limit(
                name="shorter 99th percentile than under DCQCN", unit="ratio", at_least=0.5,
                at_most=0.97, simulated=1 - tails[1] / tails[0],
                place="section 5.3: up to 95 %", rows=("f0052",),
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="HPCC: High Precision Congestion Control",
    source="Li et al., SIGCOMM 2019, doi:10.1145/3341302.3342085",
    control="hpcc",
    figures=(partial(_incast, 2), partial(_incast, 16), _joining, _tails),
)

"""Hashes, queue pairs, engineered paths, and small messages of control. [Meta, SIGCOMM 2024]

Leaves have twice the uplinks that their hosts can fill, as in the paper. Jobs are four rings,
or exchanges, of 16 hosts each, placed at random (its "non-optimal placement"), with two
channels a NIC as NCCL has them.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from reproduction import (
    ROCE_TUNED,
    Curve,
    Figure,
    Floats,
    Limit,
    Number,
    Paper,
    exchange,
    placed,
    plain,
    rings,
    spread_of,
)

from weft.engines.packet.simulation import Flows, Options, TrafficClass, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.units import rate_from_gbit

RATE_BYTES_PER_S = rate_from_gbit(400.0)
LEAVES, HOSTS_PER_LEAF, SPINES = 8, 8, 16
HOSTS, GROUP = LEAVES * HOSTS_PER_LEAF, 16
CHANNELS = 2
PAIRS = (1, 4, 16, 32)
ROUNDS = 12
SIZE_BYTES = 2 << 20
EXCHANGED_BYTES = 256 << 10
SEEDS = range(8)
FEW = range(3)
MESSAGE_BYTES = 64
MESSAGES = 400
FIRST_S, LAST_S = 50e-6, 500e-6
"""While rings run."""


def _wiring(spines: int = SPINES) -> Wiring:
    return leaf_spine(
        leaves=LEAVES, hosts_per_leaf=HOSTS_PER_LEAF, spines=spines,
        bytes_per_s=RATE_BYTES_PER_S, propagation_s=500e-9,
    )  # fmt: skip


def _groups(seed: int) -> list[npt.NDArray[np.int64]]:
    order = np.random.default_rng(seed).permutation(HOSTS)
    return list(order.reshape(-1, GROUP))


def _flows(kind: str, seed: int, pairs: int) -> tuple[Flows, float]:
    """Return the traffic and the time that it takes at line rate."""
    if kind == "ring":
        hops = [plain(CHANNELS * pairs)(group) for group in _groups(seed)]
        return rings(hops, ROUNDS, SIZE_BYTES), ROUNDS * SIZE_BYTES / RATE_BYTES_PER_S
    sent = (GROUP - 1) * EXCHANGED_BYTES
    return exchange(_groups(seed), EXCHANGED_BYTES, pairs), sent / RATE_BYTES_PER_S


@lru_cache
def _over(kind: str, pairs: int, *, engineered: bool = False) -> Floats:
    """Return the time over that at line rate, by seed."""
    found: list[float] = []
    for seed in SEEDS:
        flows, roofline_s = _flows(kind, seed, pairs)
        options = Options(seed=seed, **ROCE_TUNED)  # type: ignore[arg-type]
        run = placed if engineered else simulate
        found.append(run(_wiring(), flows, options).completion_ps / 1e12 / roofline_s)
    return np.array(found)


def _by_connections() -> Figure:
    """Return the time over the roofline by queue pairs."""
    over = {one: _over("ring", one) for one in PAIRS}
    x = np.array(PAIRS, float)
    gain = {
        kind: (_over(kind, 1) / _over(kind, 16)).mean() - 1 for kind in ("ring", "exchange")
    }
    return Figure(
        name="time_by_queue_pairs",
        title="Time of rings over the roofline, by queue pairs",
        setup="64 NICs of 400 Gb/s in four rings, 16 uplinks for 8 hosts, hashed by queue "
        "pair, tuned DCQCN, eight placements. The notes that rows are read from say of 32 "
        "queue pairs that the worst case improves, and not clearly from what to what",
        x="queue pairs",
        y="time over roofline",
        curves=(
            Curve(name="mean", x=x, y=np.array([one.mean() for one in over.values()])),
            Curve(name="worst", x=x, y=np.array([one.max() for one in over.values()])),
        ),
        numbers=(
            Number(
                name="time at 4 queue pairs, mean", unit="x roofline", published=1.4,
                simulated=float(over[4].mean()), spread=spread_of(over[4]),
                tolerance_ratio=0.15, place="simulation: 40 % over on average",
                rows=("f0018",),
            ),
            Limit(
                name="worst placement: 4 queue pairs over 32", unit="ratio", at_least=1.0,
                simulated=float(over[4].max() / over[32].max()),
                place="simulation: the worst case improves", rows=("f0019",),
            ),
            Limit(
                name="gain from 1 to 16 queue pairs, rings (from: exchanges)", unit="ratio",
                at_least=0.4, simulated=float(gain["ring"]),
                spread=(float(gain["exchange"]), float(gain["ring"])),
                place="figure 7: up to 40 % faster, in traffic of both kinds",
                rows=("f0017",),
            ),
            Limit(
                name="time of rings at 1 queue pair (from: exchanges)", unit="x roofline",
                at_least=1 / 0.7, simulated=float(over[1].mean()),
                spread=(float(_over("exchange", 1).mean()), float(over[1].mean())),
                place="section 4: training degrades by more than 30 % at worst, of which "
                "collectives are a part", rows=("f0022",),
            ),
        ),
    )  # fmt: skip


def _uplinks(pairs: int, seed: int, *, engineered: bool) -> Floats:
    """Return the use of all uplinks while rings run, over the mean of their leaf."""
    flows, _ = _flows("ring", seed, pairs)
    options = Options(seed=seed, **ROCE_TUNED)  # type: ignore[arg-type]
    wiring = _wiring()
    outcome = (placed if engineered else simulate)(wiring, flows, options)
    up = (wiring.source >= wiring.hosts) & (wiring.target > wiring.source)
    sent = outcome.links.sent_bytes[up].reshape(LEAVES, -1).astype(float)
    return np.asarray((sent / sent.mean(1, keepdims=True)).ravel())


def _evenness(uses: Floats) -> float:
    """Return the use that one link in twenty is below, over that which one is above."""
    return float(np.quantile(uses, 0.05) / np.quantile(uses, 0.95))


def _engineered() -> Figure:
    """Return what chosen paths give over hashed ones."""
    gains = {
        kind: _over(kind, 4) / _over(kind, 4, engineered=True) - 1
        for kind in ("ring", "exchange")
    }
    hashed, chosen = (
        np.sort(np.concatenate([_uplinks(16, seed, engineered=one) for seed in FEW]))
        for one in (False, True)
    )
    few = np.concatenate([_uplinks(4, seed, engineered=False) for seed in FEW])
    x = np.linspace(0, 1, len(hashed))
    return Figure(
        name="engineered_paths",
        title="Use of uplinks with hashed and with chosen paths",
        setup="the same jobs, gains at 4 queue pairs and use at 16; chosen: every connection "
        "takes the spine that carries least on its way up and down. Use is over the mean "
        "of the leaf, which depends on the placement",
        x="uplinks, the least used first",
        y="use over the mean",
        curves=(
            Curve(name="hashed", x=x, y=hashed),
            Curve(name="chosen", x=x, y=chosen),
        ),
        numbers=(
            Limit(
                name="gain of chosen paths, mean of rings (from: of exchanges)", unit="ratio",
                at_least=0.05, simulated=float(gains["ring"].mean()),
                spread=(float(gains["exchange"].mean()), float(gains["ring"].mean())),
                place="figure 10: 5 to 10 %, all-reduce and all-to-all", rows=("f0020",),
            ),
            Number(
                name="little used over much used uplink, hashed at 16 (from: at 4)",
                unit="ratio", published=0.40 / 0.90, simulated=_evenness(hashed),
                spread=(_evenness(few), _evenness(hashed)), tolerance_ratio=0.5,
                place="section 4: 40 to 90 % of the maximum", rows=("f0021",),
            ),
            Limit(
                name="the same, chosen", unit="ratio", at_least=0.9,
                simulated=_evenness(chosen), place="section 4: 80 % on all", rows=("f0021",),
            ),
        ),
    )  # fmt: skip


def _waits(*, own_class: bool, seed: int) -> Floats:
    """Return what small messages wait beside rings without congestion control.

    Messages of control go from receivers to those who send to them, at random times.
    """
    bulk, _ = _flows("ring", seed, 1)
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(bulk.source), MESSAGES, replace=False)
    ends = np.stack([bulk.target[drawn], bulk.source[drawn]], 1)
    count, many = len(ends), len(bulk.source)
    assert bulk.predecessor is not None
    assert bulk.connection is not None
    flows = Flows(
        source=np.concatenate([bulk.source, ends[:, 0]]),
        target=np.concatenate([bulk.target, ends[:, 1]]),
        size_bytes=np.concatenate([bulk.size_bytes, np.full(count, MESSAGE_BYTES)]),
        predecessor=bulk.predecessor,
        connection=np.concatenate(
            [bulk.connection, bulk.connection.max() + 1 + np.arange(count)]
        ),
        begin_ps=np.concatenate(
            [
                np.zeros(many, np.int64),
                (rng.uniform(FIRST_S, LAST_S, count) * 1e12).astype(int),
            ]
        ),
        traffic_class=np.concatenate(
            [np.zeros(many, np.int64), np.full(count, int(own_class))]
        ),
    )
    classes = (TrafficClass(name="bulk"), TrafficClass(name="control", priority=1))
    options = Options(
        flow_control=FlowControl.PFC, xoff_bytes=2_000_000, xon_bytes=1_900_000,
        seed=seed, classes=classes,
    )  # fmt: skip
    outcome = simulate(_wiring(HOSTS_PER_LEAF), flows, options)
    took = (outcome.end_ps - outcome.begin_ps)[many:] / 1e12
    return took - took.min()


def _control() -> Figure:
    """Return the wait of messages of control in the class of the data and in their own."""
    same, own = (
        np.sort(np.concatenate([_waits(own_class=one, seed=seed) for seed in SEEDS]))
        for one in (False, True)
    )
    share = np.linspace(0, 1, len(same))
    shown = slice(None, None, max(1, len(same) // 200))
    p90 = float(np.quantile(same, 0.9)), float(np.quantile(own, 0.9))
    return Figure(
        name="control_messages",
        title="Wait of small messages beside the data, and in a class of their own",
        setup="64-byte messages from receivers to their senders while rings on hashed paths "
        "run over as many uplinks as hosts, under PFC without DCQCN as the paper runs it. "
        "Buffers, which are not published, decide how long queues get: a link pauses at 2 MB",
        x="share of messages",
        y="wait (us)",
        curves=(
            Curve(name="with the data", x=share[shown], y=1e6 * same[shown]),
            Curve(name="own class", x=share[shown], y=1e6 * own[shown]),
        ),
        numbers=(
            Number(
                name="90th percentile with the data", unit="s", published=43e-6,
                simulated=p90[0], tolerance_ratio=0.6,
                place="section 6: 43 us", rows=("f0026",),
            ),
            Limit(
                name="90th percentile in their own class", unit="s", at_most=4e-6,
                simulated=p90[1], place="section 6: 4 us", rows=("f0026",),
            ),
        ),
    )  # fmt: skip


def _out_of_order(gap_s: float) -> float:
    """Return the complaints of receivers about order, a second and NIC, under flowlets."""
    flows, _ = _flows("exchange", 1, 1)
    options = Options(
        flow_control=FlowControl.PFC, balancing="flowlet", recovery="go_back_n",
        flowlet_gap_ps=int(gap_s * 1e12),
    )  # fmt: skip
    outcome = simulate(_wiring(HOSTS_PER_LEAF), flows, options)
    return outcome.counts["nacks"] / HOSTS / (outcome.completion_ps / 1e12)


def _flowlets() -> Figure:
    """Return packets out of order by the gap that lets a flow change its path."""
    gaps_s = np.array([0.1e-6, 1e-6, 10e-6, 512e-6])
    found = np.array([_out_of_order(gap) for gap in gaps_s])
    return Figure(
        name="flowlets",
        title="Out of order by the gap of flowlets",
        setup="exchanges of 16 hosts over as many uplinks as hosts, flowlets, receivers that "
        "complain about every gap in the order; the run is a fraction of a millisecond, so one "
        "complaint would be thousands a second",
        x="gap (us)",
        y="complaints a second and NIC",
        curves=(Curve(name="simulated", x=1e6 * gaps_s, y=found),),
        numbers=(
            Limit(
                name="with a gap of 512 us", unit="1/s", at_most=1.0,
                simulated=float(found[-1]), place="figure 11: less than one a second",
                rows=("f0028",),
            ),
            Limit(
                name="with a gap of 0.1 us", unit="1/s", at_least=1.0,
                simulated=float(found[0]), place="figure 11: more with shorter gaps",
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="RDMA over Ethernet for Distributed AI Training at Meta Scale",
    source="Gangidi et al., SIGCOMM 2024",
    control="dcqcn",
    figures=(_by_connections, _engineered, _control, _flowlets),
)

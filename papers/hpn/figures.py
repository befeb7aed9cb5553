"""Two ToRs a NIC: hashes that converge on one of its ports, and planes. [Alibaba, SIGCOMM 2024]

One rail is wired: rails share no link below the core. A NIC has two ports of 200 Gb/s, one to
each ToR of its pair. It deals its connections out to its ports in turn; which of the two ToRs a
packet comes back down is a hash in the typical Clos, and the ToR of the sender's port where
each port has a plane of its own. DCN+ (appendix C): 16 NICs of a rail a segment, 4 segments and
8 aggregation switches a pod, 400 Gb/s between switches. HPN: 128 NICs of a rail a segment, 60
aggregation switches a plane.

In the engine a NIC is three endpoints: its ports, which send, and its memory, which receives
over both.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from reproduction import (
    PS,
    ROCE_TUNED,
    Curve,
    Figure,
    Floats,
    Hop,
    Limit,
    Number,
    Paper,
    curves,
    placed,
    rings,
    spread_of,
)

from weft.engines.packet.simulation import Options, Outcome, simulate
from weft.engines.packet.wiring import Wiring
from weft.units import rate_from_gbit

PORT_BYTES_PER_S = rate_from_gbit(200.0)
LINE_BYTES_PER_S = 2 * PORT_BYTES_PER_S
CABLE_S, INSIDE_S = 500e-9, 100e-9
CONNECTIONS = (2, 4, 8)
"""Of one hop of a ring: NCCL has two channels on a NIC, each of one to four queue pairs."""
ROUNDS = 6
SIZE_BYTES = 2 << 20
SEEDS = range(5)
DCN_NICS, DCN_SEGMENTS, DCN_SWITCHES = 16, 4, 8
HPN_SWITCHES = 60
JOB = 56
JOBS, JOB_NICS = 4, 16
TUNED = ROCE_TUNED | {
    "kmin_bytes": 200_000, "kmax_bytes": 800_000,
    "xoff_bytes": 1_000_000, "xon_bytes": 950_000,
}  # fmt: skip
"""The same for ports of 200 Gb/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    """NICs of one rail in segments."""

    segments: int
    nics: int
    """Of one segment."""
    switches: int
    """Aggregation switches, of a plane where there are two."""
    planes: bool

    @property
    def count(self) -> int:
        """NICs in all."""
        return self.segments * self.nics

    def wiring(self) -> Wiring:
        """Wire ports, memories, ToRs and aggregation switches."""
        count, pairs = self.count, []
        nic = np.arange(count)
        tor = 4 * count + 2 * (nic // self.nics)
        for port in (0, 1):
            pairs += [
                (port * count + nic, tor + port, PORT_BYTES_PER_S, CABLE_S),
                (3 * count + nic, tor + port, PORT_BYTES_PER_S, CABLE_S),
            ]
        pairs.append((2 * count + nic, 3 * count + nic, LINE_BYTES_PER_S, INSIDE_S))
        tors, above = (
            one.ravel()
            for one in np.meshgrid(np.arange(2 * self.segments), np.arange(self.switches))
        )
        first = 4 * count + 2 * self.segments
        plane = (tors % 2) * self.switches * self.planes
        pairs.append((4 * count + tors, first + plane + above, LINE_BYTES_PER_S, CABLE_S))
        low = np.concatenate([one[0] for one in pairs])
        high = np.concatenate([one[1] for one in pairs])
        rate = np.concatenate([np.full(len(one[0]), one[2]) for one in pairs])
        delay = np.concatenate([np.full(len(one[0]), one[3]) for one in pairs])
        return Wiring(
            hosts=3 * count,
            switches=first - 3 * count + self.switches * (1 + self.planes),
            source=np.concatenate([low, high]),
            target=np.concatenate([high, low]),
            bytes_per_s=np.tile(rate, 2),
            propagation_s=np.tile(delay, 2),
        )

    def hop(self, order: npt.NDArray[np.int64], connections: int) -> Hop:
        """Return the hops of a ring over NICs, connections dealt out to ports in turn."""
        port = np.arange(connections) % 2
        target = 2 * self.count + np.roll(order, -1)
        return Hop(
            source=order[:, None] + self.count * port[None, :],
            target=np.repeat(target[:, None], connections, axis=1),
        )


DCN = Rail(segments=DCN_SEGMENTS, nics=DCN_NICS, switches=DCN_SWITCHES, planes=False)


def _run(
    rail: Rail, orders: list[npt.NDArray[np.int64]], connections: int, seed: int,
    *, chosen: bool = False,
) -> Outcome:  # fmt: skip
    flows = rings([rail.hop(one, connections) for one in orders], ROUNDS, SIZE_BYTES)
    options = Options(seed=seed, **TUNED)  # type: ignore[arg-type]
    return (placed if chosen else simulate)(rail.wiring(), flows, options)


def _time_s(outcome: Outcome) -> float:
    return outcome.completion_ps / PS


def _multi() -> Figure:
    """Return the gain of one segment for all over four with a Clos above. [figure 17c]"""
    whole = Rail(segments=1, nics=DCN.count, switches=1, planes=True)
    gains: dict[str, list[Floats]] = {"in order": [], "at random": []}
    for connections in CONNECTIONS:
        alone_s = _time_s(_run(whole, [np.arange(JOB)], connections, 0))
        for name, found in gains.items():
            orders = [
                np.arange(JOB) if name == "in order"
                else np.random.default_rng(seed).permutation(DCN.count)[:JOB]
                for seed in SEEDS
            ]  # fmt: skip
            took = [
                _time_s(_run(DCN, [one], connections, seed))
                for seed, one in zip(SEEDS, orders, strict=True)
            ]
            found.append(np.array(took) / alone_s - 1)
    x = np.array(CONNECTIONS, float)
    each = np.concatenate([np.concatenate(found) for found in gains.values()])
    return Figure(
        name="multi_all_reduce",
        title="Gain of an all-reduce a rail: one segment over four",
        setup="56 NICs of a rail: DCN+ has them in four segments, HPN in one. Where a ring "
        "leaves its segment both connections of a hop may come down to one port of 200 Gb/s; "
        "with hosts at random they also meet on the way up",
        x="connections a hop",
        y="gain, mean of five seeds",
        curves=curves(
            x, {name: np.array([one.mean() for one in found]) for name, found in gains.items()}
        ),
        numbers=(
            Limit(
                name="gain of one segment, most of all placements", unit="ratio",
                at_least=1.582, simulated=float(each.max()), spread=spread_of(each),
                place="figure 17c: up to 158.2 %", rows=("f0007",),
            ),
            Limit(
                name="gain of one segment, least of all placements", unit="ratio",
                at_least=0.0, simulated=float(each.min()), spread=spread_of(each),
                place="figure 17a: up to 59.3 % where NVLink bounds the all-reduce as well",
                rows=("f0005",),
            ),
        ),
    )  # fmt: skip


@lru_cache
def _across(connections: int, seed: int, *, planes: bool, half: int) -> tuple[Rail, Outcome]:
    """Run a ring of two segments whose every hop leaves its segment. [appendix A]"""
    rail = Rail(segments=2, nics=half, switches=HPN_SWITCHES, planes=planes)
    order = np.arange(2 * half).reshape(2, half).T.ravel()
    return rail, _run(rail, [order], connections, seed)


def _ports(rail: Rail, outcome: Outcome, column: str) -> Floats:
    """Return a figure of both links down to every NIC, shape (NICs, 2)."""
    count, wiring = rail.count, rail.wiring()
    down = (wiring.target >= 3 * count) & (wiring.target < 4 * count)
    down &= wiring.source >= 4 * count
    numbers = np.flatnonzero(down)
    numbers = numbers[np.lexsort((wiring.source[numbers], wiring.target[numbers]))]
    return np.asarray(outcome.links[column][numbers].reshape(-1, 2).astype(float))


def _planes() -> Figure:
    """Return what a plane a port gives traffic between segments. [section 6.1, figure 19]"""
    gains: dict[int, Floats] = {}
    ratios: dict[int, Floats] = {}
    queues: list[tuple[float, float]] = []
    for connections in CONNECTIONS:
        found = []
        loads = []
        for seed in SEEDS:
            rail, clos = _across(connections, seed, planes=False, half=16)
            own, plane = _across(connections, seed, planes=True, half=16)
            found.append(_time_s(clos) / _time_s(plane) - 1)
            sent = np.sort(_ports(rail, clos, "sent_bytes"), axis=1)
            loads.append(sent[:, 1] / np.maximum(sent[:, 0], 1))
            queues.append(
                (
                    float(_ports(rail, clos, "largest_queue_bytes").max(1).mean()),
                    float(_ports(own, plane, "largest_queue_bytes").max(1).mean()),
                )
            )
        gains[connections] = np.array(found)
        ratios[connections] = np.concatenate(loads)
    x = np.array(CONNECTIONS, float)
    each = np.concatenate(list(gains.values()))
    usual = ratios[4]
    most, least = np.array(queues).T
    return Figure(
        name="planes",
        title="A plane a port: gain of rings between two segments",
        setup="32 NICs of a rail in two segments, every hop leaves its segment. In the Clos "
        "the two ports of a NIC get a share by chance, with planes exactly half",
        x="connections a hop",
        y="gain",
        curves=(
            Curve(name="mean", x=x, y=np.array([one.mean() for one in gains.values()])),
            Curve(name="most", x=x, y=np.array([one.max() for one in gains.values()])),
        ),
        numbers=(
            Limit(
                name="gain of planes, median of 2, 4 and 8 connections", unit="ratio",
                at_least=0.501, at_most=1.0, simulated=float(np.median(each)),
                spread=spread_of(each),
                place="section 6.1: up to 71.6 %; figure 19: 50.1 to 63.7 %",
                rows=("f0010",),
            ),
            Number(
                name="load of one port over the other, median NIC, 4 connections",
                unit="ratio", published=3.0, simulated=float(np.median(usual)),
                spread=(1.0, float("inf")), tolerance_ratio=0.2,
                place="figure 13: three times", rows=("f0008",),
            ),
            Limit(
                name="queue down to a NIC with planes over that of the Clos", unit="ratio",
                at_most=0.25, simulated=float(np.median(least / most)),
                spread=spread_of(least / most),
                place="section 6.1: 91.8 % shorter (20 of 267 KB); queues here are the longest "
                "of the run, there means", rows=("f0008", "f0009"),
            ),
        ),
    )  # fmt: skip


def _paths() -> Figure:
    """Return four all-reduces at once over hashed and over disjoint paths. [section 6.1]"""
    half = JOBS * JOB_NICS // 2
    rail = Rail(segments=2, nics=half, switches=HPN_SWITCHES, planes=True)
    gains: dict[int, Floats] = {}
    for connections in CONNECTIONS:
        found = []
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(2 * half)
            orders = list(order.reshape(JOBS, JOB_NICS))
            hashed = _run(rail, orders, connections, seed)
            chosen = _run(rail, orders, connections, seed, chosen=True)
            found.append(_time_s(hashed) / _time_s(chosen) - 1)
        gains[connections] = np.array(found)
    x = np.array(CONNECTIONS, float)
    each = np.concatenate(list(gains.values()))
    return Figure(
        name="disjoint_paths",
        title="Disjoint over hashed paths: four all-reduces at once",
        setup="64 NICs of a rail (512 GPUs) in two segments with planes, four jobs at random "
        "places. Chosen paths carry one connection more than another at most; a library that "
        "sends on the connection with the least outstanding work is not simulated",
        x="connections a hop",
        y="gain",
        curves=(
            Curve(name="mean", x=x, y=np.array([one.mean() for one in gains.values()])),
            Curve(name="most", x=x, y=np.array([one.max() for one in gains.values()])),
        ),
        numbers=(
            Limit(
                name="gain of disjoint paths, most", unit="ratio", at_least=0.2, at_most=0.7,
                simulated=float(each.max()), spread=spread_of(each),
                place="section 6.1: up to 34.7 %, held against half and twice",
                rows=("f0011",),
            ),
        ),
    )  # fmt: skip


def _failure() -> Figure:
    """Return a ring one of whose NICs has lost a port. [section 9.3]"""
    rail = Rail(segments=1, nics=32, switches=1, planes=True)
    hop = rail.hop(np.arange(32), 2)
    flows = [rings([hop], ROUNDS, SIZE_BYTES)]
    source = hop.source.copy()
    source[5, 1] = source[5, 0]
    flows.append(rings([Hop(source=source, target=hop.target)], ROUNDS, SIZE_BYTES))
    options = Options(**TUNED)  # type: ignore[arg-type]
    took = [_time_s(simulate(rail.wiring(), one, options)) for one in flows]
    return Figure(
        name="failure",
        title="A ring with all ports, and with one port of one NIC gone",
        setup="32 NICs of a rail, one of which sends over one port. With two ToRs it keeps "
        "half of its rate, and the ring waits for it; with one its job halts. That training "
        "loses 6.25 % says that one eighteenth of a step waits for rings",
        x="ports gone",
        y="time (us)",
        curves=(Curve(name="ring", x=np.array([0.0, 1.0]), y=1e6 * np.array(took)),),
        numbers=(
            Limit(
                name="time with a port gone over that with all", unit="ratio", at_least=1.0667,
                at_most=2.2, simulated=took[1] / took[0],
                place="figure 18a: goes on, 6.25 % less training throughput", rows=("f0012",),
            ),
        ),
    )  # fmt: skip


PAPER = Paper(
    title="Alibaba HPN: a data center network for large language model training",
    source="Qian et al., SIGCOMM 2024, doi:10.1145/3651890.3672265",
    control="dcqcn",
    figures=(_multi, _planes, _paths, _failure),
)

"""Speed of the packet engine, one core, after compilation; a row a case.

python benchmarks/packet.py            a table
python benchmarks/packet.py --json     one JSON row a case
"""

import argparse
import json
import resource
import time

import numpy as np

from weft.engines.packet.loop import begin_flows, run
from weft.engines.packet.simulation import Flows, Options, first_flows, make_state
from weft.engines.packet.tables import FlowControl, Stop
from weft.engines.packet.wiring import Wiring, leaf_spine, shortest_routes

MIB = 1 << 20
SHAPES = {16: (4, 4, 4), 64: (8, 8, 8), 128: (16, 8, 8), 1024: (64, 16, 16)}
FOREVER = 1 << 41


def network(hosts: int) -> Wiring:
    """Wire a leaf-spine at 400 Gb/s and 500 ns a link."""
    leaves, per_leaf, spines = SHAPES[hosts]
    return leaf_spine(
        leaves=leaves,
        hosts_per_leaf=per_leaf,
        spines=spines,
        bytes_per_s=50e9,
        propagation_s=500e-9,
    )


def permutation(hosts: int, size_bytes: int) -> Flows:
    """Every host sends to one other and receives from one other."""
    order = np.random.default_rng(1).permutation(hosts)
    return Flows(
        source=order, target=np.roll(order, 1), size_bytes=np.full(hosts, size_bytes, np.int64)
    )


def ring(ranks: int, size_bytes: int) -> Flows:
    """Ring all-reduce: operation (step, rank) waits for (step - 1, rank - 1)."""
    steps = 2 * (ranks - 1)
    step, rank = np.divmod(np.arange(steps * ranks), ranks)
    later = np.flatnonzero(step > 0)
    before = (step[later] - 1) * ranks + (rank[later] - 1) % ranks
    return Flows(
        source=rank,
        target=(rank + 1) % ranks,
        size_bytes=np.full(steps * ranks, size_bytes // ranks, np.int64),
        predecessor=np.stack([before, later], 1),
    )


CASES = {
    "permutation 128, 8 MiB, PFC, ECMP": (128, permutation(128, 8 * MIB), Options()),
    "permutation 128, 8 MiB, PFC, DCQCN, ECMP": (
        128,
        permutation(128, 8 * MIB),
        Options(congestion="dcqcn"),
    ),
    "permutation 128, 8 MiB, credits, ECMP": (
        128,
        permutation(128, 8 * MIB),
        Options(flow_control=FlowControl.CREDITS),
    ),
    "permutation 128, 8 MiB, lossy, spraying": (
        128,
        permutation(128, 8 * MIB),
        Options(flow_control=FlowControl.NONE, balancing="spray"),
    ),
    "permutation 128, 8 MiB, PFC, an ACK a packet": (
        128,
        permutation(128, 8 * MIB),
        Options(acknowledge=True),
    ),
    "ring all-reduce 128, 64 MiB, PFC, DCQCN": (
        128,
        ring(128, 64 * MIB),
        Options(congestion="dcqcn"),
    ),
    "permutation 1024, 1 MiB, PFC, spraying": (
        1024,
        permutation(1024, MIB),
        Options(balancing="spray"),
    ),
}


def measure(hosts: int, flows: Flows, options: Options) -> tuple[int, float]:
    """Return data packet-hops and the seconds that the event loop took."""
    wiring = network(hosts)
    state = make_state(wiring, shortest_routes(wiring), flows, options)
    begin_flows(state, first_flows(state.flows))
    start = time.perf_counter()
    stop = run(state, FOREVER)
    wall_s = time.perf_counter() - start
    assert stop == Stop.DONE, stop
    return int(state.counts[0].data_hops), wall_s


def main() -> None:
    """Compile, then time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeat", type=int, default=3, help="best of so many runs")
    arguments = parser.parse_args()
    measure(16, permutation(16, MIB), Options())
    for name, case in CASES.items():
        runs = [measure(*case) for _ in range(arguments.repeat)]
        hops, wall_s = min(runs, key=lambda one: one[1])
        row = {
            "name": name,
            "packet_hops": hops,
            "wall_s": wall_s,
            "packet_hops_per_s": hops / wall_s,
            "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        if arguments.json:
            print(json.dumps(row))
        else:
            print(f"{name:48s} {hops:>10d} hops {wall_s:8.4f} s {hops / wall_s / 1e6:6.1f} M/s")


if __name__ == "__main__":
    main()

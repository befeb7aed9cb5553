"""Speed of the packet engine, one core, after compilation; a row a case.

python benchmarks/packet.py            a table
python benchmarks/packet.py --json     one JSON row a case
python benchmarks/packet.py --start    what the first and the second process wait for
python benchmarks/packet.py --threads  two simulations in two threads against one
python benchmarks/packet.py --phases   a barrier over all hosts against flows without one

Beside each case that it knows runs a twin written by hand in C++ (benchmarks/cpp), on the
same tables; its times of every flow's end must be the same. Wall time is what a user waits
for; CPU time says the same on an idle machine, and still says something on a busy one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from twin import Twin, temporary_twin

from weft.engines.packet import stepping
from weft.engines.packet.loop import begin_flows, run
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import (
    Flows,
    Options,
    first_flows,
    make_state,
    with_larger_pool,
)
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.engines.packet.tables import FlowControl, State, Stop
from weft.engines.packet.wiring import Routes, Wiring, leaf_spine, shortest_routes
from weft.spec.load import load_scenario

MIB = 1 << 20
SHAPES = {
    16: (4, 4, 4),
    64: (8, 8, 8),
    128: (16, 8, 8),
    512: (32, 16, 16),
    1024: (64, 16, 16),
    4096: (128, 32, 32),
}
"""Hosts -> leaves, hosts a leaf, spines."""
FOREVER = 1 << 41
PHASED = Path(__file__).parents[1] / "examples/scenarios/permutation-ecmp-vs-spray.yaml"
AT_LEAST_S, MOST_RUNS = 1.0, 25
"""Short cases run more often: other work on the machine must leave one run in peace."""


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


def incast(senders: int, size_bytes: int) -> Flows:
    """Many hosts send to one."""
    return Flows(
        source=np.arange(8, 8 + senders),
        target=np.zeros(senders, np.int64),
        size_bytes=np.full(senders, size_bytes, np.int64),
    )


PFC = Options()
DCQCN = Options(congestion="dcqcn")
SPRAYED = Options(balancing="spray")
CASES: dict[str, tuple[int, Callable[[], Flows], Options]] = {
    "permutation 128, 8 MiB, PFC, ECMP": (128, lambda: permutation(128, 8 * MIB), PFC),
    "permutation 128, 8 MiB, PFC, DCQCN, ECMP": (128, lambda: permutation(128, 8 * MIB), DCQCN),
    "permutation 128, 8 MiB, credits, ECMP": (
        128,
        lambda: permutation(128, 8 * MIB),
        Options(flow_control=FlowControl.CREDITS),
    ),
    "permutation 128, 8 MiB, lossy, spraying": (
        128,
        lambda: permutation(128, 8 * MIB),
        Options(flow_control=FlowControl.NONE, balancing="spray"),
    ),
    "permutation 128, 8 MiB, PFC, an ACK a packet": (
        128,
        lambda: permutation(128, 8 * MIB),
        Options(acknowledge=True),
    ),
    "ring all-reduce 128, 64 MiB, PFC, DCQCN": (128, lambda: ring(128, 64 * MIB), DCQCN),
    "incast 32 on 64, 1 MiB, PFC, DCQCN": (64, lambda: incast(32, MIB), DCQCN),
    "permutation 16, 8 MiB, PFC, spraying": (16, lambda: permutation(16, 8 * MIB), SPRAYED),
    "permutation 128, 1 MiB, PFC, spraying": (128, lambda: permutation(128, MIB), SPRAYED),
    "permutation 1024, 1 MiB, PFC, spraying": (1024, lambda: permutation(1024, MIB), SPRAYED),
    "permutation 4096, 1 MiB, PFC, spraying": (4096, lambda: permutation(4096, MIB), SPRAYED),
    "ring all-reduce 1024, 64 MiB, PFC, DCQCN": (1024, lambda: ring(1024, 64 * MIB), DCQCN),
}
TWICE = "ring all-reduce 128, 64 MiB, PFC, DCQCN"
Loop = Callable[[State, int], int]


def prepare(hosts: int, flows: Flows, options: Options, routes: Routes | None = None) -> State:
    """Fill the tables and queue the first flows."""
    wiring = network(hosts)
    state = make_state(wiring, routes or shortest_routes(wiring), flows, options)
    begin_flows(state, first_flows(state.flows))
    return state


def time_loop(loop: Loop, state: State) -> float:
    """Return the seconds that an event loop takes to run a state to its end."""
    start = time.perf_counter()
    while (stop := loop(state, FOREVER)) == Stop.POOL_LOW:
        state = with_larger_pool(state)
    wall_s = time.perf_counter() - start
    assert stop == Stop.DONE, stop
    return wall_s


def measure(name: str, twin: Twin | None, repeat: int) -> dict[str, Any]:
    """Return the row of one case: the best of so many runs or more, the two loops in turn."""
    hosts, flows, options = CASES[name]
    work, routes = flows(), shortest_routes(network(hosts))
    walls, ours, theirs = [], [], []
    peak_rss_bytes = 0
    while len(walls) < repeat or (sum(walls) < AT_LEAST_S and len(walls) < MOST_RUNS):
        state = prepare(hosts, work, options, routes)
        begin = time.process_time()
        walls.append(time_loop(run, state))
        ours.append(time.process_time() - begin)
        hops, end = int(state.counts[0].data_hops), state.flows.end.copy()
        peak_rss_bytes = peak_rss_bytes or _peak_rss_bytes()
        if twin is not None and twin.knows(state):
            del state  # one state at a time, or memory would be that of two
            other = prepare(hosts, work, options, routes)
            begin = time.process_time()
            time_loop(twin.run, other)
            theirs.append(time.process_time() - begin)
            assert (end == other.flows.end).all(), f"{name}: the twin differs"
            del other
    row = {
        "name": name,
        "packet_hops": hops,
        "wall_s": min(walls),
        "cpu_s": min(ours),
        "packet_hops_per_s": hops / min(walls),
        "packet_hops_per_cpu_s": hops / min(ours),
        "peak_rss_bytes": peak_rss_bytes,
    }
    if theirs:
        row["cpp_cpu_s"] = min(theirs)
        row["speed_over_cpp_ratio"] = min(theirs) / min(ours)
    return row


def _peak_rss_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


FIRST_RUN = "import packet; packet.measure_small(16, packet.permutation(16, 4096), packet.PFC)"


def measure_small(hosts: int, flows: Flows, options: Options) -> None:
    """Run a small case: what remains is the start."""
    time_loop(run, prepare(hosts, flows, options))


def starts() -> Iterator[dict[str, Any]]:
    """Time whole processes on an empty cache (which compiles) and on a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        for name in ("cold start: compilation", "warm start", "warm start, again"):
            start, used = time.perf_counter(), _cpu_s_of_children()
            subprocess.run(
                [sys.executable, "-c", FIRST_RUN],
                env=environment,
                cwd=Path(__file__).parent,
                check=True,
            )
            wall_s, cpu_s = time.perf_counter() - start, _cpu_s_of_children() - used
            yield {"name": name, "wall_s": wall_s, "cpu_s": cpu_s}


def _cpu_s_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def threads(repeat: int) -> Iterator[dict[str, Any]]:
    """Time one simulation, then two at once in threads of one process."""
    hosts, flows, options = CASES[TWICE]
    one, both = [], []
    for _ in range(repeat):
        one.append(time_loop(run, prepare(hosts, flows(), options)))
        states = [prepare(hosts, flows(), options) for _ in range(2)]
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda state: time_loop(run, state), states))
        both.append(time.perf_counter() - start)
    yield {
        "name": f"{TWICE}, twice in threads",
        "wall_s": min(both),
        "one_wall_s": min(one),
        "speedup_ratio": 2 * min(one) / min(both),
    }


def phases(repeat: int) -> Iterator[dict[str, Any]]:
    """Time permutations of 1,024 and 4,096 hosts: one, and two with a barrier between them."""
    for hosts in (1024, 4096):
        speeds: dict[int, list[float]] = {1: [], 2: []}
        for _, runs in product(range(repeat), speeds):
            running = _phased(hosts, runs)
            begin = time.process_time()
            running.advance(FOREVER, lambda _state: None)
            took_s = time.process_time() - begin
            speeds[runs].append(int(running.state.counts[0].data_hops) / took_s)
        yield {
            "name": f"permutations of {hosts} hosts, 1 MiB, fat tree, spraying",
            "packet_hops_per_cpu_s": max(speeds[1]),
            "with_barrier_per_cpu_s": max(speeds[2]),
            "barrier_ratio": max(speeds[2]) / max(speeds[1]),
        }


def _phased(hosts: int, runs: int) -> stepping.Running:
    sent = "operation: sendrecv, size_bytes: 1MiB, placement: shuffled, gap_s: 20us"
    scenario = load_scenario(
        PHASED,
        (
            f"cluster.hosts={hosts}",
            "cluster.topology={kind: fat_tree, switch_ports: 64}",
            "network.balancing=spray",
            f"traffic=[{{collective: {{{sent}, repeat: {runs}}}}}]",
        ),
    )
    fabric = scenario_fabric(scenario)
    schedule = compile_traffic(fabric, scenario, 1)
    routes = routes_of(schedule, fabric)
    return stepping.begin(schedule.wiring, routes, schedule.flows, options_of(scenario, 1))


def _shown(row: dict[str, Any]) -> str:
    if "barrier_ratio" in row:
        free, phased = row["packet_hops_per_cpu_s"] / 1e6, row["with_barrier_per_cpu_s"] / 1e6
        return (
            f"{row['name']:58s} {free:5.1f} M/s, with a barrier {phased:5.1f} M/s: "
            f"{row['barrier_ratio']:.0%}"
        )
    text = f"{row['name']:46s} {row['wall_s']:9.4f} s"
    if "packet_hops" not in row and "cpu_s" in row:
        text += f" {row['cpu_s']:9.4f} s of CPU time"
    if "packet_hops" in row:
        text += f" {row['packet_hops']:>9d} hops {row['packet_hops_per_s'] / 1e6:6.1f} M/s"
        text += f" ({row['packet_hops_per_cpu_s'] / 1e6:4.1f} by CPU time)"
        text += f" {row['peak_rss_bytes'] / MIB:6.0f} MiB"
    if "speedup_ratio" in row:
        text += f" for two, {row['one_wall_s']:.4f} s for one: {row['speedup_ratio']:.2f} times"
    if "speed_over_cpp_ratio" in row:
        text += f"   {row['speed_over_cpp_ratio']:.2f} x C++"
    return text


def main() -> None:
    """Compile, then time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--start", action="store_true", help="time cold and warm start")
    parser.add_argument("--threads", action="store_true", help="time two simulations at once")
    parser.add_argument("--phases", action="store_true", help="time a barrier over all hosts")
    parser.add_argument("--repeat", type=int, default=5, help="best of so many runs at least")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    arguments = parser.parse_args()
    twin = temporary_twin()
    if isinstance(twin, str):
        print(f"no C++ twin: {twin}", file=sys.stderr)
        twin = None
    names = [name for name in CASES if arguments.only in name]
    if arguments.start:
        rows = starts()
    elif arguments.threads:
        rows = threads(arguments.repeat)
    elif arguments.phases:
        rows = phases(arguments.repeat)
    else:
        rows = (measure(name, twin, arguments.repeat) for name in names)
    measure_small(128, permutation(128, MIB), PFC)
    for row in rows:
        print(json.dumps(row) if arguments.json else _shown(row), flush=True)


if __name__ == "__main__":
    main()

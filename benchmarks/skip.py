"""Packet simulations that skip what repeats, against the same packet by packet; a row a case.

python benchmarks/skip.py            a table
python benchmarks/skip.py --json     one JSON row a case

CPU time of the whole simulation without wiring and traffic; both run in turn in one process,
several times where they are short, and the best of each counts.
Errors are of the end of all traffic, and of a flow's time (the 99th of 100).
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from weft.engines.packet import stepping
from weft.engines.packet.paths import paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.predict.skipped import let_skip
from weft.spec.load import load_scenario
from weft.spec.scenario import Scenario

AT_LEAST_S = 2.0
"""Short cases run more often: other work on the machine must leave one run in peace."""
SCENARIOS = Path(__file__).parents[1] / "examples" / "scenarios"
LARGE = "traffic=[{permutation: {size_bytes: 64MiB}}]"
STEP = "{operation: all_gather, size_bytes: 512MiB, compute_s: 3ms}"
JOB = "{job: {first_host: %d, hosts: 24, repeat: 2, begin_s: %s, steps: [" + STEP + "]}}"
CASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "GPT-3 13B over 128 GPUs, gradients and weights of a step": ("gpt-13b-step", ()),
    "two rings side by side, PFC, DCQCN": (
        "two-jobs", (f"traffic=[{JOB % (12, '0s')}, {JOB % (36, '1ms')}]", "alone=false"),
    ),
    "permutation of 128, spraying": (
        "permutation-ecmp-vs-spray", (LARGE, "network.balancing=spray"),
    ),
    "permutation of 128, ECMP, PFC, DCQCN": ("permutation-ecmp-vs-spray", (LARGE,)),
    "permutation of 128, ECMP, PFC alone": (
        "permutation-ecmp-vs-spray", (LARGE, "network.congestion=none"),
    ),
    "incast of 8, PFC alone": (
        "incast-32-to-1",
        ("traffic=[{incast: {senders: 8, size_bytes: 64MiB}}]", "network.congestion=none"),
    ),
    "incast of 8, PFC, DCQCN": (
        "incast-32-to-1", ("traffic=[{incast: {senders: 8, size_bytes: 64MiB}}]",),
    ),
    "incast of 32 of 1 MiB, ten times, PFC, DCQCN": (
        "incast-32-to-1",
        ("traffic=[{incast: {senders: 32, size_bytes: 1MiB, repeat: 10, gap_s: 200us}}]",),
    ),
}  # fmt: skip


def simulated(scenario: Scenario) -> tuple[stepping.Running, float]:
    """Simulate the first seed; return the CPU time of the simulation itself too."""
    fabric, seed = scenario_fabric(scenario), scenario.seeds[0]
    schedule, options = compile_traffic(fabric, scenario, seed), options_of(scenario, seed)
    routes = routes_of(schedule, fabric)
    running = stepping.begin(schedule.wiring, routes, schedule.flows, options)
    let_skip(running, scenario, schedule, paths_of(schedule.wiring, routes, schedule.flows))
    begin = time.process_time()
    running.advance(round(scenario.until_s * PS_PER_S), lambda _state: None)
    return running, time.process_time() - begin


def measure(name: str, tolerance_ratio: float) -> dict[str, Any]:
    """Return the row of one case."""
    file, sets = CASES[name]
    scenario = load_scenario(SCENARIOS / f"{file}.yaml", sets)
    fulls_s, skips_s = [], []
    while sum(fulls_s) < AT_LEAST_S:
        whole, full_s = simulated(scenario.with_(skip_ratio=None))
        short, skip_s = simulated(scenario.with_(skip_ratio=tolerance_ratio))
        fulls_s.append(full_s)
        skips_s.append(skip_s)
    full_s, skip_s = min(fulls_s), min(skips_s)
    full, found = whole.outcome(), short.outcome()
    assert short.skipping is not None
    took = np.maximum(1, full.end_ps - full.begin_ps)
    errors = np.abs((found.end_ps - found.begin_ps) / took - 1)
    repeats = short.repeats
    return {
        "name": name,
        "tolerance_ratio": tolerance_ratio,
        "end_s": full.completion_ps / PS_PER_S,
        "packet_hops": full.counts["data_hops"],
        "full_cpu_s": full_s,
        "skipping_cpu_s": skip_s,
        "speedup_ratio": full_s / skip_s,
        "states": len(short.skipping.at_ps),
        "runs": 0 if repeats is None else len(repeats.times),
        "bytes_skipped_ratio": short.skipping.taken_bytes.sum() / found.received_bytes.sum(),
        "end_error_ratio": found.completion_ps / full.completion_ps - 1,
        "flow_error_ratio": float(np.quantile(errors, 0.99)),
    }


def _shown(row: dict[str, Any]) -> str:
    return (
        f"{row['name']:58s} {row['full_cpu_s']:8.3f} s {row['skipping_cpu_s']:8.3f} s "
        f"{row['speedup_ratio']:6.1f} x  {row['bytes_skipped_ratio']:6.1%} of the bytes  "
        f"error {row['end_error_ratio']:+.2%}, of flows {row['flow_error_ratio']:.2%}"
    )


def rows(only: str, tolerance_ratio: float) -> Iterator[dict[str, Any]]:
    """Measure the cases whose name contains a text."""
    for name in CASES:
        if only in name:
            yield measure(name, tolerance_ratio)


def main() -> None:
    """Compile, then run every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--tolerance", type=float, default=0.01, help="skip_ratio")
    arguments = parser.parse_args()
    print(f"skip_ratio {arguments.tolerance}: full, skipping", file=sys.stderr)
    simulated(load_scenario(SCENARIOS / "incast-32-to-1.yaml"))
    for row in rows(arguments.only, arguments.tolerance):
        print(json.dumps(row) if arguments.json else _shown(row), flush=True)


if __name__ == "__main__":
    main()

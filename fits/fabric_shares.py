"""Shares of bandwidth that a fabric keeps beyond the leaf, measured packet by packet.

    python fits/fabric_shares.py              simulates everything, writes the two files below
    python fits/fabric_shares.py --seeds 2    quicker, wider
    python fits/fabric_shares.py --page       writes the page again from the table

On a non-blocking leaf-spine of 128 NICs of 400 Gb/s, a permutation, an all-to-all and ring
all-reduces with hosts in order and shuffled run under every load balancing and every named
tuning. The share is the time that the traffic would take if no flow met another, over the time
that it took; of a permutation also the mean over its flows, which do not wait for one another.
``fits/fabric_shares.toml`` holds value (median of the seeds), low and high (their range) and
the scenario; ``docs/explanation/fabric-shares.md`` sets them beside the sourced factors that
the closed forms use.
"""

import argparse
import os
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from weft.engines.packet.paths import ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, simulate
from weft.engines.packet.wiring import shortest_routes
from weft.network.fabric import find
from weft.spec.load import load_scenario
from weft.spec.scenario import Scenario

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "fits" / "fabric_shares.toml"
PAGE = ROOT / "docs" / "explanation" / "fabric-shares.md"
HOSTS = 128
PATTERNS: dict[str, dict[str, Any]] = {
    "permutation": {"permutation": {"size_bytes": "32MiB", "hosts": HOSTS}},
    "alltoall": {"collective": {"operation": "alltoall", "size_bytes": "32MiB"}},
    "ring": {"collective": {"operation": "all_reduce", "size_bytes": "64MiB"}},
    "ring_shuffled": {
        "collective": {
            "operation": "all_reduce",
            "size_bytes": "64MiB",
            "placement": "shuffled",
        }
    },
}
TUNINGS = ("roce_tuned", "roce_default", "roce_misconfigured")
BALANCINGS = ("ecmp", "adaptive", "spray")
OTHERS = (
    ("infiniband", "adaptive"),
    ("infiniband", "ecmp"),
    ("ultra_ethernet", "spray"),
    ("roce_without_pfc", "ecmp"),
)
QUEUE_PAIRS = (1, 4)
"""ECMP alone hashes by queue pair, so it is tried with more of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cell of the table."""

    pattern: str
    preset: str
    balancing: str
    queue_pairs: int = 1

    def scenario(self) -> Scenario:
        """Return what is simulated."""
        kind = self.preset.partition("_")[0] if self.preset != "ultra_ethernet" else self.preset
        host = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}
        return load_scenario(
            {
                "cluster": {
                    "preset": "hgx_h100_roce",
                    "hosts": HOSTS,
                    "host": host,
                    "fabric": {"kind": kind},
                    "topology": {"kind": "leaf_spine", "switch": "asterfusion_cx732q"},
                },
                "network": {
                    "preset": self.preset,
                    "balancing": self.balancing,
                    "queue_pairs": self.queue_pairs,
                },
                "traffic": [PATTERNS[self.pattern]],
            }
        )


def cases() -> Iterator[Case]:
    """Yield every cell."""
    for pattern in PATTERNS:
        for preset in TUNINGS:
            for balancing in BALANCINGS:
                for pairs in QUEUE_PAIRS if balancing == "ecmp" else (1,):
                    yield Case(
                        pattern=pattern, preset=preset, balancing=balancing, queue_pairs=pairs
                    )
        for preset, balancing in OTHERS:
            yield Case(pattern=pattern, preset=preset, balancing=balancing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one seed of a cell gave."""

    whole: float
    """Of the traffic as one: its slowest flow counts."""
    mean: float
    """Mean over flows that do not wait for one another."""


def share(case: Case, seed: int) -> Share:
    """Simulate one cell once."""
    scenario = case.scenario()
    schedule = compile_traffic(fabric_of(scenario.cluster), scenario, seed)
    options = options_of(scenario, seed)
    routes = shortest_routes(schedule.wiring)
    flows = schedule.flows
    alone = ideal_ps(paths_of(schedule.wiring, routes, flows), flows, options)
    outcome = simulate(schedule.wiring, flows, options, routes=routes, until_ps=int(PS_PER_S))
    if not (outcome.end_ps >= 0).all():
        return Share(whole=0.0, mean=0.0)
    wire = options.header_bytes / options.mtu_bytes + 1
    serial = flows.size_bytes.max() * wire * PS_PER_S / schedule.wiring.bytes_per_s.min()
    ideal = ideal_of(case, alone, float(serial))
    took = outcome.end_ps - outcome.begin_ps
    mean = float(((alone + (case.queue_pairs - 1) * serial) / took).mean())
    return Share(whole=ideal / outcome.completion_ps, mean=mean)


def ideal_of(case: Case, alone: npt.NDArray[np.float64], serial_ps: float) -> float:
    """Return the time without any meeting, from those of the flows alone.

    Of a permutation the longest flow; of a ring 2 (n - 1) steps, which pass every pair of
    neighbours alike; of an all-to-all the n - 1 sends of a rank through its one port and then
    a path. Queue pairs of a transfer share the port.
    """
    more = (case.queue_pairs - 1) * serial_ps
    if case.pattern == "permutation":
        return float(alone.max()) + more
    if case.pattern == "alltoall":
        return (HOSTS - 2) * case.queue_pairs * serial_ps + more + float(alone.max())
    return 2 * (HOSTS - 1) * (float(alone.mean()) + more)


def main() -> None:
    """Simulate all cells, write the table and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if not asked.page:
        TABLE.write_text(table_text(simulated(asked.seeds)), "utf-8")
    PAGE.write_text(page_text(tomllib.loads(TABLE.read_text("utf-8"))["share"]), "utf-8")


Row = tuple[Case, list[float]]


def simulated(seeds: int) -> list[Row]:
    """Simulate all cells on all cores: a seed of a cell is a task of its own."""
    rows: list[Row] = []
    every = list(cases())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = {(c, s): pool.submit(share, c, s) for c in every for s in range(1, seeds + 1)}
    for case in every:
        found = [tasks[case, seed].result() for seed in range(1, seeds + 1)]
        rows.append((case, [one.whole for one in found]))
        if case.pattern == "permutation":
            rows.append((replace(case, pattern="permutation_mean"), [o.mean for o in found]))
        print(case, " ".join(f"{one.whole:.3f}/{one.mean:.3f}" for one in found), flush=True)
    return rows


def table_text(rows: list[Row]) -> str:
    """Return the table as TOML."""
    text = [
        f"# Written by fits/fabric_shares.py: {HOSTS} NICs of 400 Gb/s, leaf-spine 1:1.",
        "# value: median of the seeds; low and high: their range; 0: did not end within 1 s.",
    ]
    for case, found in rows:
        text += [
            "",
            "[[share]]",
            f'pattern = "{case.pattern}"',
            f'preset = "{case.preset}"',
            f'balancing = "{case.balancing}"',
            f"queue_pairs = {case.queue_pairs}",
            f"value = {median(found):.4f}",
            f"low = {min(found):.4f}",
            f"high = {max(found):.4f}",
            f"seeds = {len(found)}",
        ]
    return "\n".join(text) + "\n"


def page_text(shares: list[dict[str, Any]]) -> str:
    """Return the page that sets shares beside sourced factors."""
    return "\n".join([PAGE_HEAD, *map(_line, shares), *_factors(), READING])


def _line(one: dict[str, Any]) -> str:
    pairs = f", {one['queue_pairs']} queue pairs" if one["queue_pairs"] > 1 else ""
    return (
        f"| {one['pattern']} | {one['preset']} | {one['balancing']}{pairs} "
        f"| {one['value']:.2f} | {one['low']:.2f} to {one['high']:.2f} |"
    )


def _factors() -> Iterator[str]:
    yield "\n## What the closed forms use\n"
    yield "| fabric | factor | value | range | sources |"
    yield "|---|---|--:|---|---|"
    for name in ("roce", "infiniband", "ultra_ethernet"):
        fabric = find(name)
        for word, factors in (("balancing", fabric.load_balancing), ("tuning", fabric.tuning)):
            for mode, one in factors.items():
                yield (
                    f"| {fabric.title} | {word} {mode} | {one.value:.2f} "
                    f"| {one.low:.2f} to {one.high:.2f} | {', '.join(one.sources)} |"
                )


PAGE_HEAD = """# Shares of bandwidth beyond the leaf: simulated and sourced

This page is written by `fits/fabric_shares.py`; the same figures are in
`fits/fabric_shares.toml`.

The closed forms (`weft predict`, `weft expect`) do not follow packets: what load balancing and
tuning leave of the bandwidth enters as a factor with a source and a range.
Here the packet engine measures the same shares where it can, so that the two can be compared.
The factors themselves are not taken from this page.

128 NICs of 400 Gb/s on 8 leaves and 8 spines, two links from every leaf to every spine, 1:1.
The share is the time that the traffic would take if no flow met another, over the time that it
took; the middle of five seeds, and their range.
`permutation` is judged by its slowest flow, as training waits for it; `permutation_mean` is the
mean over its flows, as a throughput test shows it.
A queue pair keeps its path for the whole collective, as a hash by flow does.
`ring` has its hosts in order, so that one transfer in sixteen leaves a leaf; `ring_shuffled`
has them at random, so that nearly all do.

## Simulated

| traffic | settings | load balancing | share | range |
|---|---|---|--:|---|"""

READING = """
## Reading the two together

* The sourced share of ECMP (0.85, range 0.60 to 0.92) lies where the simulation puts the mean
  over flows of a hashed permutation with one to four queue pairs, and an all-to-all.
  It is a throughput; a step of training waits for the slowest flow, which keeps far less.
* What the placement of hosts does outweighs the load balancing: a ring in order hardly leaves
  its leaves and keeps everything, the same ring shuffled loses two thirds under a hash.
* Adaptive routing keeps 0.98 or more and spraying 0.94 or more at the middle of the seeds, as
  their sources say (0.90 to 1.0), but not under misconfigured pauses (0.88); late marks cost
  spraying a worst seed of 0.81.
* Default against tuned: the means over flows differ little, as long as hashes spread load
  alike; what differs is how long a flow needs to come back once it was cut, so the slowest
  flow of a permutation keeps 0.07 where tuned timers keep 0.23. The sourced factor of an
  untuned fabric (0.78, range 0.60 to 0.95) is of whole collectives and lies between.
* Without pauses (`roce_without_pfc`) every overflow is sent again from the gap on: a hashed
  all-to-all keeps 0.40 where tuned pauses and marks keep 0.90, a shuffled ring 0.18 instead of
  0.29. The sourced factor of a misconfigured fabric (0.47, range 0.20 to 0.78) covers these.
* Not in these figures: several jobs at once, links that fail or damage packets.
"""

if __name__ == "__main__":
    main()

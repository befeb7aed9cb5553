"""Shares of bandwidth that a fabric keeps beyond the leaf, measured packet by packet.

    python fits/fabric_shares.py              simulates everything, writes the files below
    python fits/fabric_shares.py --seeds 2    quicker, wider
    python fits/fabric_shares.py --only tail  simulates some traffic again only
    python fits/fabric_shares.py --settings infiniband    those of some named settings only
    python fits/fabric_shares.py --page       derives factors and page again from the cells

On a leaf-spine of 128 NICs of 400 Gb/s run, under every load balancing and every named tuning:
the rings and exchanges of NCCL over its own connections (``nccl_ring``, ``nccl_exchange``), a
permutation, an all-to-all, ring all-reduces with hosts in order and shuffled, incasts, small
transfers beside large ones, and rings beside what else a cluster does: other jobs and storage,
incasts, an exchange with one expert that all want, a NIC that takes a quarter of its rate.
The share is the time that the traffic would take if no flow met another, over the time that it
took; of a permutation also the mean over its flows, which do not wait for one another; of the
small transfers it is the 99th of 100 over the middle one.

``fits/fabric_shares.toml`` holds all cells: value (median of the seeds), low and high (their
range), the figure of every seed. From it come the factors that the closed forms know,
``src/weft/network/shares.toml``, each with its cell, its published value and which of the two
is used (docs/explanation/decisions/0006), and the page ``docs/explanation/fabric-shares.md``.
"""

import argparse
import os
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from weft import plugins
from weft.engines.packet.paths import ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.rounds import add_collective
from weft.engines.packet.schedules import Fabric, Schedule, Work, fabric_of, schedule_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options, Outcome, simulate
from weft.engines.packet.wiring import shortest_routes
from weft.network.fabric import find
from weft.network.shares import Effect, effects_under
from weft.network.shares import Share as FoundShare
from weft.network.shares import find as simulated_share
from weft.predict.probing import PACKETS, Pattern, share_of
from weft.sources import Sourced
from weft.spec.load import load_scenario
from weft.spec.scenario import Scenario
from weft.spec.settings import Tuning
from weft.traffic import collectives
from weft.traffic.collective import Algorithm, Operation

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "fits" / "fabric_shares.toml"
PAGE = ROOT / "docs" / "explanation" / "fabric-shares.md"
FACTORS = ROOT / "src" / "weft" / "network" / "shares.toml"
HOSTS = 128
SWITCHES = {"roce": {"switch": "asterfusion_cx732q"}}
"""Switches of 32 ports; of other fabrics the usual one, with so many of its ports used."""
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
    "incast_4": {"incast": {"senders": 4, "size_bytes": "4MiB"}},
    "incast_16": {"incast": {"senders": 16, "size_bytes": "4MiB"}},
    "incast_64": {"incast": {"senders": 64, "size_bytes": "4MiB"}},
    "tail": {"background": {"load_ratio": 0.02, "size_bytes": "64KiB", "duration_s": "4ms"}},
}
BESIDE_TAIL: dict[str, Any] = {
    "background": {"load_ratio": 0.4, "size_bytes": "4MiB", "duration_s": "4ms"}
}
"""What the small transfers of ``tail`` wait for: storage and other jobs."""
NCCL = {
    "nccl_ring": ("ring", 1.0),
    "nccl_exchange": ("exchange", 1.0),
    "nccl_ring_2to1": ("ring", 2.0),
}
"""What NCCL runs, as `weft expect --fidelity packet` simulates it, and the oversubscription."""
RINGS, SPARE = 4, 3
"""Groups of the job that is judged, and of others; the hosts that are left are storage."""
BESIDE = {
    "beside_jobs": "beside exchanges of other jobs and writes to storage",
    "beside_storage": "beside writes to storage",
    "beside_incasts": "beside incasts of 16",
    "beside_hot_expert": "beside an exchange whose one expert all want",
    "beside_slow_nic": "with a NIC that takes a quarter of its rate",
}
"""Circumstances that rings run under, and how results name them."""
BESIDE_PRESETS = (
    "roce_tuned", "roce_guarded", "roce_default", "roce_misconfigured", "roce_without_pfc",
)  # fmt: skip
BESIDE_BALANCINGS = ("ecmp", "adaptive")
BESIDE_S = 1e-3
"""For so long writes and incasts begin."""
WRITE_BYTES, WRITE_LOAD = 4_000_000, 0.15
INCAST_BYTES, INCAST_SENDERS, INCAST_EVERY_S = 1_000_000, 16, 1e-4
EXCHANGED_BYTES = 1 << 20
HOT_BYTES = 8_000_000
SLOW = 0.25
SECOND = {"permutation": "permutation_mean", "tail": "tail_over_alone"}
"""Patterns with a second figure, and what that is called."""
GROUP = 16
"""Hosts of one ring or exchange; as many run side by side as there is room for."""
CHANNELS = 2
"""Of NCCL on one NIC of a host of eight H100: connections of two NICs at one queue pair."""
TUNINGS = ("roce_tuned", "roce_default", "roce_misconfigured")
BALANCINGS = ("ecmp", "adaptive", "spray")
OTHERS = (
    ("infiniband", "adaptive"),
    ("infiniband", "ecmp"),
    ("ultra_ethernet", "spray"),
    ("roce_without_pfc", "ecmp"),
)
HASHED = (("ultra_ethernet", "ecmp"), ("roce_tuned", "flowlet"))
"""Run by NCCL alone, over one and several connections."""
RUN_BY_NCCL = "rings and exchanges over NCCL's own connections are what the factor is used for"
UNTUNED = (
    "measured before and after a repair; the range that packets show holds it: a job alone "
    "loses nothing, beside storage and incasts it loses down to the low end; how much of "
    "either a cluster has is not known"
)
BALANCED = (
    ("roce", "ecmp", "roce_tuned", "ecmp", "simulated", RUN_BY_NCCL),
    ("roce", "flowlet", "roce_tuned", "flowlet", "simulated", RUN_BY_NCCL),
    ("roce", "adaptive", "roce_tuned", "adaptive", "simulated", RUN_BY_NCCL),
    ("infiniband", "adaptive", "infiniband", "adaptive", "simulated", RUN_BY_NCCL),
    (
        "infiniband", "static", "infiniband", "ecmp", "published",
        "a hash by connection stands in for a subnet manager's routes, which are not random",
    ),
    (
        "ultra_ethernet", "spray", "ultra_ethernet", "spray", "published",
        "packets take paths at random here, while senders of Ultra Ethernet leave marked ones",
    ),
    ("ultra_ethernet", "ecmp", "ultra_ethernet", "ecmp", "simulated", RUN_BY_NCCL),
)  # fmt: skip
"""Fabric, mode, the settings and balancing that give it, which figure is used, and why."""
BY_SETTINGS = (
    *((preset, "ecmp") for preset in (*TUNINGS, "roce_without_pfc", "roce_guarded")),
    ("infiniband", "adaptive"),
    ("ultra_ethernet", "spray"),
)
"""Settings whose incasts and tails are told, and the usual balancing with each."""
BESIDE_EFFECTS = {
    name: f"rings {title} take {{}} times what they take with tuned settings"
    for name, title in BESIDE.items()
}
EFFECTS = {
    **{
        f"incast_{senders}": f"an incast of {senders} takes {{}} times what the one port needs"
        for senders in (4, 16, 64)
    },
    "tail": "beside large transfers at 40 % load the 99th of 100 small ones takes {} times "
    "the middle one",
}
ENDS = ("value", "low", "high")
QUEUE_PAIRS = (1, 4)
"""ECMP alone hashes by queue pair, so it is tried with more of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One cell of the table."""

    pattern: str
    preset: str
    balancing: str
    queue_pairs: int = 1

    @property
    def name(self) -> str:
        """What results call the cell."""
        return f"{self.pattern}/{self.preset}/{self.balancing}/{self.queue_pairs} QP"

    @property
    def oversubscription(self) -> float:
        """Down over up at the leaves."""
        return NCCL[self.pattern][1] if self.pattern in NCCL else 1.0

    def scenario(self) -> Scenario:
        """Return what is simulated; of NCCL's patterns cluster and settings alone."""
        traffic = [PATTERNS.get(self.pattern, PATTERNS["incast_4"])]
        kind = self.preset.partition("_")[0] if self.preset != "ultra_ethernet" else self.preset
        host = {"gpus": 1, "nic": "", "nics": 1, "server": "", "scale_up": {"gpus": 1}}
        switch = SWITCHES.get(kind, {"switch_ports": 32})
        return load_scenario(
            {
                "cluster": {
                    "preset": "hgx_h100_roce",
                    "hosts": HOSTS,
                    "host": host,
                    "fabric": {"kind": kind},
                    "topology": {
                        "kind": "leaf_spine",
                        **switch,
                        "oversubscription": self.oversubscription,
                    },
                },
                "network": {
                    "preset": self.preset,
                    "balancing": self.balancing,
                    "queue_pairs": self.queue_pairs,
                },
                "traffic": [*traffic, *([BESIDE_TAIL] if self.pattern == "tail" else [])],
            }
        )

    def nccl(self) -> Pattern:
        """Return the groups that run side by side, each connection hashed on its own."""
        scenario = self.scenario()
        settings = Tuning(name=self.preset, settings=scenario.network)
        cluster = scenario.cluster
        return Pattern(
            cluster=cluster.with_(fabric=cluster.fabric.with_(settings=settings)),
            kind=NCCL[self.pattern][0],
            groups=HOSTS // GROUP,
            hosts=GROUP,
            paths=CHANNELS * self.queue_pairs,
        )


def cases() -> Iterator[Case]:
    """Yield every cell."""
    yield from _calm()
    for pattern in BESIDE:
        for preset in BESIDE_PRESETS:
            for balancing in BESIDE_BALANCINGS:
                yield Case(pattern=pattern, preset=preset, balancing=balancing)


def _calm() -> Iterator[Case]:
    """Yield the cells of traffic that nothing else runs beside."""
    for pattern in (*NCCL, *PATTERNS):
        if pattern.startswith(("incast", "tail")):
            for preset, balancing in BY_SETTINGS:
                yield Case(pattern=pattern, preset=preset, balancing=balancing)
            continue
        for preset in TUNINGS:
            for balancing in BALANCINGS:
                for pairs in QUEUE_PAIRS if balancing == "ecmp" else (1,):
                    yield Case(
                        pattern=pattern, preset=preset, balancing=balancing, queue_pairs=pairs
                    )
        others = (*OTHERS, *HASHED) if pattern in NCCL else OTHERS
        for preset, balancing in others:
            hashed = balancing in {"ecmp", "flowlet"} and pattern in NCCL
            for pairs in QUEUE_PAIRS if hashed else (1,):
                yield Case(
                    pattern=pattern, preset=preset, balancing=balancing, queue_pairs=pairs
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one seed of a cell gave."""

    whole: float
    """Of the traffic as one: its slowest flow counts."""
    mean: float
    """Mean over flows that do not wait for one another; of small transfers the 99th of 100
    of their time over that alone."""


def share(case: Case, seed: int) -> Share:
    """Simulate one cell once."""
    if case.pattern in NCCL:
        found = share_of(case.nccl(), seed)
        return Share(whole=found, mean=found)
    scenario = case.scenario()
    if case.pattern in BESIDE:
        kept = kept_beside(case.pattern, scenario, seed)
        return Share(whole=kept, mean=kept)
    schedule = compile_traffic(fabric_of(scenario.cluster), scenario, seed)
    options = options_of(scenario, seed)
    routes = shortest_routes(schedule.wiring)
    flows = schedule.flows
    alone = ideal_ps(paths_of(schedule.wiring, routes, flows), flows, options)
    outcome = simulate(schedule.wiring, flows, options, routes=routes, until_ps=int(PS_PER_S))
    if not (outcome.end_ps >= 0).all():
        return Share(whole=0.0, mean=0.0)
    if case.pattern == "tail":
        small = schedule.traffic == 0
        took = (outcome.end_ps - outcome.begin_ps)[small]
        middle, late = np.quantile(took, (0.5, 0.99))
        return Share(
            whole=float(late / middle), mean=float(np.quantile(took / alone[small], 0.99))
        )
    wire = options.header_bytes / options.mtu_bytes + 1
    serial = flows.size_bytes.max() * wire * PS_PER_S / schedule.wiring.bytes_per_s.min()
    ideal = ideal_of(case, alone, float(serial))
    took = outcome.end_ps - outcome.begin_ps
    mean = float(((alone + (case.queue_pairs - 1) * serial) / took).mean())
    return Share(whole=ideal / outcome.completion_ps, mean=mean)


def ideal_of(case: Case, alone: npt.NDArray[np.float64], serial_ps: float) -> float:
    """Return the time without any meeting, from those of the flows alone.

    Of a permutation the longest flow; of an incast all transfers through the one port of the
    receiver, and a path; of a ring 2 (n - 1) steps, which pass every pair of
    neighbours alike; of an all-to-all the n - 1 sends of a rank through its one port and then
    a path. Queue pairs of a transfer share the port.
    """
    more = (case.queue_pairs - 1) * serial_ps
    if case.pattern == "permutation":
        return float(alone.max()) + more
    if case.pattern.startswith("incast"):
        senders = PATTERNS[case.pattern]["incast"]["senders"]
        return (senders * case.queue_pairs - 1) * serial_ps + float(alone.max())
    if case.pattern == "alltoall":
        return (HOSTS - 2) * case.queue_pairs * serial_ps + more + float(alone.max())
    return 2 * (HOSTS - 1) * (float(alone.mean()) + more)


def kept_beside(pattern: str, scenario: Scenario, seed: int) -> float:
    """Return the share of the line that four rings of 16 hosts keep beside something else."""
    options = options_of(scenario, seed)
    schedule = rings_beside(pattern, fabric_of(scenario.cluster), options, seed)
    outcome = simulate(schedule.wiring, schedule.flows, options, until_ps=int(PS_PER_S))
    return kept_by_rings(schedule, options, outcome)


def rings_beside(pattern: str, fabric: Fabric, options: Options, seed: int) -> Schedule:
    """Return four rings of 16 hosts at random places, and what runs beside them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(HOSTS).tolist()
    groups = [order[i * GROUP : (i + 1) * GROUP] for i in range(RINGS + SPARE)]
    work = Work(fabric=fabric, queue_pairs=CHANNELS)
    for group in groups[:RINGS]:
        _add(work, "ring", Operation.ALL_REDUCE, group, ring_bytes(options))
    work.queue_pairs = 1
    work.owner = 1, 0
    _add_beside(pattern, work, groups, rng)
    schedule = schedule_of(work)
    if pattern != "beside_slow_nic":
        return schedule
    wiring = schedule.wiring
    slow = np.where(wiring.target == groups[0][0], SLOW, 1.0)
    return replace(schedule, wiring=replace(wiring, bytes_per_s=wiring.bytes_per_s * slow))


def ring_bytes(options: Options) -> int:
    """Return what a ring reduces beside something else."""
    return GROUP * PACKETS["ring"] * CHANNELS * options.mtu_bytes


def kept_by_rings(schedule: Schedule, options: Options, outcome: Outcome) -> float:
    """Return the share of the line that the rings of a schedule kept; 0 if they did not end."""
    end = outcome.end_ps[schedule.traffic == 0]
    if (end < 0).any():
        return 0.0
    wire = options.header_bytes / options.mtu_bytes + 1
    sent = 2 * (GROUP - 1) / GROUP * ring_bytes(options) * wire
    return float(sent / schedule.wiring.bytes_per_s.max() * PS_PER_S / end.max())


def _add(work: Work, name: str, operation: Operation, group: list[int], size: int) -> None:
    algorithm = plugins.load(collectives, name, Algorithm)
    add_collective(work, algorithm, operation, group, size, ranks_per_domain=1, channels=1)


def _add_exchanges(work: Work, groups: list[list[int]]) -> None:
    for group in groups[RINGS:]:
        _add(work, "pairwise", Operation.ALL_TO_ALL, group, GROUP * EXCHANGED_BYTES)


def _add_writes(work: Work, busy: list[int], rng: np.random.Generator) -> None:
    storage = sorted(set(range(HOSTS)) - set(busy))
    load = WRITE_LOAD * len(busy) * work.fabric.cluster.host.nic_bytes_per_s
    for at_s in np.sort(rng.uniform(0, BESIDE_S, int(load * BESIDE_S / WRITE_BYTES))):
        source, target = busy[rng.integers(len(busy))], storage[rng.integers(len(storage))]
        work.send(source, target, WRITE_BYTES, at_s=float(at_s))


def _add_incasts(work: Work, busy: list[int], rng: np.random.Generator) -> None:
    for at_s in np.arange(0, BESIDE_S, INCAST_EVERY_S):
        target, *senders = rng.choice(busy, INCAST_SENDERS + 1, replace=False).tolist()
        for source in senders:
            work.send(source, target, INCAST_BYTES, at_s=float(at_s))


def _add_beside(
    pattern: str, work: Work, groups: list[list[int]], rng: np.random.Generator
) -> None:
    """Add what runs beside the rings; a slow NIC is no traffic."""
    busy = [host for group in groups for host in group]
    if pattern == "beside_jobs":
        _add_exchanges(work, groups)
    if pattern in {"beside_jobs", "beside_storage"}:
        _add_writes(work, busy, rng)
    if pattern == "beside_incasts":
        _add_incasts(work, busy, rng)
    if pattern == "beside_hot_expert":
        for hot, *others in groups[RINGS:]:
            for source in others:
                work.send(source, hot, HOT_BYTES)


Row = dict[str, Any]
CELL = ("pattern", "preset", "balancing", "queue_pairs")
Shares = dict[tuple[str, str, str, int], list[float]]
"""Figures of the seeds by traffic, settings, balancing and queue pairs."""


def main() -> None:
    """Simulate all cells, write the table and the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], metavar="TRAFFIC")
    parser.add_argument("--settings", nargs="*", default=[], metavar="PRESET")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    if not asked.page:
        chosen = [
            case
            for case in cases()
            if (not asked.only or case.pattern in asked.only)
            and (not asked.settings or case.preset in asked.settings)
        ]
        rows = [*simulated(chosen, asked.seeds), *kept(chosen)]
        TABLE.write_text(table_text(sorted(rows, key=place)), "utf-8")
    rows = tomllib.loads(TABLE.read_text("utf-8"))["share"]
    shares = by_cell(rows)
    FACTORS.write_text(factors_text(shares) + effects_text(shares), "utf-8")
    PAGE.write_text(page_text(rows), "utf-8")


def by_cell(rows: list[dict[str, Any]]) -> Shares:
    """Return the figures of the seeds by cell."""
    return {
        (row["pattern"], row["preset"], row["balancing"], row["queue_pairs"]): row["of_seeds"]
        for row in rows
        if "of_seeds" in row
    }


def kept(again: list[Case]) -> Iterator[Row]:
    """Yield the rows of the table that are not simulated again and still belong to it."""
    every = set(cases()) - set(again)
    if not every:
        return
    for one in tomllib.loads(TABLE.read_text("utf-8"))["share"]:
        if case_of(one) in every:
            yield one


def case_of(row: Row) -> Case:
    """Return the case of a row; a second figure is of the case of the first."""
    first = {second: name for name, second in SECOND.items()}
    case = Case(**{name: row[name] for name in CELL})
    return replace(case, pattern=first.get(case.pattern, case.pattern))


def place(row: Row) -> int:
    """Return where a row stands in the table: its case's place, its second figure after."""
    return 2 * list(cases()).index(case_of(row)) + (row["pattern"] in SECOND.values())


def simulated(every: list[Case], seeds: int) -> list[Row]:
    """Simulate cells on all cores: a seed of a cell is a task of its own."""
    rows: list[Row] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = {(c, s): pool.submit(share, c, s) for c in every for s in range(1, seeds + 1)}
    for case in every:
        found = [tasks[case, seed].result() for seed in range(1, seeds + 1)]
        rows.append(row_of(case, [one.whole for one in found]))
        if case.pattern in SECOND:
            second = replace(case, pattern=SECOND[case.pattern])
            rows.append(row_of(second, [one.mean for one in found]))
        print(case, " ".join(f"{one.whole:.3f}/{one.mean:.3f}" for one in found), flush=True)
    return rows


def row_of(case: Case, found: list[float]) -> Row:
    """Return the row of a cell from the figures of its seeds."""
    ends = {"value": median(found), "low": min(found), "high": max(found)}
    cell = {name: getattr(case, name) for name in CELL}
    return {**cell, **ends, "seeds": len(found), "of_seeds": found}


def table_text(rows: list[Row]) -> str:
    """Return the table as TOML."""
    text = [
        f"# Written by fits/fabric_shares.py: {HOSTS} NICs of 400 Gb/s, leaf-spine.",
        "# value: median of the seeds; low and high: their range; 0: did not end within 1 s.",
    ]
    for row in rows:
        text += ["", "[[share]]", *(f"{key} = {_toml(value)}" for key, value in row.items())]
    return "\n".join(text) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value) if isinstance(value, int) else f'"{value}"'


FAR = 1 - (HOSTS / 8 - 1) / (HOSTS - 1)
"""Share of sends that leave a leaf of 16 when hosts are placed at random."""
CROWD = 1 - 2 / GROUP
"""Weight of tuning in a group, as the closed form has it: two hosts do not crowd."""
RUN = ("nccl_ring", "nccl_exchange")


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A factor of the closed forms, the cells that give it and which figure is used."""

    fabric: str
    factor: str
    mode: str
    preset: str
    balancings: tuple[str, ...]
    used: str
    why: str


def derived() -> Iterator[Derived]:
    """Yield every factor that cells give."""
    for fabric, mode, preset, balancing, used, why in BALANCED:
        yield Derived(
            fabric=fabric, factor="load_balancing", mode=mode, preset=preset,
            balancings=(balancing,), used=used, why=why,
        )  # fmt: skip
    for mode in ("default", "misconfigured"):
        yield Derived(
            fabric="roce", factor="tuning", mode=mode, preset=f"roce_{mode}",
            balancings=BALANCINGS, used="published", why=UNTUNED,
        )  # fmt: skip


def pooled(one: Derived, shares: Shares) -> list[float]:
    """Return the factor of every seed of every cell, by the closed form turned round.

    The closed form has ``share = (1 - (1 - balanced) far) (1 - (1 - tuned) crowd)``.
    """
    found: list[float] = []
    for (pattern, preset, balancing, pairs), seen in shares.items():
        untuned = one.factor == "tuning" and pattern in BESIDE
        if pattern not in RUN and not untuned:
            continue
        if preset != one.preset or balancing not in one.balancings:
            continue
        if one.factor == "load_balancing":
            found += [1 - (1 - share) / FAR for share in seen]
            continue
        tuned = shares[pattern, "roce_tuned", balancing, pairs]
        crowd = 1.0 if one.mode == "misconfigured" or untuned else CROWD
        found += [
            min(1.0, 1 - (1 - share / best) / crowd)
            for share, best in zip(seen, tuned, strict=True)
        ]
    return found


def factors_text(shares: Shares) -> str:
    """Return the factors of the closed forms as TOML."""
    text = ["# Written by fits/fabric_shares.py from the cells of fits/fabric_shares.toml."]
    seeds = seeds_of(shares)
    for one in derived():
        found, fabric = pooled(one, shares), find(one.fabric)
        modes = fabric.load_balancing if one.factor == "load_balancing" else fabric.tuning
        simulated = toml_range(median(found), min(found), max(found))
        text += [
            "",
            "[[factor]]",
            f'fabric = "{one.fabric}"',
            f'factor = "{one.factor}"',
            f'mode = "{one.mode}"',
            f"simulated = {{ {simulated} }}",
            f'cells = "{cells_of(one)}"',
            f"seeds = {seeds}",
            *_published(modes[one.mode]),
            f'used = "{one.used}"',
            f'why = "{one.why}"',
        ]
    return "\n".join(text) + "\n"


def _published(share: Sourced | Literal["simulated"]) -> Iterator[str]:
    """Yield the line of the published share, where there is one."""
    if share == "simulated":
        return
    keys = ", ".join(f'"{key}"' for key in share.sources)
    range_ = toml_range(*(getattr(share, end) for end in ENDS))
    yield f"published = {{ {range_}, sources = [{keys}] }}"


def effects_text(shares: Shares) -> str:
    """Return what packets show beside the factors as TOML, by settings."""
    text: list[str] = []
    for preset, balancing in BY_SETTINGS:
        for name, title in EFFECTS.items():
            seen = shares[name, preset, balancing, 1]
            ratios = [1 / one for one in seen] if name.startswith("incast") else seen
            text += _effect(f"{name}/{preset}/{balancing}", title, ratios, len(seen))
        for name, title in BESIDE_EFFECTS.items() if preset in BESIDE_PRESETS[1:] else ():
            cells = f"{name}/{preset}/{'+'.join(BESIDE_BALANCINGS)}"
            text += _effect(cells, title, longer(shares, name, preset), seeds_of(shares))
    return "\n".join(text) + "\n"


def longer(shares: Shares, pattern: str, preset: str) -> list[float]:
    """Return the time under some settings over that under tuned ones, of every seed."""
    return [
        tuned / own
        for balancing in BESIDE_BALANCINGS
        for tuned, own in zip(
            shares[pattern, "roce_tuned", balancing, 1],
            shares[pattern, preset, balancing, 1],
            strict=True,
        )
    ]


def seeds_of(shares: Shares) -> int:
    """Return the number of seeds of a cell."""
    return len(next(iter(shares.values())))


def _effect(cells: str, title: str, ratios: list[float], seeds: int) -> list[str]:
    name, preset, _ = cells.split("/")
    return [
        "",
        "[[effect]]",
        f'settings = "{preset}"',
        f'name = "{name}"',
        f'title = "{title}"',
        f"simulated = {{ {toml_range(median(ratios), min(ratios), max(ratios))} }}",
        f'cells = "{cells}/1 QP"',
        f"seeds = {seeds}",
    ]


def toml_range(value: float, low: float, high: float) -> str:
    """Return a figure and its range as TOML."""
    return f"value = {value:.3f}, low = {low:.3f}, high = {high:.3f}"


def cells_of(one: Derived) -> str:
    """Name the cells of a factor."""
    pairs = sorted(
        {c.queue_pairs for c in cases()
         if c.pattern in RUN and c.preset == one.preset and c.balancing in one.balancings}
    )  # fmt: skip
    patterns = (*RUN, "beside_*") if one.factor == "tuning" else RUN
    parts = (
        "+".join(patterns),
        one.preset,
        "+".join(one.balancings),
        "+".join(map(str, pairs)),
    )
    return f"{'/'.join(parts)} QP"


def page_text(shares: list[dict[str, Any]]) -> str:
    """Return the page that sets shares beside sourced factors."""
    lines = (_line(one) for one in shares if not one["pattern"].startswith("tail"))
    return "\n".join([PAGE_HEAD, *lines, *_factors(), *_effects(), READING])


def _line(one: dict[str, Any]) -> str:
    pairs = f", {one['queue_pairs']} queue pairs" if one["queue_pairs"] > 1 else ""
    return (
        f"| {one['pattern']} | {one['preset']} | {one['balancing']}{pairs} "
        f"| {one['value']:.2f} | {one['low']:.2f} to {one['high']:.2f} |"
    )


def _factors() -> Iterator[str]:
    yield "\n## What the closed forms use\n"
    yield "| fabric | factor | published | range | simulated | range | used | cells, sources |"
    yield "|---|---|--:|---|--:|---|---|---|"
    for name in ("roce", "infiniband", "ultra_ethernet"):
        fabric = find(name)
        for word, factors in (
            ("load_balancing", fabric.load_balancing),
            ("tuning", fabric.tuning),
        ):
            for mode, one in factors.items():
                found = simulated_share(name, word, mode)
                simulated = "- | - | published |" if found is None else _both(found)
                cells = "" if found is None else f"{found.cells}; "
                published = "- | -"
                if one != "simulated":
                    published = f"{one.value:.2f} | {one.low:.2f} to {one.high:.2f}"
                    cells += ", ".join(one.sources)
                yield (
                    f"| {fabric.title} | {word.replace('_', ' ')} {mode} | {published} "
                    f"| {simulated} {cells.removesuffix('; ')} |"
                )


def _both(found: FoundShare) -> str:
    one = found.simulated
    return f"{one.value:.2f} | {one.low:.2f} to {one.high:.2f} | {found.used} |"


def _line_of_effect(one: Effect) -> str:
    figure = one.simulated
    return (
        f"| {one.settings} | {one.title.format('so many')} | {figure.value:.2f} "
        f"| {figure.low:.2f} to {figure.high:.2f} |"
    )


def _effects() -> Iterator[str]:
    yield "\n## What has no factor\n"
    yield "| settings | figure | value | range |"
    yield "|---|---|--:|---|"
    for preset, _ in BY_SETTINGS:
        yield from (_line_of_effect(one) for one in effects_under(preset))


PAGE_HEAD = """# Shares of bandwidth beyond the leaf: simulated and published

This page is written by `fits/fabric_shares.py`; the same figures are in
`fits/fabric_shares.toml`, and the factors in `src/weft/network/shares.toml`.

The closed forms (`weft predict`, `weft expect`) do not follow packets: what load balancing and
tuning leave of the bandwidth enters as a factor with a range.
Here the packet engine measures the same shares; results name both figures, the simulated and
the published, and [record 6](decisions/0006-simulated-factors.md) says which is used and why.

128 NICs of 400 Gb/s on 8 leaves and 8 spines, two links from every leaf to every spine, 1:1.
The share is the time that the traffic would take if no flow met another, over the time that it
took; the middle of five seeds, and their range.
`nccl_ring` and `nccl_exchange` are what NCCL runs, as `--fidelity packet` simulates it: eight
groups of 16 hosts at random places side by side, two channels a NIC, each connection with a
hash of its own; `nccl_ring_2to1` has half of the uplinks.
`permutation` is judged by its slowest flow, as training waits for it; `permutation_mean` is the
mean over its flows, as a throughput test shows it.
A queue pair keeps its path for the whole collective, as a hash by flow does.
`ring` has its hosts in order, so that one transfer in sixteen leaves a leaf; `ring_shuffled`
has them at random, so that nearly all do.
`incast_16` is 16 senders and one receiver, over the time that its one port needs.

## Simulated

| traffic | settings | load balancing | share | range |
|---|---|---|--:|---|"""

READING = """
## Reading the two together

* A factor of load balancing is the closed form turned round: `1 - (1 - share) / far`, where
  `far` = 0.88 is how many sends leave a leaf; of tuning it is the share over that of tuned
  settings. Its value is the median of all seeds of its cells, its range that of all of them.
* Rings wait for the slowest of all connections in every step, exchanges hardly: a hash leaves a
  ring at one queue pair 0.36, an exchange at four 0.87. The factor of ECMP stands for both, so
  its value lies between and its range is wide; `--fidelity packet` tells them apart.
* Adaptive routing simulates as published on both fabrics, within 0.01.
* What the placement of hosts does outweighs the load balancing: a ring in order hardly leaves
  its leaves and keeps everything, the same ring shuffled loses two thirds under a hash.
* Default against tuned: a ring or exchange hardly meets the settings, as every port receives
  from one sender; an incast does. With stock NIC timers it takes up to twice as long, since
  rates come back slowly; tuned it takes what the port needs.
* Tuned settings are tuned for throughput: they let queues grow to 400 kB and more, so a small
  transfer behind large ones waits longer than under settings that mark or pause early.
  `tail_over_alone` in the table holds the 99th of 100 against a transfer alone.
* Without pauses (`roce_without_pfc`) every overflow is sent again from the gap on: rings keep
  less than a tenth, and the 99th small transfer takes hundreds of times the middle one.
* Oversubscribed leaves: of *D* hosts a share *f* of what they send passes uplinks of *D c / o*,
  while the rest stays under the leaf at the same time, so 1 / max(1, *f o*) is left: 0.59 at
  two to one (*f* = 0.84), 0.41 at three, 0.31 at four. Packets under adaptive routing keep 0.57
  to 0.64, 0.38 to 0.42 and 0.29 to 0.31, rings and exchanges alike.
* Rings beside something else (`beside_*`): half of the hosts run four rings of 16, beside
  them run exchanges of three other jobs and writes of 4 MB to 16 storage hosts at 15 % load,
  the writes alone, an incast of 16 times 1 MB every 100 us, exchanges that all want one host
  (8 MB from each), or nothing, with a NIC that takes a quarter of its rate. Here settings
  matter: with late marks and early pauses (`roce_misconfigured`) adaptive routing keeps a
  third of what tuned settings keep beside storage, since pauses of the storage's ports spread
  to all links; without pauses every burst costs sends from the gap on.
* Tuned settings are tuned for throughput where a job is alone: beside a hot expert rings keep
  two to three times as much with stock NIC timers. What is missing is haste: with a
  notification every 50 us senders take a millisecond to find their rates, and pauses hold up
  all others meanwhile. `roce_guarded` notifies every 10 us, keeps two to six times as much
  there and half as much again beside storage under a hash, and small transfers wait a third as
  long; an incast of 4 alone takes a tenth longer. `weft tune` searches for the user's own.
* Not in these figures: links that fail or damage packets.
"""

if __name__ == "__main__":
    main()

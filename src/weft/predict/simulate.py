"""Run a scenario, packet by packet or as flows.

With packets every seed has a thread of its own, watched and stoppable.
"""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import partial
from typing import Any, Final

import numpy as np

from weft.engines.packet import stepping
from weft.engines.packet.inside import said_of
from weft.engines.packet.paths import Paths, hops_of, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.pauses import pause_tree
from weft.engines.packet.schedules import Fabric, Schedule
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import PS_PER_S, Options, Outcome
from weft.engines.packet.simulation import simulate as packets
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.engines.packet.tables import State
from weft.errors import SpecError
from weft.predict import simulated
from weft.predict.doubts import scenario_doubts
from weft.predict.flowed import flow_options, flowed, shortest, unseen
from weft.predict.provenance import provenance
from weft.predict.simulation import Simulation, Sweep
from weft.predict.skipped import let_skip, skipped
from weft.results import Effect, Provenance
from weft.spec.scenario import CollectiveStep, Scenario
from weft.traffic import pxn
from weft.traffic.collective import Operation

PACKET_EFFECTS = frozenset(
    {
        Effect.SERIALISATION, Effect.LATENCY, Effect.OVERSUBSCRIPTION, Effect.COLLISIONS,
        Effect.QUEUEING, Effect.PAUSES, Effect.CONGESTION_CONTROL, Effect.LOSS,
    }
)  # fmt: skip
FLOW: Final = "flow"
FLOW_EFFECTS: Final = frozenset(
    {Effect.SERIALISATION, Effect.LATENCY, Effect.OVERSUBSCRIPTION, Effect.COLLISIONS}
)
FLOW_SETTINGS: Final = frozenset(
    {"balancing", "mtu_bytes", "header_bytes", "cut_through_bytes"}
)
"""Options that a simulation of flows heeds."""
DELAYS_INSIDE = (
    "sends inside a scale-up domain are delays of their size over its rate, and share no link "
    "with one another"
)
REDUCERS = (
    "switches that reduce take no time to add up, and NVLink has no latency of its own; "
    "what the library copies is not in it"
)
FREE_BUFFERS = "buffers of switches hold whatever the flow control lets in"
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a simulation is."""

    done_ratio: float
    """Packet-hops over those expected, all seeds."""
    simulated_s: float
    """Simulated time of the seed that is furthest."""
    elapsed_s: float
    left_s: float | None
    """Estimate of the time that is left; none before there is anything to go by."""
    seeds_done: int
    seeds: int
    seeds_begun: int = 1
    """Those whose traffic is laid out as flows."""


Report = Callable[[Progress], None]


class _Halted(Exception):  # noqa: N818 - not an error: somebody asked to stop
    """Leave a run between two calls of the kernel."""


@dataclass(slots=True, kw_only=True)
class _Run:
    """One seed on its way."""

    seed: int
    schedule: Schedule
    options: Options
    paths: Paths
    running: stepping.Running
    samples: stepping.Samples
    hops: int
    done_hops: int = 0

    @property
    def outcome(self) -> Outcome:
        """What has happened so far."""
        return self.running.outcome()


@dataclass(slots=True, kw_only=True)
class _Board:
    """What the threads share: a flag to stop at, and the runs that have begun."""

    halt: threading.Event = field(default_factory=threading.Event)
    runs: dict[tuple[int, int], _Run] = field(default_factory=dict)
    """By place of the scenario and seed."""
    done: set[tuple[int, int]] = field(default_factory=set)
    began_s: float = field(default_factory=time.perf_counter)

    def of(self, place: int, scenario: Scenario) -> list[_Run]:
        """Return the runs of a scenario that have begun, in the order of its seeds."""
        keys = [(place, seed) for seed in scenario.seeds]
        return [self.runs[key] for key in keys if key in self.runs]

    def progress(self, seeds: int) -> Progress:
        """Say how far all seeds are together."""
        found = list(self.runs.items())
        runs = [run for _, run in found]
        expected = sum(run.hops for run in runs) / max(1, len(runs)) * seeds
        hops = sum(r.hops if k in self.done else min(r.done_hops, r.hops) for k, r in found)
        ratio = min(1.0, hops / max(1, expected))
        elapsed = time.perf_counter() - self.began_s
        return Progress(
            done_ratio=ratio,
            simulated_s=max((run.running.now_ps for run in runs), default=0) / PS_PER_S,
            elapsed_s=elapsed,
            left_s=elapsed * (1 - ratio) / ratio if ratio > 0 else None,
            seeds_done=len(self.done),
            seeds=seeds,
            seeds_begun=len(runs),
        )


def simulate(
    scenario: Scenario, *, fidelity: str = "packet", report: Report | None = None
) -> Simulation:
    """Simulate a scenario, once a seed; Ctrl-C gives what happened until then.

    With the fidelity ``flow`` every flow has its fair rate at any time: no queues, no loss.
    ``report`` is called a few times a second with the progress.
    """
    return sweep((scenario,), fidelity=fidelity, report=report).simulations[0]


def sweep(
    scenarios: Sequence[Scenario],
    *,
    fidelity: str = "packet",
    workers: int | None = None,
    report: Report | None = None,
) -> Sweep:
    """Simulate every seed of several scenarios on all cores; the same on any number of them.

    Ctrl-C gives what happened until then; scenarios that had not begun are left out.
    """
    if fidelity == FLOW:
        return _as_flows(scenarios)
    if fidelity != "packet":
        raise SpecError(f"no fidelity of a scenario is called {fidelity!r}; flow or packet")
    seeds = sum(len(scenario.seeds) for scenario in scenarios)
    fabrics = [scenario_fabric(scenario) for scenario in scenarios]
    board, interrupted = _Board(), False
    threads = min(seeds, workers or os.cpu_count() or 1)
    with ThreadPoolExecutor(threads) as pool:
        tasks = {
            pool.submit(_run, board, fabrics[place], scenario, (place, seed))
            for place, scenario in enumerate(scenarios) for seed in scenario.seeds
        }  # fmt: skip
        try:
            pending = tasks
            while pending:
                _, pending = wait(pending, timeout=_LOOK_S)
                if report is not None:
                    report(board.progress(seeds))
        except KeyboardInterrupt:
            interrupted = True
            board.halt.set()
            if not board.runs:
                raise
        for task in tasks:
            with suppress(_Halted):
                task.result()
    begun = sorted({place for place, _ in board.runs})
    simulations = tuple(
        _packets(fabrics[p], scenarios[p], board.of(p, scenarios[p]), interrupted=interrupted)
        for p in begun
    )
    return _sweep(scenarios, fabrics, simulations)


def _as_flows(scenarios: Sequence[Scenario]) -> Sweep:
    """Simulate scenarios as flows, each in a moment: what is interrupted gives nothing."""
    fabrics, simulations = [], []
    for scenario in scenarios:
        said = unseen(scenario)
        fabric = scenario_fabric(shortest(scenario))
        seen = [_flows_of(fabric, scenario, seed) for seed in scenario.seeds]
        made = replace(_provenance(scenario, seen[0]), engine=FLOW, models=FLOW_EFFECTS)
        made = replace(made, assumptions=(*said, *made.assumptions))
        fabrics.append(fabric)
        simulations.append(_result(seen, made))
    found = _sweep(scenarios, fabrics, tuple(simulations))
    made = replace(found.provenance, engine=FLOW, models=FLOW_EFFECTS)
    return replace(found, provenance=made)


def _flows_of(fabric: Fabric, scenario: Scenario, seed: int) -> simulated.Seen:
    schedule = compile_traffic(fabric, scenario, seed)
    options = flow_options(scenario, seed)
    classes = scenario.network.classes
    outcome = flowed(schedule, fabric, options, until_s=scenario.until_s, classes=classes)
    return simulated.Seen(
        scenario=scenario, fabric=fabric, seed=seed, schedule=schedule, options=options,
        paths=paths_of(schedule.wiring, routes_of(schedule, fabric), schedule.flows),
        outcome=outcome, samples=stepping.samples_for(8, 1), now_ps=outcome.now_ps,
        complete=bool((outcome.end_ps >= 0).all()), queues=False,
    )  # fmt: skip


def _sweep(
    scenarios: Sequence[Scenario],
    fabrics: Sequence[Fabric],
    simulations: tuple[Simulation, ...],
) -> Sweep:
    parts = [
        part
        for scenario, fabric in zip(scenarios, fabrics, strict=True)
        for part in (scenario.cluster, _by_content(scenario, fabric))
    ]
    said = dict.fromkeys(line for item in simulations for line in item.provenance.assumptions)
    made = provenance(*parts, sources=(), assumptions=tuple(said))
    seed = scenarios[0].seeds[0]
    return Sweep(
        simulations=simulations,
        complete=len(simulations) == len(scenarios) and all(s.complete for s in simulations),
        left_out=tuple(scenario.name for scenario in scenarios[len(simulations) :]),
        provenance=replace(made, engine="packet", models=PACKET_EFFECTS, seed=seed),
    )


def _run(board: _Board, fabric: Fabric, scenario: Scenario, key: tuple[int, int]) -> None:
    if board.halt.is_set():
        raise _Halted

    def look() -> None:
        if board.halt.is_set():
            raise _Halted

    run = _begin(fabric, scenario, key[1], look)
    board.runs[key] = run

    def watch(state: State) -> None:
        run.done_hops = int(state.counts[0].data_hops)
        look()

    until_ps = round(scenario.until_s * PS_PER_S)
    stepping.sampled(run.running, run.samples, until_ps, run.schedule.fabric_links, watch)
    board.done.add(key)


def _begin(fabric: Fabric, scenario: Scenario, seed: int, look: Callable[[], None]) -> _Run:
    schedule = compile_traffic(fabric, scenario, seed, look)
    options = options_of(scenario, seed)
    routes = routes_of(schedule, fabric)
    paths = paths_of(schedule.wiring, routes, schedule.flows)
    running = stepping.begin(schedule.wiring, routes, schedule.flows, options)
    let_skip(running, scenario, schedule, paths)
    return _Run(
        seed=seed,
        schedule=schedule,
        options=options,
        paths=paths,
        running=running,
        samples=stepping.samples_for(
            scenario.samples, schedule.fabric_links * max(1, len(options.classes))
        ),
        hops=hops_of(paths, schedule.flows, options),
    )


def _packets(
    fabric: Fabric, scenario: Scenario, runs: list[_Run], *, interrupted: bool
) -> Simulation:
    seen = [
        simulated.Seen(
            scenario=scenario, fabric=fabric, seed=run.seed, schedule=run.schedule,
            options=run.options, paths=run.paths, outcome=run.outcome, samples=run.samples,
            now_ps=run.running.now_ps, complete=run.running.complete,
        )
        for run in runs
    ]  # fmt: skip
    found = _result(seen, _provenance(scenario, seen[0]), interrupted=interrupted)
    if interrupted:
        return found
    return replace(found, skipped=skipped(seen, [run.running for run in runs]))


def _result(
    seen: Sequence[simulated.Seen], made: Provenance, *, interrupted: bool = False
) -> Simulation:
    first = seen[0]
    return Simulation(
        scenario=first.scenario,
        complete=not interrupted and all(item.complete for item in seen),
        interrupted=interrupted,
        settings=_settings(first),
        traffic=simulated.traffic(seen),
        jobs=simulated.jobs(seen, _alone(seen) if not interrupted else ()),
        seeds=tuple(simulated.seed(item) for item in seen),
        layers=simulated.layers(first),
        links=simulated.worst_links(first),
        classes=simulated.classes(first),
        **_pauses(first),
        moments=simulated.moments(first),
        queues=simulated.queues(first),
        bars=simulated.bars(first),
        begun=len(simulated.begun(first)),
        provenance=made,
    )


def _alone(seen: Sequence[simulated.Seen]) -> list[list[simulated.Seen]]:
    """Simulate every traffic again, each time with the others held back, if that is asked."""
    scenario = seen[0].scenario
    if not scenario.alone or len(scenario.traffic) == 1:
        return []
    numbers = range(len(scenario.traffic))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [list(pool.map(partial(_without_others, number), seen)) for number in numbers]


def _without_others(number: int, one: simulated.Seen) -> simulated.Seen:
    """Simulate one seed again where only one traffic ever begins: the others await themselves.

    All hashes, places and random draws stay as they were.
    """
    flows = one.schedule.flows
    held = np.flatnonzero(one.schedule.traffic != number)
    if not one.queues:
        found = flowed(
            one.schedule, one.fabric, one.options, until_s=one.scenario.until_s,
            classes=one.scenario.network.classes, held=held,
        )  # fmt: skip
        return replace(one, outcome=found)
    pairs = np.stack([held, held], axis=1)
    if flows.predecessor is not None:
        pairs = np.concatenate([flows.predecessor, pairs])
    outcome = packets(
        one.schedule.wiring,
        replace(flows, predecessor=pairs),
        one.options,
        until_ps=round(one.scenario.until_s * PS_PER_S),
        routes=routes_of(one.schedule, one.fabric),
    )
    return replace(one, outcome=outcome)


def _pauses(one: simulated.Seen) -> dict[str, Any]:
    """Return what pauses came from and whom they hit."""
    tree = pause_tree(one.outcome)
    hit = simulated.victims(one, tree)
    return {
        "pause_roots": simulated.pause_roots(one, tree),
        "pause_victims": hit[: simulated.SHOWN_VICTIMS],
        "victims": len(hit),
        "deadlock": tuple(one.all_link_names[at] for at in one.outcome.deadlock),
    }


def _settings(seen: simulated.Seen) -> dict[str, Any]:
    found: dict[str, Any] = {}
    options = seen.options
    for item in fields(options):
        if not seen.queues and item.name not in FLOW_SETTINGS:
            continue
        value = getattr(options, item.name)
        if item.name == "knobs":
            found |= {f"knob {name}": number for name, number in value.items()}
        elif isinstance(value, Enum):
            found[item.name] = value.name.lower()
        elif item.name != "seed" and isinstance(value, str | float | int | None):
            found[item.name] = value
    return found


def _provenance(scenario: Scenario, first: simulated.Seen) -> Provenance:
    assumptions = [*scenario_doubts(scenario), DELAYS_INSIDE, *said_of(scenario)]
    if first.queues:
        assumptions.append(FREE_BUFFERS)
    if _sends_to_peers(scenario):
        assumptions.append(pxn.said(scenario.cluster))
    if scenario.faults:
        assumptions.append("faults last throughout; routing has converged on what is left")
    mode = scenario.cluster.fabric.load_balancing
    if first.schedule.beside:
        assumptions.append(REDUCERS)
    balancing = first.options.balancing
    if mode is not None and mode != balancing:
        assumptions.append(f"load balancing {mode} is simulated as {balancing}")
    recovery = first.options.recovery
    if scenario.network.recovery is None and recovery != Options().recovery:
        assumptions.append(f"what is lost is sent again by {recovery}, as nothing says how")
    tables = first.fabric.forwarding
    if tables is not None:
        assumptions.append(tables.said)
    made = provenance(
        scenario.cluster, _by_content(scenario, first.fabric), sources=(),
        assumptions=tuple(assumptions),
    )  # fmt: skip
    return replace(made, engine="packet", models=PACKET_EFFECTS, seed=scenario.seeds[0])


def _sends_to_peers(scenario: Scenario) -> bool:
    """Whether GPUs of a host send to all GPUs of another, which may be of other rails."""
    if scenario.cluster.host.nics == 1:
        return False
    steps: list[CollectiveStep] = [
        item.collective for item in scenario.traffic if item.collective
    ]
    steps += [step for item in scenario.traffic if item.job for step in item.job.steps]
    return any(Operation(step.operation) is Operation.ALL_TO_ALL for step in steps)


def _by_content(scenario: Scenario, fabric: Fabric) -> Scenario:
    """Name forwarding tables by what they hold, so that where they lie changes no digest."""
    tables = fabric.forwarding
    routes = () if tables is None or not tables.files else (tables.sha256,)
    return scenario.with_(network=scenario.network.with_(routes=routes))

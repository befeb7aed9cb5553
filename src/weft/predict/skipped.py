"""What a packet simulation skipped, and its error against the full run where that is asked."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from weft.engines.packet.paths import Paths
from weft.engines.packet.repeats import repeats_of
from weft.engines.packet.schedules import Schedule
from weft.engines.packet.simulation import PS_PER_S, Outcome
from weft.engines.packet.simulation import simulate as packets
from weft.engines.packet.skipping import skipping_of, why_not
from weft.engines.packet.static_routes import routes_of
from weft.engines.packet.stepping import Running
from weft.predict.simulated import Seen
from weft.predict.simulation import Skipped
from weft.spec.scenario import Scenario


def let_skip(running: Running, scenario: Scenario, schedule: Schedule, paths: Paths) -> None:
    """Let a simulation that has not begun skip what repeats, if its scenario asks for that."""
    if scenario.skip_ratio is None or why_not(running.state) is not None:
        return
    running.skipping = skipping_of(
        running.state,
        schedule,
        scenario.skip_ratio,
        paths=paths,
        limit_ps=round(scenario.until_s * PS_PER_S),
    )
    running.repeats = repeats_of(running.state, schedule, running.skipping)


def skipped(seen: Sequence[Seen], running: Sequence[Running]) -> Skipped | None:
    """Return what all seeds skipped; none where nobody asked for it."""
    scenario = seen[0].scenario
    if scenario.skip_ratio is None:
        return None
    skips = [item.skipping for item in running if item.skipping is not None]
    repeats = [item.repeats for item in running if item.repeats is not None]
    sizes = [item.schedule.flows.size_bytes[item.schedule.real].sum() for item in seen]
    taken = [
        skip.taken_bytes[item.schedule.real].sum()
        for skip, item in zip(skips, seen, strict=False)
    ]
    full = _full(seen) if scenario.skip_check else []
    pairs = list(zip(seen, full, strict=False))
    return Skipped(
        bytes_ratio=float(sum(taken) / max(1, sum(sizes))),
        states=sum(len(skip.at_ps) for skip in skips),
        periodic=sum(skip.periodic for skip in skips),
        runs=sum(len(repeat.times) for repeat in repeats),
        refused=why_not(running[0].state),
        error_ratio=max((_error(pair, whole) for pair, whole in pairs), key=abs, default=None),
        flow_error_ratio=max((_flow_error(pair, whole) for pair, whole in pairs), default=None),
    )


def _full(seen: Sequence[Seen]) -> list[Outcome]:
    """Simulate every packet of all seeds."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_whole, seen))


def _whole(one: Seen) -> Outcome:
    return packets(
        one.schedule.wiring,
        one.schedule.flows,
        one.options,
        until_ps=round(one.scenario.until_s * PS_PER_S),
        routes=routes_of(one.schedule, one.fabric),
    )


def _error(one: Seen, full: Outcome) -> float:
    return one.outcome.completion_ps / max(1, full.completion_ps) - 1


def _flow_error(one: Seen, full: Outcome) -> float:
    """Return the 99th of 100 errors of a flow's time."""
    both: npt.NDArray[np.bool_] = one.own & (one.outcome.end_ps >= 0) & (full.end_ps >= 0)
    took = (full.end_ps - full.begin_ps)[both]
    return float(np.quantile(np.abs(one.took_ps[both] / np.maximum(1, took) - 1), 0.99))

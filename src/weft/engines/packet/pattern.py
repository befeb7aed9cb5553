"""What a kind of traffic is: one entry of a scenario in, flows with dependencies out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft import plugins
from weft.engines.packet import patterns
from weft.engines.packet.beside import Reducing
from weft.engines.packet.inside import packet_bytes, sockets_of
from weft.engines.packet.schedules import Fabric, Schedule, Work, schedule_of
from weft.engines.packet.settings import CUT_THROUGH_BYTES, class_numbers
from weft.spec.scenario import Scenario, TrafficItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A kind of traffic; the file is named after its key in a scenario."""

    title: str
    add: Callable[[Work, Any, np.random.Generator], None]
    """Adds the flows of one run of its part of the spec; what it draws comes from the seed."""


def compile_traffic(
    fabric: Fabric, scenario: Scenario, seed: int, look: Callable[[], None] | None = None
) -> Schedule:
    """Turn all traffic of a scenario into one schedule; random choices follow the seed.

    ``look`` is called now and then, and stops it by raising.
    """
    work = Work(fabric=fabric, queue_pairs=connections_of(scenario), look=look)
    work.beside.reducing = _reducing(scenario)
    rng = np.random.default_rng(seed)
    for number, item in enumerate(scenario.traffic):
        _add_runs(work, number, item, rng)
    schedule = schedule_of(work)
    if not scenario.network.classes:
        return schedule
    classes = np.array(class_numbers(scenario), np.int64)[schedule.traffic]
    return replace(schedule, flows=replace(schedule.flows, traffic_class=classes))


def connections_of(scenario: Scenario) -> int:
    """Return connections of one transfer: sockets where hosts copy, else queue pairs."""
    network = scenario.network
    if network.sockets is None or network.queue_pairs > 1:
        return network.queue_pairs
    return sockets_of(scenario.cluster, network.sockets)


def _reducing(scenario: Scenario) -> Reducing:
    """Return how switches reduce in a scenario."""
    asked = scenario.network.reduction
    payload, header = packet_bytes(scenario)
    wait = payload + header - CUT_THROUGH_BYTES
    return Reducing(
        bytes_per_s=asked.bytes_per_s,
        outstanding_bytes=asked.outstanding_bytes,
        wire_ratio=(payload + header) / payload,
        wait_bytes=max(0, round(wait)) if scenario.network.cut_through else 0,
    )


def _add_runs(work: Work, number: int, item: TrafficItem, rng: np.random.Generator) -> None:
    """Add every run of one traffic: each begins a gap after the last flow of the one before."""
    pattern = plugins.load(patterns, item.kind, Pattern)
    content = item.content
    work.begin_s, work.barrier = content.begin_s, ()
    for run in range(content.repeat):
        work.owner = number, run
        mark = work.mark()
        pattern.add(work, content, rng)
        if run + 1 < content.repeat:
            work.owner = number, -1  # the gap is part of no run
            work.barrier = work.wait(-1 - number, content.gap_s, work.last_of(mark))
            work.begin_s = 0.0
    work.begin_s, work.barrier = 0.0, ()

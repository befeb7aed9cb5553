"""A job: collectives one after the other, with computing between them, again and again."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.patterns.collective import add_one, placed
from weft.engines.packet.schedules import Work
from weft.spec.scenario import JobStep, JobTraffic


def _add(work: Work, one: JobTraffic, rng: np.random.Generator) -> None:
    """Add one iteration. Every collective is a run of its own; computing belongs to none."""
    number, iteration = work.owner
    host = work.fabric.cluster.host
    per_host = one.ranks_per_host or host.gpus
    hosts = np.arange(one.first_host, work.fabric.cluster.hosts, one.every)[: one.hosts]
    gpus = placed(work, hosts, one.placement, per_host, rng)
    calls = calls_of(one)
    for place, step in enumerate(calls):
        if step.compute_s > 0:
            work.owner = number, -1
            work.barrier = work.wait(-1 - number, step.compute_s)
        work.owner = number, iteration * len(calls) + place
        mark = work.mark()
        add_one(work, step, gpus, per_host)
        work.barrier = work.last_of(mark)


def calls_of(one: JobTraffic) -> list[JobStep]:
    """Return the collectives of one iteration, each call by itself."""
    return [step for step in one.steps for _ in range(step.calls)]


job = Pattern(title="a job of several collectives", add=_add)

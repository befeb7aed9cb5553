"""A job: collectives one after the other, with computing between them, again and again."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.patterns.collective import add_one
from weft.engines.packet.schedules import Work
from weft.spec.scenario import JobStep, JobTraffic


def _add(work: Work, one: JobTraffic, rng: np.random.Generator) -> None:  # nothing is random
    """Add one iteration. Every collective is a run of its own; computing belongs to none."""
    number, iteration = work.owner
    host = work.fabric.cluster.host
    per_host = one.ranks_per_host or host.gpus
    hosts = one.hosts or work.fabric.cluster.hosts - one.first_host
    span = range(one.first_host, one.first_host + hosts)
    gpus = [h * host.gpus + gpu for h in span for gpu in range(per_host)]
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

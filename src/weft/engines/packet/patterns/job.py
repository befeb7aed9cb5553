"""A job: collectives one after the other, with computing between them, again and again."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.patterns.collective import add_one, placed
from weft.engines.packet.schedules import Work
from weft.spec.scenario import JobTraffic


def _add(work: Work, one: JobTraffic, rng: np.random.Generator) -> None:
    """Add one iteration. Every collective is a run of its own; computing belongs to none."""
    number, iteration = work.owner
    host = work.fabric.cluster.host
    per_host = one.ranks_per_host or host.gpus
    hosts = np.arange(one.first_host, work.fabric.cluster.hosts, one.every)[: one.hosts]
    gpus = placed(work, hosts, one.placement, per_host, rng)
    for place, step in enumerate(one.steps):
        if step.compute_s > 0:
            work.owner = number, -1
            work.barrier = work.wait(-1 - number, step.compute_s)
        work.owner = number, iteration * len(one.steps) + place
        mark = work.mark()
        add_one(work, step, gpus, per_host)
        work.barrier = work.last_of(mark)


job = Pattern(title="a job of several collectives", add=_add)

"""NCCL's RAS: what is read of it."""

from weft.collect.probe import Command, Probe, Scope

ras = Probe(
    title="Communicators of running jobs (NCCL RAS)",
    why="ranks that are missing, dead or behind; any host of a job knows all of its ranks",
    scope=Scope.FABRIC,
    counters=(Command("ncclras -v -f json"),),
)

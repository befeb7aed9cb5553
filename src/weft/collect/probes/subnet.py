"""The InfiniBand subnet: what is read of it."""

from weft.collect.probe import Command, Probe, Scope

subnet = Probe(
    title="The InfiniBand subnet",
    why="links that are down or slow, error counters of switches, the subnet manager",
    scope=Scope.FABRIC,
    commands=(
        Command("sminfo"),
        Command("ibnetdiscover"),
        Command("iblinkinfo -l"),
    ),
    counters=(Command("ibqueryerrors"),),
)

"""NCCL: what is read of it."""

from weft.collect.probe import Command, Probe

nccl = Probe(
    title="NCCL",
    why="the settings that every job of this host gets",
    commands=(Command("cat /etc/nccl.conf"),),
)

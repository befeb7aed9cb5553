"""A SONiC switch: what is read of it."""

from weft.collect.probe import Command, Probe

switch = Probe(
    title="A SONiC switch",
    why="pause, drops and watchdog; config_db.json is left alone: it may hold passwords",
    commands=(
        Command("show version"),
        Command("show interfaces status"),
        Command("show pfcwd config"),
        Command("show ecn"),
        Command("show lldp table"),
    ),
    counters=(
        Command("show pfc counters"),
        Command("show queue counters"),
        Command("show priority-group drop counters"),
        Command("show pfcwd stats"),
        Command("show interfaces counters"),
    ),
)

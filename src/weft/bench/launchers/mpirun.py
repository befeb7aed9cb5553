"""By MPI: Open MPI's mpirun."""

from collections.abc import Sequence

from weft.bench.command import Command
from weft.bench.launcher import Launcher
from weft.collect.reach import host_name


def _over(hosts: Sequence[str], per_host: int, command: Command) -> tuple[str, ...]:
    names = [host_name(host) for host in hosts] or ["localhost"]
    exported = [
        word for name, value in command.env.items() for word in ("-x", f"{name}={value}")
    ]
    return (
        "mpirun", "-np", f"{len(names) * per_host}",
        "--host", ",".join(f"{name}:{per_host}" for name in names),
        "--map-by", f"ppr:{per_host}:node", *exported, *command.words,
    )  # fmt: skip


mpirun = Launcher(
    title="by mpirun (Open MPI)",
    takes="hosts that MPI reaches",
    over=_over,
    passes_input=False,  # only to rank 0; asked to end, it ends all ranks
)

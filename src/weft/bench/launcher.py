"""What a launcher is: hosts and a command in, the words that start it there out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weft import plugins
from weft.bench.command import Command
from weft.collect.way import host_name, in_pod, over_ssh
from weft.errors import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """One way to start a command on hosts.

    ``on`` starts one process on one host. ``over`` starts all ranks of a job at once, as MPI
    and Slurm do; a launcher has one of the two.
    """

    title: str
    takes: str
    """What --hosts names."""
    on: Callable[[str, Command], tuple[str, ...]] | None = None
    over: Callable[[Sequence[str], int, Command], tuple[str, ...]] | None = None
    """Hosts, ranks on each, command."""
    needs_master: bool = False
    """Whether the names of hosts are no addresses, so that the first needs one."""
    passes_input: bool = True
    """Whether each process that it starts reads our standard input."""
    here: bool = False
    """Whether the environment can be set by us, because the process is a child of ours."""


def find(name: str) -> Launcher:
    """Return a launcher by name."""
    if name not in LAUNCHERS:
        raise UnknownName(plugins.unknown("launcher", name, [*LAUNCHERS]))
    return LAUNCHERS[name]


def _mpirun(hosts: Sequence[str], per_host: int, command: Command) -> tuple[str, ...]:
    names = [host_name(host) for host in hosts] or ["localhost"]
    exported = [
        word for name, value in command.env.items() for word in ("-x", f"{name}={value}")
    ]
    return (
        "mpirun", "-np", f"{len(names) * per_host}",
        "--host", ",".join(f"{name}:{per_host}" for name in names),
        "--map-by", f"ppr:{per_host}:node", *exported, *command.words,
    )  # fmt: skip


def _srun(hosts: Sequence[str], per_host: int, command: Command) -> tuple[str, ...]:
    where = ("--nodelist", ",".join(map(host_name, hosts))) if hosts else ()
    count = max(1, len(hosts))
    return (
        "srun", "--kill-on-bad-exit=1", f"--nodes={count}", f"--ntasks={count * per_host}",
        f"--ntasks-per-node={per_host}", *where, *command.through_env(),
    )  # fmt: skip


LAUNCHERS: Final = {
    "kubectl": Launcher(
        title="in pods, through kubectl exec",
        takes="[namespace/]pod[:container]",
        on=lambda pod, command: in_pod(pod, command.through_env(), "--stdin"),
        needs_master=True,
    ),
    "local": Launcher(
        title="on this host",
        takes="nothing, or labels",
        on=lambda _, command: command.words,
        here=True,
    ),
    "mpirun": Launcher(
        title="by mpirun (Open MPI)",
        takes="hosts that MPI reaches",
        over=_mpirun,
        passes_input=False,  # only to rank 0; asked to end, it ends all ranks
    ),
    "netns": Launcher(  # links of a laboratory, shaped by tc
        title="in network namespaces of this host",
        takes="names of namespaces",
        on=lambda name, command: ("ip", "netns", "exec", host_name(name), *command.words),
        here=True,
        needs_master=True,
    ),
    "srun": Launcher(  # inside an allocation, or one that srun asks for
        title="by Slurm's srun", takes="hosts of the allocation", over=_srun
    ),
    "ssh": Launcher(
        title="over ssh",
        takes="[user@]host",
        on=lambda host, command: over_ssh(host, command.through_env(), "-o", "LogLevel=ERROR"),
    ),
}

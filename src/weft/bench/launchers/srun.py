"""By Slurm: inside an allocation, or one that srun asks for."""

from collections.abc import Sequence

from weft.bench.command import Command
from weft.bench.launcher import Launcher
from weft.collect.reach import host_name


def _over(hosts: Sequence[str], per_host: int, command: Command) -> tuple[str, ...]:
    where = ("--nodelist", ",".join(map(host_name, hosts))) if hosts else ()
    count = max(1, len(hosts))
    return (
        "srun", "--kill-on-bad-exit=1", f"--nodes={count}", f"--ntasks={count * per_host}",
        f"--ntasks-per-node={per_host}", *where, *command.through_env(),
    )  # fmt: skip


srun = Launcher(title="by Slurm's srun", takes="hosts of the allocation", over=_over)

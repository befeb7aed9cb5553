"""nccl-tests and rccl-tests: all_reduce_perf and its like, as JSON where they can."""

from weft.bench.command import Command
from weft.bench.tool import ITERATIONS, WARMUP, Ask, Process, Tool
from weft.errors import SpecError

_PROGRAMS = {
    "all_reduce": "all_reduce_perf", "all_gather": "all_gather_perf",
    "reduce_scatter": "reduce_scatter_perf", "alltoall": "alltoall_perf",
    "broadcast": "broadcast_perf", "reduce": "reduce_perf", "sendrecv": "sendrecv_perf",
}  # fmt: skip


def _processes(ask: Ask) -> tuple[Process, ...]:
    if not ask.gang and len(ask.places) > 1:
        raise SpecError(
            "nccl-tests over several hosts are one MPI job; use --launcher mpirun or srun"
        )
    gpus = "1" if ask.gang else f"{ask.ranks_per_host}"
    words = (
        _PROGRAMS[ask.operation], "-b", f"{ask.smallest_bytes}", "-e", f"{ask.largest_bytes}",
        "-f", f"{ask.factor:g}", "-n", f"{ask.iterations or ITERATIONS}",
        "-w", f"{WARMUP if ask.warmup is None else ask.warmup}",
        "-g", gpus, *ask.options,
    )  # fmt: skip
    env = dict(ask.env)
    if ask.interface:
        env.setdefault("NCCL_SOCKET_IFNAME", ask.interface)
    env.setdefault("NCCL_DEBUG", "VERSION")
    return (Process(command=Command(words=words, env=env), gang=ask.gang, answers=True),)


nccl_tests = Tool(
    title="nccl-tests", program="all_reduce_perf", processes=_processes,
    operations=frozenset(_PROGRAMS),
    takes=frozenset({
        "smallest_bytes", "largest_bytes", "factor", "iterations", "warmup", "ranks_per_host",
        "interface",
    }),
)  # fmt: skip

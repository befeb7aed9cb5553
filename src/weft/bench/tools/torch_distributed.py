"""torch.distributed: the collectives that a training job calls, over NCCL or gloo.

The worker is a small program that is handed to Python as text, so that nothing but PyTorch
need be installed where it runs. Every iteration is timed alone, on the slowest rank.
"""

from functools import cache
from importlib.resources import files

from weft.bench.command import Command
from weft.bench.tool import ITERATIONS, WARMUP, Ask, Process, Tool
from weft.errors import SpecError

_PORT = "29517"
_BACKENDS = ("nccl", "gloo")
_OPERATIONS = frozenset({
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv",
})  # fmt: skip
_NOT_IN_GLOO = frozenset({"reduce_scatter", "alltoall"})


@cache
def _worker() -> str:
    return (files("weft.bench") / "torch_worker.py").read_text("utf-8")


def _processes(ask: Ask) -> tuple[Process, ...]:
    backend = ask.backend or "nccl"
    if backend not in _BACKENDS:
        raise SpecError(f"no backend is called {backend!r}; there are: {', '.join(_BACKENDS)}")
    if backend == "gloo" and ask.operation in _NOT_IN_GLOO:
        raise SpecError(f"gloo has no {ask.operation}; NCCL has")
    if ask.gang:
        # MPI and Slurm tell each rank which it is; the worker reads their variables.
        command = Command(words=_words(ask, backend, ""), env=_env(ask))
        return (Process(command=command, gang=True, answers=True),)
    ranks = len(ask.places) * ask.ranks_per_host
    return tuple(
        _rank(ask, backend, host * ask.ranks_per_host + local, local, ranks)
        for host in range(len(ask.places))
        for local in range(ask.ranks_per_host)
    )


def _rank(ask: Ask, backend: str, rank: int, local: int, ranks: int) -> Process:
    host = rank // ask.ranks_per_host
    own = {"RANK": f"{rank}", "WORLD_SIZE": f"{ranks}", "LOCAL_RANK": f"{local}"}
    words = _words(ask, backend, ask.places[host])
    command = Command(words=words, env={**own, **_env(ask)})
    return Process(command=command, host=host, answers=rank == 0)


def _env(ask: Ask) -> dict[str, str]:
    env = {"MASTER_ADDR": ask.first, "MASTER_PORT": _PORT, **ask.env}
    if ask.interface:
        env |= {"GLOO_SOCKET_IFNAME": ask.interface, "NCCL_SOCKET_IFNAME": ask.interface}
    return env


def _words(ask: Ask, backend: str, host: str) -> tuple[str, ...]:
    """Return the words that start a rank; without the name of its host it asks for it."""
    warmup = WARMUP if ask.warmup is None else ask.warmup
    return (
        ask.python, "-c", _worker(), ask.operation, backend, f"{ask.smallest_bytes}",
        f"{ask.largest_bytes}", f"{ask.factor:g}", f"{ask.iterations or ITERATIONS}",
        f"{warmup}", host,
    )  # fmt: skip


torch_distributed = Tool(
    title="torch.distributed", program="python3", processes=_processes,
    operations=_OPERATIONS,
    takes=frozenset({
        "smallest_bytes", "largest_bytes", "factor", "iterations", "warmup", "ranks_per_host",
        "interface", "backend", "master", "python",
    }),
)  # fmt: skip

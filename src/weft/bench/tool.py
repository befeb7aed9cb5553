"""The benchmarks that weft starts: what was asked in, the processes that measure it out."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from weft import plugins
from weft.bench.command import Command
from weft.errors import SpecError, UnknownName

ITERATIONS: Final = 20
WARMUP: Final = 5
"""Of a collective, where nothing else is asked: those of nccl-tests."""
WORDS: Final = {
    "smallest_bytes": "--begin", "largest_bytes": "--end", "factor": "--factor",
    "iterations": "--iterations", "warmup": "--warmup", "ranks_per_host": "--ranks-per-host",
    "master": "--master", "interface": "--interface", "backend": "--backend",
    "seconds": "--seconds", "streams": "--streams", "python": "--python",
}  # fmt: skip
"""The option of each part of an Ask that a tool may not heed."""


_NCCL_PROGRAMS: Final = {
    "all_reduce": "all_reduce_perf", "all_gather": "all_gather_perf",
    "reduce_scatter": "reduce_scatter_perf", "alltoall": "alltoall_perf",
    "broadcast": "broadcast_perf", "reduce": "reduce_perf", "sendrecv": "sendrecv_perf",
}  # fmt: skip
_SWEEP: Final = frozenset({"smallest_bytes", "largest_bytes", "iterations"})
_RANKS: Final = frozenset({"factor", "warmup", "ranks_per_host", "interface"})
_PORT: Final = "29517"
_BACKENDS: Final = ("nccl", "gloo")
_NOT_IN_GLOO: Final = frozenset({"reduce_scatter", "alltoall"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What to measure, where."""

    operation: str = "all_reduce"
    smallest_bytes: int = 8
    largest_bytes: int = 1 << 30
    factor: float = 2.0
    iterations: int | None = None
    """Of each size; none: what the tool does."""
    warmup: int | None = None
    """Before they count; none: what the tool does."""
    hosts: tuple[str, ...] = ()
    ranks_per_host: int = 1
    master: str = ""
    """Address at which the first host is reached; empty: its name."""
    interface: str = ""
    backend: str = ""
    seconds: float = 10.0
    streams: int = 1
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """Words added to the command of the tool."""
    python: str = ""
    """Program of the hosts; empty: python3, and on this host the one that runs weft."""
    gang: bool = False
    """Whether the launcher starts all ranks at once."""

    @property
    def first(self) -> str:
        """Address of the first host."""
        return self.master or (self.hosts[0].rpartition("@")[2] if self.hosts else "127.0.0.1")

    @property
    def places(self) -> tuple[str, ...]:
        """Hosts, or this one."""
        return self.hosts or ("localhost",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process of a benchmark."""

    command: Command
    host: int = 0
    """Place of its host in the list; a gang has all of them."""
    gang: bool = False
    serves: bool = False
    """A server: it is started first and ended when the others have."""
    answers: bool = False
    """Its output holds the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One benchmark."""

    title: str
    program: str
    """The program that must be there."""
    processes: Callable[[Ask], tuple[Process, ...]]
    operations: frozenset[str]
    """What it can measure."""
    takes: frozenset[str]
    """What of an Ask it heeds besides hosts, operation, variables and words added."""
    version: Callable[[Ask], Command] | None = None
    """What prints its version, where its output does not."""

    def check(self, given: Iterable[str]) -> None:
        """Refuse what was asked for and the tool would not heed."""
        for name in given:
            if name not in self.takes:
                known = ", ".join(sorted(WORDS[part] for part in self.takes))
                raise SpecError(f"{self.title} takes no {WORDS[name]}; it takes: {known}")


def find(name: str) -> Tool:
    """Return a tool by name, however its dashes and dots are written."""
    plain = name.replace("-", "_").replace(".", "_")
    if plain not in TOOLS:
        raise UnknownName(plugins.unknown("tool", plain, [*TOOLS]))
    return TOOLS[plain]


def _pair(ask: Ask, title: str) -> tuple[int, int]:
    """Return the places of server and client of a tool for two hosts."""
    if len(ask.places) > 2:  # noqa: PLR2004 - a pair
        raise SpecError(
            f"{title} measures one pair; {len(ask.places)} hosts are named (weft bench "
            "localise plans pairs)"
        )
    return 0, len(ask.places) - 1


def _iperf3(ask: Ask) -> tuple[Process, ...]:
    server, client = _pair(ask, "iperf3")
    listen = ("iperf3", "--server", "--one-off")
    words = (
        "iperf3", "--client", ask.first, "--json", "--time", f"{ask.seconds:g}",
        "--parallel", f"{ask.streams}", *ask.options,
    )  # fmt: skip
    return (
        Process(command=Command(words=listen, env=ask.env), host=server, serves=True),
        Process(command=Command(words=words, env=ask.env), host=client, answers=True),
    )


def _nccl_tests(ask: Ask) -> tuple[Process, ...]:
    if not ask.gang and len(ask.places) > 1:
        raise SpecError(
            "nccl-tests over several hosts are one MPI job; use --launcher mpirun or srun"
        )
    gpus = "1" if ask.gang else f"{ask.ranks_per_host}"
    words = (
        _NCCL_PROGRAMS[ask.operation],
        "-b", f"{ask.smallest_bytes}", "-e", f"{ask.largest_bytes}",
        "-f", f"{ask.factor:g}", "-n", f"{ask.iterations or ITERATIONS}",
        "-w", f"{WARMUP if ask.warmup is None else ask.warmup}",
        "-g", gpus, *ask.options,
    )  # fmt: skip
    env = dict(ask.env)
    if ask.interface:
        env.setdefault("NCCL_SOCKET_IFNAME", ask.interface)
    env.setdefault("NCCL_DEBUG", "VERSION")
    return (Process(command=Command(words=words, env=env), gang=ask.gang, answers=True),)


def _perftest(ask: Ask) -> tuple[Process, ...]:
    """Measure one size or all from 2 bytes to 8 MiB; of these the ones asked for are kept."""
    server, client = _pair(ask, "perftest")
    sweep = () if ask.largest_bytes == ask.smallest_bytes else ("-a",)
    size = () if sweep else ("-s", f"{ask.largest_bytes}")
    rate = ("--report_gbits",) if ask.operation.endswith("_bw") else ()
    queues = ("-q", f"{ask.streams}") if ask.streams > 1 else ()
    many = ("-n", f"{ask.iterations}") if ask.iterations else ()
    words = (f"ib_{ask.operation}", *sweep, *size, *many, *rate, *queues, "-F", *ask.options)
    return (
        Process(command=Command(words=words, env=ask.env), host=server, serves=True),
        Process(command=Command(words=(*words, ask.first), env=ask.env), host=client,
                answers=True),
    )  # fmt: skip


def _perftest_version(ask: Ask) -> Command:
    return Command(words=(f"ib_{ask.operation}", "--version"))


@cache
def _worker() -> str:
    return (files("weft.bench") / "torch_worker.py").read_text("utf-8")


def _torch_distributed(ask: Ask) -> tuple[Process, ...]:
    """Start the collectives that a training job calls; every iteration is timed alone.

    The worker is a small program that is handed to Python as text, so that nothing but PyTorch
    need be installed where it runs.
    """
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


TOOLS: Final[Mapping[str, Tool]] = {
    "iperf3": Tool(  # what TCP carries between two hosts, second by second
        title="iperf3", program="iperf3", processes=_iperf3,
        operations=frozenset({"tcp"}), takes=frozenset({"master", "seconds", "streams"}),
    ),
    "nccl_tests": Tool(  # rccl-tests as well
        title="nccl-tests", program="all_reduce_perf", processes=_nccl_tests,
        operations=frozenset(_NCCL_PROGRAMS), takes=_SWEEP | _RANKS,
    ),
    "perftest": Tool(
        title="perftest", program="ib_write_bw", processes=_perftest,
        version=_perftest_version, takes=_SWEEP | {"streams", "master"},
        operations=frozenset({
            "write_bw", "read_bw", "send_bw", "write_lat", "read_lat", "send_lat",
        }),
    ),
    "torch_distributed": Tool(
        title="torch.distributed", program="python3", processes=_torch_distributed,
        operations=frozenset({
            "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "sendrecv",
        }),
        takes=_SWEEP | _RANKS | {"backend", "master", "python"},
    ),
}  # fmt: skip

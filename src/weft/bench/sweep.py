"""A measured sweep: what ran, where, and the time of every size with its noise."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from weft.bench import noise
from weft.calibrate.reader import bus_over_algorithm, by_operation, ranks_of
from weft.engines.analytic.point_to_point import Verb
from weft.errors import SpecError
from weft.inventory.inventory import Inventory
from weft.readers.benchmarks import Measured, measured
from weft.readers.read import read
from weft.traffic.collective import Operation, operation_in

What = Literal["collective", "bandwidth", "latency"]
_OSU: Final = "OSU"
_MOST_RANKS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTest:
    """One table of several: of messages between two NICs, or of one collective."""

    what: What
    operation: Operation | None = None
    """The collective, where the tables are of collectives."""
    verb: Verb | Literal["tcp"] = "write"
    queue_pairs: int = 1
    """Of TCP its connections."""
    adapter: str = ""

    @property
    def label(self) -> str:
        """Name it among other tables: ``write bandwidth, 8 queue pairs, mlx5_0``."""
        if self.operation is not None:
            return self.operation.value
        many = "streams" if self.verb == "tcp" else "queue pairs"
        pairs = f"{self.queue_pairs} {many}" if self.queue_pairs > 1 else ""
        return ", ".join(filter(None, (f"{self.verb} {self.what}", pairs, self.adapter)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """One size that was measured."""

    size_bytes: float
    time_s: float
    noise_ratio: float
    """Relative spread of ``time_s`` from one measurement to the next."""
    own_noise: bool = False
    """Whether the run itself shows that spread; else it is that of published sweeps."""
    wrong: int = 0
    """Results that were wrong, as the benchmark checked them."""
    test: MessageTest | None = None
    """The table it stood in, where there are several; none: what the sweep says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One run of one benchmark, as far as its output says."""

    benchmark: str
    what: What
    operation: Operation
    """Of several collectives the first."""
    timings: tuple[Timing, ...]
    """From the smallest size to the largest, table by table where there are several."""
    ranks: int | None = None
    hosts: tuple[str, ...] = ()
    host_count: int | None = None
    gpu_name: str = ""
    verb: Verb | Literal["tcp"] = "write"
    queue_pairs: int = 1
    by_mpi: bool = False
    """Whether MPI carried it: its own algorithms and costs, not NCCL's or the adapter's."""
    link_layer: str = ""
    """Of messages: infiniband or ethernet, where the benchmark says it of the link."""
    sources: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """Name the tables of messages that it holds."""
        return tuple(dict.fromkeys(timing.test.label for timing in self.timings if timing.test))


def read_sweep(paths: Sequence[Path]) -> tuple[Sweep, Inventory]:
    """Read the sweep that some outputs hold, and everything else that they say."""
    seen = read(*paths)
    return sweep_of(seen, tuple(map(str, paths))), seen


def sweep_of(seen: Inventory, sources: tuple[str, ...] = ()) -> Sweep:
    """Return the sweep in what was observed."""
    rows = [item for item in measured(seen) if item.size_bytes > 0]
    collectives = [row for row in rows if row.what == "collective"]
    messages = [row for row in rows if row.what != "collective" and not _is_round_trip(row)]
    if collectives:
        return _collective(seen, collectives, len(messages), sources)
    if messages:
        return _messages(messages, sources)
    raise SpecError(
        f"{', '.join(sources) or 'this'}: holds no row of nccl-tests, rccl-tests, perftest, "
        "iperf3 or OSU benchmarks; was it cut short?"
    )


def _is_round_trip(one: Measured) -> bool:
    """Return whether it is what TCP saw beside a bandwidth: no test of its own."""
    return one.operation == "tcp" and one.what == "latency"


def _collective(
    seen: Inventory, rows: Sequence[Measured], messages: int, sources: tuple[str, ...]
) -> Sweep:
    found = [
        {name: told[-1].value for name, told in found.items()} for _, found in seen.of("rank")
    ]
    hosts = tuple(dict.fromkeys(str(row["host"]) for row in found if row.get("host")))
    names = (str(row["gpu_model"]) for row in found if row.get("gpu_model"))
    size, host_count = _communicator(seen)
    ranks = ranks_of(seen, rows) or size
    operation, tables, told = by_operation(rows, ranks, sources)
    ranks, remark = _from_factor(tables[operation], operation, ranks)
    several = len(tables) > 1
    return Sweep(
        benchmark=_benchmark(seen, rows), what="collective", operation=operation,
        timings=tuple(
            replace(
                timing,
                test=MessageTest(what="collective", operation=kind) if several else None,
            )
            for kind, table in tables.items()
            for timing in _timings(table)
        ),
        ranks=ranks, hosts=hosts,
        host_count=max((row.hosts for row in rows if row.hosts), default=host_count)
        or len(hosts) or None,
        gpu_name=next(names, ""), sources=sources,
        remarks=(*told, *remark, *_wrong_values(seen), *_left_out(messages)),
    )  # fmt: skip


def _communicator(seen: Inventory) -> tuple[int | None, int | None]:
    """Return the ranks and hosts of the largest communicator that a log of NCCL tells."""
    sizes = [
        (int(ranks), int(hosts))
        for entity, _ in seen.of("process")
        if isinstance(ranks := seen.value(entity, "ranks"), float)
        and isinstance(hosts := seen.value(entity, "nodes"), float)
    ]
    return max(sizes, default=(None, None))


def _benchmark(seen: Inventory, rows: Sequence[Measured]) -> str:
    said = [seen.value(job, "benchmark") for job, _ in seen.of("job")]
    return next((str(text) for text in said if text), rows[0].benchmark)


def _from_factor(
    rows: Sequence[Measured], operation: Operation, ranks: int | None
) -> tuple[int | None, tuple[str, ...]]:
    """Return the ranks, from busbw over algbw where no line lists them."""
    factor = bus_over_algorithm(rows)
    if ranks is not None or factor is None:
        return ranks, ()
    for count in range(2, _MOST_RANKS):
        if abs(operation.bus_factor(count) - factor) < 1e-3 * factor:
            return count, (f"busbw over algbw is {factor:.4g}, so {count} ranks",)
    return None, ()


def _timings(rows: Iterable[Measured]) -> Iterable[Timing]:
    """Yield one timing a size: the mean of all runs in it, out of place where there is one."""
    by_size: dict[float, list[Measured]] = {}
    for row in rows:
        by_size.setdefault(row.size_bytes, []).append(row)
    for size_bytes in sorted(by_size):
        found = by_size[size_bytes]
        chosen = [item for item in found if not item.in_place] or found
        times = [t for item in chosen for t in item.times_s]
        own = noise.measured(times) or noise.measured([item.time_s for item in chosen])
        repeats = len(chosen)
        mean_s = math.exp(sum(math.log(item.time_s) for item in chosen) / repeats)
        known = max(noise.published(size_bytes), _gap(found)) / math.sqrt(repeats)
        yield Timing(
            size_bytes=size_bytes, time_s=mean_s, noise_ratio=known if own is None else own,
            own_noise=own is not None, wrong=sum(item.wrong for item in found),
        )  # fmt: skip


def _gap(found: Sequence[Measured]) -> float:
    """Return the spread that the two timings of a size show: in place and out of place.

    >>> _gap([])
    0.0
    """
    sides: dict[bool, float] = {item.in_place: item.time_s for item in found}
    if len(sides) < 2:  # noqa: PLR2004 - there are two sides
        return 0.0
    return abs(math.log(sides[True] / sides[False])) / math.sqrt(2)


def _wrong_values(seen: Inventory) -> Iterator[str]:
    if any(True for _ in seen.coded("nccl_tests.wrong_values")):
        yield "the benchmark says that results were wrong"


def _left_out(count: int) -> Iterator[str]:
    """Say which rows stand beside collectives and are not judged with them."""
    if count:
        rows = "row" if count == 1 else "rows"
        yield f"{count} {rows} between two NICs not judged: give that file alone"


def _messages(rows: Sequence[Measured], sources: tuple[str, ...]) -> Sweep:
    timings = [_message(row, _test(row)) for row in rows]
    first = rows[0]
    if first.benchmark == _OSU and operation_in(first.operation) is not None:
        return _osu_collective(first.operation, timings, sources)
    test = _test(first)
    return Sweep(
        benchmark=_title(first), what=test.what,
        operation=Operation.SEND_RECV, timings=tuple(_table_by_table(timings)), ranks=2,
        host_count=2, verb=test.verb, queue_pairs=test.queue_pairs, sources=sources,
        by_mpi=_title(first) == _OSU,
        link_layer=next((row.link_layer for row in rows if row.link_layer), ""),
    )  # fmt: skip


def _title(row: Measured) -> str:
    """Name the benchmark: OSU has tests of MPI, and of collective libraries of GPUs."""
    by_library = row.benchmark == _OSU and "ccl" in row.operation.lower()
    return f"{_OSU} over NCCL" if by_library else row.benchmark or "perftest"


def _test(row: Measured) -> MessageTest:
    """Return the table of a row."""
    what: What = "bandwidth" if row.what == "bandwidth" else "latency"
    if row.operation == "tcp":
        return MessageTest(what=what, verb="tcp", queue_pairs=row.streams or 1)
    return MessageTest(
        what=what, verb=_verb(row.operation or row.file), queue_pairs=row.queue_pairs,
        adapter=row.adapter,
    )  # fmt: skip


def _table_by_table(timings: Sequence[Timing]) -> list[Timing]:
    """Sort by size within each table, the tables as they came."""
    order = {
        test: at for at, test in enumerate(dict.fromkeys(timing.test for timing in timings))
    }
    return sorted(timings, key=lambda timing: (order[timing.test], timing.size_bytes))


def _osu_collective(name: str, timings: Sequence[Timing], sources: tuple[str, ...]) -> Sweep:
    kind, by_mpi = operation_in(name), "ccl" not in name.lower()
    assert kind is not None
    return Sweep(
        benchmark=_OSU if by_mpi else f"{_OSU} over NCCL", what="collective", operation=kind,
        timings=tuple(
            replace(timing, test=None)
            for timing in sorted(timings, key=lambda timing: timing.size_bytes)
        ),
        sources=sources, by_mpi=by_mpi,
        remarks=("OSU prints no ranks: every GPU of the cluster is taken",),
    )  # fmt: skip


def _verb(name: str) -> Verb:
    lowered = name.lower()
    if "read" in lowered:
        return "read"
    return "write" if "write" in lowered else "send"


def _message(one: Measured, test: MessageTest) -> Timing:
    is_rate = one.what == "bandwidth"
    time_s = one.size_bytes / one.rate_bytes_per_s if is_rate else one.time_s
    own = None
    if one.deviation_s and one.iterations:
        own = one.deviation_s / time_s / math.sqrt(one.iterations)
    return Timing(
        size_bytes=one.size_bytes, time_s=time_s, own_noise=own is not None, test=test,
        noise_ratio=noise.published(one.size_bytes) if own is None else own,
    )  # fmt: skip

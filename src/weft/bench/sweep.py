"""A measured sweep: what ran, where, and the time of every size with its noise."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from weft.bench import noise
from weft.calibrate.readers.nccl_tests import operation_in
from weft.engines.analytic.point_to_point import Verb
from weft.errors import SpecError
from weft.observe.facts.base import LinkLayer
from weft.observe.facts.benchmarks import (
    BenchmarkRank,
    BenchmarkRun,
    BenchmarkSummary,
    MeasuredCollective,
    MeasuredLatency,
    MeasuredTransfer,
    TransferSetup,
)
from weft.observe.facts.communicators import CommunicatorShape
from weft.observe.reading import Observation, observe
from weft.traffic.collective import Operation

What = Literal["collective", "bandwidth", "latency"]
_NAMES: Final = {
    "all_to_all": Operation.ALL_TO_ALL, "send_receive": Operation.SEND_RECV,
    "allreduce": Operation.ALL_REDUCE, "allgather": Operation.ALL_GATHER,
    "reducescatter": Operation.REDUCE_SCATTER, "reduce_scatter": Operation.REDUCE_SCATTER,
} | {kind.value: kind for kind in Operation}  # fmt: skip
_TOLERANCE: Final = 0.03
_MOST_RANKS: Final = 100_000
_TRUSTED_BUSBW: Final = 1e9
"""Below, the two decimals that nccl-tests prints say nothing about the factor."""


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
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    """Of messages: what the benchmark says of the link."""
    sources: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """Name the tables of messages that it holds."""
        return tuple(dict.fromkeys(one.test.label for one in self.timings if one.test))


def read_sweep(paths: Sequence[Path]) -> tuple[Sweep, Observation]:
    """Read the sweep that some outputs hold, and everything else that they say."""
    seen = observe(*paths)
    return sweep_of(seen, tuple(map(str, paths))), seen


def sweep_of(seen: Observation, sources: tuple[str, ...] = ()) -> Sweep:
    """Return the sweep in what was observed."""
    collectives = [one for one in seen.of(MeasuredCollective) if _sound(one)]
    if collectives:
        return _collective(seen, collectives, sources)
    transfers, latencies = seen.of(MeasuredTransfer), seen.of(MeasuredLatency)
    if transfers or latencies:
        return _messages(seen, transfers, latencies, sources)
    raise SpecError(
        f"{', '.join(sources) or 'this'}: holds no row of nccl-tests, rccl-tests, perftest, "
        "iperf3 or OSU benchmarks; was it cut short?"
    )


def _sound(one: MeasuredCollective) -> bool:
    return one.size_bytes > 0 and one.time_s > 0


def _collective(
    seen: Observation, rows: Sequence[MeasuredCollective], sources: tuple[str, ...]
) -> Sweep:
    ranks_seen = seen.of(BenchmarkRank)
    hosts = tuple(dict.fromkeys(one.host for one in ranks_seen if one.host))
    shapes = [one for one in seen.of(CommunicatorShape) if one.ranks and one.hosts]
    shape = max(shapes, key=lambda one: one.ranks or 0, default=None)
    ranks = _ranks(rows, ranks_seen, shape)
    operation, tables, told = _tables(rows, ranks, sources)
    ranks, remark = _from_factor(tables[operation], operation, ranks)
    runs = seen.of(BenchmarkRun)
    several = len(tables) > 1
    return Sweep(
        benchmark=runs[0].benchmark if runs else "nccl-tests",
        what="collective", operation=operation,
        timings=tuple(
            replace(
                one,
                test=MessageTest(what="collective", operation=kind) if several else None,
            )
            for kind, table in tables.items()
            for one in _timings(table)
        ),
        ranks=ranks, hosts=hosts,
        host_count=(shape.hosts if shape else None) or len(hosts) or None,
        gpu_name=next((one.gpu_name for one in ranks_seen if one.gpu_name), ""),
        sources=sources, remarks=(*told, *remark, *_summaries(seen), *_left_out(seen)),
    )  # fmt: skip


def _ranks(
    rows: Sequence[MeasuredCollective],
    seen: Sequence[BenchmarkRank],
    shape: CommunicatorShape | None,
) -> int | None:
    counts = [one.rank + 1 for one in seen]
    counts += [one.ranks for one in rows if one.ranks]
    if not counts and shape is not None and shape.ranks:
        counts.append(shape.ranks)
    return max(counts, default=None)


def _named(one: MeasuredCollective) -> Operation | None:
    return _NAMES.get(re.sub(r"\W+", "_", one.operation.split(" ")[0].lower()))


def _tables(
    rows: Sequence[MeasuredCollective], ranks: int | None, sources: tuple[str, ...]
) -> tuple[Operation, dict[Operation, list[MeasuredCollective]], tuple[str, ...]]:
    """Return the first operation, the rows of each, and how it is known what was run."""
    tables: dict[Operation, list[MeasuredCollective]] = {}
    for one in rows:
        kind = _named(one) or operation_in(Path(one.evidence.file).name)
        if kind is not None:
            tables.setdefault(kind, []).append(one)
    if not tables:
        kind, told = _guessed(rows, ranks, sources)
        return kind, {kind: list(rows)}, told
    return next(iter(tables)), tables, ()


def _guessed(
    rows: Sequence[MeasuredCollective], ranks: int | None, sources: tuple[str, ...]
) -> tuple[Operation, tuple[str, ...]]:
    """Return what was run where no row names it: a file does, or busbw over algbw tells."""
    for source in sources:
        if (kind := operation_in(Path(source).name)) is not None:
            return kind, ()
    factor = _factor(rows)
    reduces = any(one.reduction in ("sum", "avg", "max", "min", "prod") for one in rows)
    if ranks and ranks > 2 and factor:  # noqa: PLR2004 - 2 (n-1)/n is 1 for two ranks
        for kind in (Operation.ALL_REDUCE, Operation.REDUCE_SCATTER):
            if reduces and abs(kind.bus_factor(ranks) / factor - 1) < _TOLERANCE:
                return kind, ("the operation is told by busbw over algbw",)
    raise SpecError(
        "the operation is not named in the output; put it into the file's name, as "
        "all_reduce.txt"
    )


def _factor(rows: Sequence[MeasuredCollective]) -> float | None:
    ratios = sorted(
        one.busbw_bytes_per_s / one.algbw_bytes_per_s
        for one in rows
        if one.busbw_bytes_per_s
        and one.algbw_bytes_per_s
        and one.algbw_bytes_per_s > _TRUSTED_BUSBW
    )
    return ratios[len(ratios) // 2] if ratios else None


def _from_factor(
    rows: Sequence[MeasuredCollective], operation: Operation, ranks: int | None
) -> tuple[int | None, tuple[str, ...]]:
    """Return the ranks, from busbw over algbw where no line lists them."""
    factor = _factor(rows)
    if ranks is not None or factor is None:
        return ranks, ()
    for count in range(2, _MOST_RANKS):
        if abs(operation.bus_factor(count) - factor) < 1e-3 * factor:
            return count, (f"busbw over algbw is {factor:.4g}, so {count} ranks",)
    return None, ()


def _timings(rows: Iterable[MeasuredCollective]) -> Iterable[Timing]:
    """Yield one timing a size: the mean of all runs in it, out of place where there is one."""
    by_size: dict[int, list[MeasuredCollective]] = {}
    for one in rows:
        by_size.setdefault(one.size_bytes, []).append(one)
    for size_bytes in sorted(by_size):
        found = by_size[size_bytes]
        chosen = [one for one in found if not one.in_place] or found
        times = [t for one in chosen for t in (one.times_s or ())]
        own = noise.measured(times) or noise.measured([one.time_s for one in chosen])
        repeats = len(chosen)
        mean_s = math.exp(sum(math.log(one.time_s) for one in chosen) / repeats)
        known = max(noise.published(size_bytes), _gap(found)) / math.sqrt(repeats)
        yield Timing(
            size_bytes=size_bytes, time_s=mean_s, noise_ratio=known if own is None else own,
            own_noise=own is not None, wrong=sum(one.wrong or 0 for one in found),
        )  # fmt: skip


def _gap(found: Sequence[MeasuredCollective]) -> float:
    """Return the spread that the two timings of a size show: in place and out of place.

    >>> _gap([])
    0.0
    """
    sides: dict[bool, float] = {one.in_place: one.time_s for one in found}
    if len(sides) < 2:  # noqa: PLR2004 - there are two sides
        return 0.0
    return abs(math.log(sides[True] / sides[False])) / math.sqrt(2)


def _summaries(seen: Observation) -> tuple[str, ...]:
    wrong = [one for one in seen.of(BenchmarkSummary) if one.ok is False]
    return ("the benchmark says that results were wrong",) if wrong else ()


def _messages(
    seen: Observation,
    transfers: Sequence[MeasuredTransfer],
    latencies: Sequence[MeasuredLatency],
    sources: tuple[str, ...],
) -> Sweep:
    rows: Sequence[MeasuredTransfer | MeasuredLatency] = (*transfers, *latencies)
    setups = seen.of(TransferSetup)
    timings = [_message(one, _test(one, setups)) for one in rows if one.size_bytes > 0]
    if not timings:
        raise SpecError(f"{', '.join(sources)}: no row of a size above zero")
    name = rows[0].operation
    osu, mpi = rows[0].benchmark.startswith("OSU"), rows[0].benchmark == "OSU"
    if osu and any(word in name for word in ("reduce", "gather", "alltoall", "bcast")):
        return _osu_collective(name, timings, sources, by_mpi=mpi)
    first = _test(rows[0], setups)
    layers = [one.link_layer for one in setups if one.link_layer is not LinkLayer.UNKNOWN]
    return Sweep(
        benchmark=rows[0].benchmark or "perftest", what=first.what,
        operation=Operation.SEND_RECV, timings=tuple(_table_by_table(timings)), ranks=2,
        host_count=2, verb=first.verb, queue_pairs=first.queue_pairs, sources=sources,
        by_mpi=mpi, link_layer=layers[0] if layers else LinkLayer.UNKNOWN,
    )  # fmt: skip


def _test(
    row: MeasuredTransfer | MeasuredLatency, setups: Sequence[TransferSetup]
) -> MessageTest:
    """Return the table of a row: the last that was set up above it in its file."""
    where = row.evidence
    above = [one for one in setups if one.evidence.file == where.file]
    above = [one for one in above if one.evidence.place <= where.place]
    setup = max(above, key=lambda one: one.evidence.place, default=None)
    if isinstance(row, MeasuredTransfer) and row.operation == "tcp":
        return MessageTest(what="bandwidth", verb="tcp", queue_pairs=row.streams or 1)
    return MessageTest(
        what="bandwidth" if isinstance(row, MeasuredTransfer) else "latency",
        verb=_verb(row.operation), queue_pairs=(setup.queue_pairs if setup else None) or 1,
        adapter=setup.adapter if setup else "",
    )  # fmt: skip


def _table_by_table(timings: Sequence[Timing]) -> list[Timing]:
    """Sort by size within each table, the tables as they came."""
    order = {test: at for at, test in enumerate(dict.fromkeys(one.test for one in timings))}
    return sorted(timings, key=lambda one: (order[one.test], one.size_bytes))


def _left_out(seen: Observation) -> tuple[str, ...]:
    """Say which rows stand beside collectives and are not judged with them."""
    count = len(seen.of(MeasuredTransfer)) + len(seen.of(MeasuredLatency))
    rows = "row" if count == 1 else "rows"
    return (f"{count} {rows} between two NICs not judged: give that file alone",) * bool(count)


def _osu_collective(
    name: str, timings: Sequence[Timing], sources: tuple[str, ...], *, by_mpi: bool
) -> Sweep:
    kind = _NAMES.get(name.split(" ", maxsplit=1)[0])
    if kind is None:
        raise SpecError(f"OSU {name}: not a collective that weft models")
    return Sweep(
        benchmark="OSU" if by_mpi else "OSU over NCCL", what="collective", operation=kind,
        timings=tuple(
            replace(one, test=None)
            for one in sorted(timings, key=lambda one: one.size_bytes)
        ),
        sources=sources, by_mpi=by_mpi,
        remarks=("OSU prints no ranks: every GPU of the cluster is taken",),
    )  # fmt: skip


def _verb(name: str) -> Verb:
    lowered = name.lower()
    if "read" in lowered:
        return "read"
    return "write" if "write" in lowered else "send"


def _message(one: MeasuredTransfer | MeasuredLatency, test: MessageTest) -> Timing:
    if isinstance(one, MeasuredTransfer):
        time_s, own = one.size_bytes / max(one.average_bytes_per_s, 1e-9), None
    else:
        time_s = one.typical_s or one.average_s
        spread = one.deviation_s
        many = one.iterations or 0
        own = spread / time_s / math.sqrt(many) if spread and many else None
    return Timing(
        size_bytes=one.size_bytes, time_s=time_s, own_noise=own is not None, test=test,
        noise_ratio=noise.published(one.size_bytes) if own is None else own,
    )  # fmt: skip

"""One cluster, one collective: the curve that nccl-tests should show."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from weft.engines.analytic import collective as engine
from weft.engines.analytic.collective.settle import Answer, answers
from weft.engines.engine import CollectiveTime
from weft.errors import SpecError
from weft.predict.provenance import provenance
from weft.predict.watching import Report
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.traffic.collective import Operation

SMALLEST_BYTES = 8
LARGEST_BYTES = 8 << 30
FLOAT_BYTES = 4
"""nccl-tests measures in 32-bit floats unless told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One size that was measured, beside what is expected of it."""

    size_bytes: float
    time_s: float
    busbw_bytes_per_s: float
    inside: bool
    """Whether the time lies inside the 80 % band."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What nccl-tests should show for one operation on a cluster, size by size."""

    cluster: Cluster
    operation: Operation
    ranks: int
    ranks_per_domain: int
    """Ranks of one scale-up domain: GPUs of a host, or of an NVL72 rack."""
    points: tuple[CollectiveTime, ...]
    """From the smallest size to the largest."""
    mean_busbw_bytes_per_s: float
    """Mean over the sizes, as nccl-tests' last line has it."""
    peak_busbw_bytes_per_s: Estimate
    """Best of the curve, with its band."""
    domain: str = ""
    """``within the measured domain``, or what of it lies beyond any measurement."""
    answers: tuple[Answer, ...] = ()
    """Keys that the specification leaves open and that would narrow the band of the peak."""
    measured: tuple[Measured, ...] = ()
    """A run of the same operation on the same ranks, where one was given."""
    provenance: Provenance


def expect(
    cluster: Cluster,
    operation: Operation | str = Operation.ALL_REDUCE,
    *,
    smallest_bytes: int = SMALLEST_BYTES,
    largest_bytes: int = LARGEST_BYTES,
    factor: float = 2.0,
    ranks: int | None = None,
    ranks_per_domain: int | None = None,
    fidelity: str = "analytic",
    report: Report | None = None,
) -> Expectation:
    """Expect the curve of one collective, at sizes a constant factor apart.

    ``ranks`` is every GPU of the cluster and ``ranks_per_domain`` every GPU of a host unless
    they are given. With the fidelity ``flow`` (the whole network) or ``packet`` (a part of it
    where it is large) what the network leaves of the NICs' rate is simulated, not taken from
    its source; ``report`` is told how far that is.
    """
    sweep, made = _engine(fidelity, report)
    kind = _operation(operation)
    per_domain = ranks_per_domain or min(cluster.gpus_per_domain, ranks or cluster.gpus)
    count = ranks or per_domain * (cluster.gpus // cluster.gpus_per_domain)
    _check(cluster, count, per_domain)
    sizes = list(sizes_between(smallest_bytes, largest_bytes, factor))
    points = tuple(sweep(cluster, kind, sizes, count, per_domain))
    best = max(points, key=lambda point: point.busbw_bytes_per_s)
    assumptions = tuple(dict.fromkeys(a for point in points for a in point.assumptions))
    return Expectation(
        cluster=cluster,
        operation=kind,
        ranks=count,
        ranks_per_domain=per_domain,
        points=points,
        mean_busbw_bytes_per_s=sum(p.busbw_bytes_per_s for p in points) / len(points),
        peak_busbw_bytes_per_s=busbw(best),
        domain=best.domain,
        answers=answers(cluster, kind, best.size_bytes, best.group),
        provenance=made(provenance(cluster, sources=(), assumptions=assumptions)),
    )


Sweep = Callable[[Cluster, Operation, Sequence[float], int, int], list[CollectiveTime]]


def _engine(
    fidelity: str, report: Report | None
) -> tuple[Sweep, Callable[[Provenance], Provenance]]:
    """Return what predicts a curve, and how its provenance says so."""
    if fidelity == "analytic":
        return engine.sweep, lambda made: made
    from weft.predict import probing  # noqa: PLC0415 - it compiles kernels

    simulator = probing.engine_of(fidelity)

    def made(plain: Provenance) -> Provenance:
        models = plain.models | simulator.models
        return replace(plain, engine=simulator.name, models=models, seed=probing.SEEDS[0])

    return partial(probing.sweep, engine=simulator, report=report), made


def beside(
    expected: Expectation, times_s: Mapping[float, float], *, fidelity: str = "analytic"
) -> Expectation:
    """Put measured times by size beside an expectation, each judged by the band at its size."""
    ranks, per_domain = expected.ranks, expected.ranks_per_domain
    sizes = sorted(times_s)
    sweep = _engine(fidelity, None)[0]
    points = sweep(expected.cluster, expected.operation, sizes, ranks, per_domain)
    factor = expected.operation.bus_factor(ranks)
    measured = tuple(
        Measured(
            size_bytes=size_bytes,
            time_s=times_s[size_bytes],
            busbw_bytes_per_s=size_bytes / times_s[size_bytes] * factor,
            inside=point.time_s.low <= times_s[size_bytes] <= point.time_s.high,
        )
        for size_bytes, point in zip(sizes, points, strict=True)
    )
    return replace(expected, measured=measured)


def busbw(point: CollectiveTime) -> Estimate:
    """Return the bus bandwidth of one point with its band, in bytes per second."""
    factor = point.operation.bus_factor(point.group.ranks)
    return point.time_s.map(lambda time_s: point.size_bytes / time_s * factor)


def sizes_between(smallest_bytes: int, largest_bytes: int, factor: float) -> Iterator[int]:
    """Yield sizes as ``-b``, ``-e`` and ``-f`` of nccl-tests do.

    >>> list(sizes_between(8, 64, 2))
    [8, 16, 32, 64]
    """
    if not 0 < smallest_bytes <= largest_bytes:
        raise SpecError(
            f"sizes from {smallest_bytes} B to {largest_bytes} B: the first must be above 0 "
            "and not above the last"
        )
    if factor <= 1:
        raise SpecError(f"a size factor of {factor:g} never ends; write one above 1, as 2")
    size = float(smallest_bytes)
    while size <= largest_bytes:
        yield round(size)
        size = max(size * factor, size + 1)


def _operation(name: Operation | str) -> Operation:
    try:
        return Operation(name)
    except ValueError:
        known = ", ".join(operation.value for operation in Operation)
        raise SpecError(f"no operation is called {name!r}; there are: {known}") from None


def _check(cluster: Cluster, ranks: int, ranks_per_domain: int) -> None:
    if ranks < 2:  # noqa: PLR2004 - a collective of one rank moves nothing
        raise SpecError(f"a collective of {ranks} rank moves nothing; give 2 ranks or more")
    if not 1 <= ranks_per_domain <= cluster.gpus_per_domain:
        raise SpecError(
            f"{ranks_per_domain} ranks per host: a host has {cluster.gpus_per_domain} GPUs"
        )
    hosts = -(-ranks // ranks_per_domain)
    if hosts > cluster.hosts:
        raise SpecError(
            f"{ranks} ranks at {ranks_per_domain} a host need {hosts} hosts; the cluster has "
            f"{cluster.hosts}"
        )

"""Results made by hand, with numbers that are easy to check."""

import pytest

from weft.engines.engine import CollectiveTime
from weft.predict.collective import Expectation, busbw
from weft.results import Effect, Estimate, Provenance
from weft.spec.load import preset
from weft.traffic.collective import Group, Operation


def a_point(size_bytes: int, operation: Operation = Operation.ALL_REDUCE) -> CollectiveTime:
    """20 us and 200 GB/s of algorithm bandwidth over 32 ranks."""
    time_s = 20e-6 + size_bytes / 200e9
    return CollectiveTime(
        operation=operation,
        group=Group(ranks=32, ranks_per_domain=8),
        size_bytes=size_bytes,
        time_s=Estimate(time_s, time_s * 0.9, time_s * 1.25),
        algorithm="tree" if size_bytes < 2**20 else "ring",
        protocol="LL" if size_bytes < 2**16 else "Simple",
        channels=16,
        limit="latency" if size_bytes < 2**20 else "NIC",
        reasons=("8 NICs of 400 Gb/s bound the ring",),
        assumptions=("flows spread evenly",),
    )


def a_provenance() -> Provenance:
    return Provenance(
        weft="1.2.3",
        engine="analytic",
        models=frozenset({Effect.LATENCY, Effect.SERIALISATION}),
        spec_sha256="a" * 64,
        catalogue_sha256="b" * 64,
        assumptions=("flows spread evenly",),
    )


def an_expectation(operation: Operation = Operation.ALL_REDUCE) -> Expectation:
    points = tuple(a_point(2**power, operation) for power in range(3, 34))
    return Expectation(
        cluster=preset("dgx_h100", hosts=4),
        operation=operation,
        ranks=32,
        ranks_per_domain=8,
        points=points,
        mean_busbw_bytes_per_s=sum(p.busbw_bytes_per_s for p in points) / len(points),
        peak_busbw_bytes_per_s=busbw(points[-1]),
        provenance=a_provenance(),
    )


@pytest.fixture
def expectation() -> Expectation:
    return an_expectation()

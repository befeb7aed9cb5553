"""Sweeps made from a model's own curve, with a fault and noise laid over it."""

import math
import random

import pytest

from weft.bench.expected import Setting, expected, group_of
from weft.bench.sweep import Sweep, Timing
from weft.spec.load import preset
from weft.traffic.collective import Operation

SIZES = tuple(2**power for power in range(10, 34, 2))


@pytest.fixture
def cluster():
    return preset("dgx_h100", hosts=4)


@pytest.fixture
def sweep_on():
    """Make the sweep that a cluster would show, each time multiplied by ``slower(size)``."""

    def make(cluster, slower=lambda _: 1.0, *, noise_ratio=0.005, sizes=SIZES, seed=1):
        draw = random.Random(seed)  # noqa: S311 - noise, not a secret
        flat = Sweep(
            benchmark="nccl-tests",
            what="collective",
            operation=Operation.ALL_REDUCE,
            timings=tuple(
                Timing(size_bytes=size, time_s=1.0, noise_ratio=noise_ratio) for size in sizes
            ),
            ranks=cluster.gpus,
            host_count=cluster.hosts,
        )
        points = expected(Setting(cluster=cluster, sweep=flat, group=group_of(cluster, flat)))
        timings = tuple(
            Timing(
                size_bytes=one.size_bytes,
                time_s=one.time_s.value
                * slower(one.size_bytes)
                * math.exp(draw.gauss(0, noise_ratio)),
                noise_ratio=noise_ratio,
            )
            for one in points
        )
        return Sweep(
            benchmark="nccl-tests", what="collective", operation=Operation.ALL_REDUCE,
            timings=timings, ranks=cluster.gpus, host_count=cluster.hosts,
        )  # fmt: skip

    return make

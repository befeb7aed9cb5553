"""What must hold of any training step."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engines.analytic.step import resolve, step_time
from weft.engines.engine import CollectiveTime
from weft.results import Estimate
from weft.spec import load
from weft.spec.workload import Job, Parallelism

SPREADS = st.builds(
    Parallelism,
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4]),
    sharding=st.sampled_from(["none", "zero1", "zero2", "zero3"]),
    overlap_dp=st.booleans(),
    overlap_tp=st.booleans(),
)


def job(spread, batch=512):
    return Job(
        model=load.model("llama2_13b"),
        sequence_length=4096,
        global_batch=batch,
        parallelism=spread,
    )


def value(cluster, run, **options):
    return step_time(cluster, resolve(cluster, run, fits=False), **options).step_s.value


def instant(_cluster, operation, size_bytes, group):
    return CollectiveTime(
        operation=operation, group=group, size_bytes=size_bytes,
        time_s=Estimate(0.0, 0.0, 0.0), algorithm="ring", protocol="Simple", channels=1,
        limit="nothing",
    )  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(spread=SPREADS)
def test_more_bandwidth_never_takes_longer(spread):
    fast = load.preset("dgx_h100", hosts=8)
    slow = fast.with_(host=fast.host.with_(nic_bytes_per_s=fast.host.nic_bytes_per_s / 2))
    assert value(fast, job(spread)) <= value(slow, job(spread)) * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(spread=SPREADS)
def test_an_infinite_network_is_a_lower_bound(spread):
    cluster = load.preset("dgx_h100", hosts=8)
    run = job(spread)
    assert value(cluster, run, collective=instant) <= value(cluster, run)


@pytest.mark.parametrize("hosts", [2, 16, 128])
def test_weak_scaling_is_flat_on_an_infinite_network(hosts):
    """Only jitter grows: with the logarithm of the hosts."""
    one, many = load.preset("dgx_h100", hosts=1), load.preset("dgx_h100", hosts=hosts)
    spread = Parallelism(sharding="none")
    alone = value(one, job(spread, 8), collective=instant)
    together = value(many, job(spread, 8 * hosts), collective=instant)
    assert alone <= together < alone * 1.06


@settings(max_examples=20, deadline=None)
@given(batch=st.sampled_from([64, 128, 256, 512]), spread=SPREADS)
def test_twice_the_batch_takes_longer_but_no_more_than_twice(batch, spread):
    cluster = load.preset("dgx_h100", hosts=8)
    once, twice = (value(cluster, job(spread, n)) for n in (batch, 2 * batch))
    assert once <= twice * (1 + 1e-9)
    assert twice <= 2 * once * (1 + 1e-9)

"""Goodput against Young's interval and Llama 3's effective training time."""

from math import sqrt

import pytest

from weft.engines.analytic.step import goodput, resolve, step_time
from weft.engines.analytic.step.goodput import best_interval_s, progress_ratio
from weft.spec import load
from weft.spec.cluster import Reliability
from weft.spec.workload import Job, Parallelism


def test_the_interval_is_young_s():
    """sqrt(2 C M), less C [Daly 2006]."""
    assert best_interval_s(10.0, 10000.0) == pytest.approx(sqrt(2 * 10 * 10000) - 10)


def test_the_best_interval_loses_least():
    stops, restart_s, write_s = 1 / 10000, 300.0, 10.0
    best = progress_ratio(stops, restart_s, write_s, None, 1.0)
    for other in (50.0, 200.0, 900.0, 4000.0):
        assert best >= progress_ratio(stops, restart_s, write_s, other, 1.0) - 1e-3


def test_no_stops_lose_nothing():
    assert progress_ratio(0.0, 600.0, 10.0, None, 1.0) == 1.0


@pytest.fixture
def llama():
    cluster = load.preset("dgx_h100", hosts=2048)
    job = Job(
        model=load.model("llama3_405b"),
        sequence_length=8192,
        global_batch=2048,
        parallelism=Parallelism(
            tp=8, pp=16, sharding="zero2", virtual_stages=7,
            schedule="interleaved", uneven_stages=True,
        ),
    )  # fmt: skip
    return cluster, resolve(cluster, job, fits=False)


def test_llama_3_keeps_about_nine_tenths(llama):
    """More than 90 % effective with 419 stops in 54 days [Llama 3, section 3.3.4]."""
    cluster, job = llama
    kept = goodput(cluster, job, step_time(cluster, job))
    assert kept.value == pytest.approx(0.9, abs=0.05)
    assert kept.low < kept.value < kept.high


def test_more_stops_and_longer_restarts_keep_less(llama):
    cluster, job = llama
    step = step_time(cluster, job)
    usual = goodput(cluster, job, step).value
    for worse in ({"stops_per_gpu_day": 0.01}, {"restart_s": 7200.0}):
        changed = cluster.with_(reliability=Reliability().with_(**worse))
        assert goodput(changed, job, step).value < usual

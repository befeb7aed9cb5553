"""Figures stay finite, and more hosts cost a small batch no more than what they exchange."""

import math
import random
from dataclasses import fields, is_dataclass

import pytest

from weft.advise.need import Target, need
from weft.errors import WeftError
from weft.predict.training import predict
from weft.spec import load

MODELS = ("llama3_2_1b", "llama3_8b", "mixtral_8x7b", "qwen3_14b")
LARGEST_GROWTH = 1.5
"""Of the step without its exchange of gradients: deeper pipelines wait more often."""
TARGETS = (1e-300, 1e-9, 0.3, 0.999999, 1.0, 1e9, 1e300)


def _numbers(value):
    if is_dataclass(value):
        value = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _numbers(below)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("metric", ["mfu", "mfu_of_max", "tokens_per_s", "step_s"])
def test_what_a_target_needs_is_finite_or_named_as_out_of_reach(metric, target):
    """With ``ask`` the cheapest network is not searched: the figures of one cluster alone."""
    cluster = load.preset("dgx_h100", hosts=2)
    job = load.load_job({"model": "llama3_2_1b", "global_batch": 64})
    try:
        found = need(cluster, job, Target(metric=metric, value=target), ask=predict)
    except WeftError:
        return
    shown = (found.now, found.wanted, found.most, found.requirements, found.curve, found.knee)
    assert all(map(math.isfinite, _numbers(shown)))
    assert "inf" not in " ".join(one.text for one in found.requirements).replace("infi", "")
    assert found.reached == all(one.met for one in found.requirements)


@pytest.mark.parametrize("seed", range(20))
def test_twice_the_hosts_cost_a_small_batch_no_more_than_what_they_exchange(seed):
    """All GPUs work, so a batch too small for them is cut into deeper pipelines and more
    replicas: T(2n) <= 1.5 T(n) + the exposed exchange of gradients, which one replica has not.
    """
    rng = random.Random(seed)  # noqa: S311 - cases, not secrets
    hosts = rng.choice((2, 4, 8, 16, 32, 64))
    job = {"model": rng.choice(MODELS), "global_batch": rng.choice((4, 8, 16, 32, 64))}
    machine = rng.choice(("dgx_h100", "l40s_tcp_100g"))
    own = {"nic": "", "nic_bytes_per_s": "100Gb/s"}
    steps = []
    for count in (hosts, 2 * hosts):
        cluster = {
            "preset": machine, "hosts": count, "host": own,
            "fabric": {"kind": "ultra_ethernet"},
        }  # fmt: skip
        try:
            steps.append(predict(load.load_cluster(cluster), load.load_job(job)))
        except WeftError:
            return  # it does not fit, or cannot be divided so
    small, large = steps
    exchanged_s = sum(one.exposed_s for one in large.step.traffic if one.dimension == "dp")
    assert large.step_s.value <= LARGEST_GROWTH * small.step_s.value + exchanged_s

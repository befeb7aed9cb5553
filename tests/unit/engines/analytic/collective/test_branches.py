"""What a cluster leaves open of NCCL, and what stating it does."""

import pytest

from weft.engines.analytic.collective import collective_time, constants
from weft.engines.analytic.collective.branches import (
    ALGORITHM_KEY,
    NVLS_KEY,
    TUNER_KEY,
    VERSION_KEY,
    branches,
)
from weft.engines.analytic.collective.spread import fixed
from weft.spec.cluster import Nccl
from weft.traffic.collective import Group, Operation

from .clusters import A100, cluster

CERTAIN = constants.Fitted(constants.shipped().values, fixed())
"""NCCL's choice is taken as certain: branches are what the mixture is made of."""
SIZES = [2**power for power in range(10, 33, 4)]


def group(hosts, per_host=8):
    return Group(ranks=hosts * per_host, ranks_per_domain=per_host)


@pytest.mark.parametrize("hosts", [1, 2, 16, 512])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("operation", [Operation.ALL_REDUCE, Operation.ALL_GATHER])
def test_the_first_branch_is_what_the_model_predicts(hosts, size, operation):
    here = cluster(hosts)
    with constants.using(CERTAIN):
        found = branches(here, operation, size, group(hosts))
        predicted = collective_time(here, operation, size, group(hosts))
    assert (found[0].name, found[0].settle_key) == ("default", "")
    assert found[0].time_s == pytest.approx(predicted.time_s.value)
    assert all(branch.time_s > 0 for branch in found)


@pytest.mark.parametrize("hosts", [1, 2, 16])
@pytest.mark.parametrize("size", SIZES)
def test_setting_a_branch_gives_its_time(hosts, size):
    here = cluster(hosts)
    with constants.using(CERTAIN):
        check_branches(here, hosts, size)


def check_branches(here, hosts, size):
    for branch in branches(here, Operation.ALL_REDUCE, size, group(hosts))[1:]:
        if not branch.settle_key.startswith("nccl.env."):
            continue
        env = {branch.settle_key.removeprefix("nccl.env."): branch.value}
        stated = collective_time(
            cluster(hosts, env=env), Operation.ALL_REDUCE, size, group(hosts)
        )
        assert stated.time_s.value == pytest.approx(branch.time_s)
        assert (stated.algorithm, stated.protocol) == (branch.algorithm, branch.protocol)


def open_keys(here):
    """Return the keys that are open at any size."""
    return {
        branch.settle_key
        for size in (2**power for power in range(10, 34))
        for branch in branches(here, Operation.ALL_REDUCE, size, group(16))
    }


@pytest.mark.parametrize(("key", "value"), [(NVLS_KEY, "1"), (ALGORITHM_KEY, "Ring")])
def test_a_stated_variable_is_not_open(key, value):
    env = {key.removeprefix("nccl.env."): value}
    assert key in open_keys(cluster(16))
    assert key not in open_keys(cluster(16, env=env))


def test_the_release_is_open_until_it_is_stated():
    stated = cluster(16)
    assert VERSION_KEY not in open_keys(stated)
    assert VERSION_KEY in open_keys(stated.with_(nccl=Nccl()))


def test_without_nvlink_switches_nvls_is_not_open():
    found = branches(cluster(16, **A100), Operation.ALL_REDUCE, 2**30, group(16))
    assert NVLS_KEY not in {branch.settle_key for branch in found}


def test_a_plug_in_with_a_tuner_may_choose_the_fastest():
    middle = [branches(cluster(16, fabric="efa"), Operation.ALL_REDUCE, 2**p, group(16))
              for p in range(16, 28)]  # fmt: skip
    tuned = [b for found in middle for b in found if b.settle_key == TUNER_KEY]
    assert tuned
    for found in middle:
        for branch in found:
            if branch.settle_key == TUNER_KEY:
                assert branch.time_s <= found[0].time_s

"""What a prediction says of the factors that stand in for packets."""

import pytest

from weft.predict.training import predict
from weft.spec.load import load_cluster, load_job

JOB = {"model": "llama3_8b", "global_batch": 4096, "parallelism": {"sharding": "zero1"}}


def said(**fabric):
    asked = {"preset": "hgx_h100_roce", "hosts": 512, "fabric": fabric}
    return predict(load_cluster(asked), load_job(JOB)).provenance.assumptions


def test_a_predicted_step_names_the_simulated_and_the_published_factors():
    lines = said(load_balancing="ecmp", tuning="default")
    hashed = [one for one in lines if "ecmp load balancing keeps" in one]
    assert len(hashed) == 1
    assert "simulated 65%" in hashed[0]
    assert "published 85%" in hashed[0]
    assert any("RoCEv2 default: 78%" in one for one in lines)


def test_a_tuned_fabric_has_no_factor_of_tuning():
    assert not any("of its bandwidth remains" in one for one in said(load_balancing="ecmp"))


@pytest.mark.parametrize("hosts", [2, 4])
def test_a_step_that_stays_below_a_leaf_names_no_load_balancing(hosts):
    asked = {"preset": "hgx_h100_roce", "hosts": hosts}
    lines = predict(load_cluster(asked), load_job(JOB)).provenance.assumptions
    assert not any("load balancing keeps" in one for one in lines)

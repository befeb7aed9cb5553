"""Answers of the interview, end to end: they change what compare recommends."""

import pytest

from weft.advise.compare import compare
from weft.advise.serving import compare_service
from weft.spec.interview import QUESTIONS, outcome

BASE = {q.key: q.default for q in QUESTIONS} | {"preset": "dgx_h100", "model": "llama3_8b"}
NAMES = ["infiniband", "roce_tuned", "tcp"]


def _compared(**answers):
    made = outcome({**BASE, **answers})
    return compare(made.cluster, made.job, NAMES)


@pytest.fixture(scope="module")
def free():
    return _compared(roce_skill="expert")


def test_a_budget_of_a_million_rules_out_every_network(free):
    assert free.recommendation.fabric is not None
    poor = _compared(roce_skill="expert", budget="1MUSD")
    assert poor.recommendation.fabric is None
    assert all(any("over budget" in one for one in line.objections) for line in poor.lines)


def test_a_limit_for_the_network_alone_rules_out_what_costs_more(free):
    costs = {line.name: line.network_usd.value for line in free.lines}
    dearest = max(costs, key=lambda name: costs[name])
    others = max(cost for name, cost in costs.items() if name != dearest)
    limited = _compared(roce_skill="expert", limit=f"{(others + costs[dearest]) / 2:.0f}USD")
    over = {line.name for line in limited.lines if line.objections}
    assert over == {dearest}


def test_without_skill_tuned_roce_is_not_recommended(free):
    assert not next(line for line in free.lines if line.name == "roce_tuned").objections
    unskilled = _compared(roce_skill="none")
    assert next(line for line in unskilled.lines if line.name == "roce_tuned").objections
    assert unskilled.recommendation.fabric != "roce_tuned"


def test_several_vendors_rule_out_what_one_supplies():
    several = _compared(roce_skill="expert", vendors="yes")
    assert next(line for line in several.lines if line.name == "infiniband").objections


def test_hardware_that_is_owned_makes_its_network_cost_less(free):
    before = next(line for line in free.lines if line.name == "infiniband")
    switch = before.prediction.cluster.topology.switch
    owned = _compared(roce_skill="expert", owned=f"{switch}=64")
    after = next(line for line in owned.lines if line.name == "infiniband")
    assert after.network_usd.value < before.network_usd.value


def test_an_inference_cluster_is_answered_as_inference():
    made = outcome({**BASE, "work": "inference"})
    found = compare_service(made.cluster, made.job, ["none", *NAMES])
    assert found.fabric == "none"

"""Limits of the owner are keys of the cluster: checked by name, kept by every round trip."""

import pytest
from jsonschema import Draft202012Validator

from weft.errors import SpecError
from weft.spec.load import load_cluster
from weft.spec.schema import schema
from weft.spec.show import document, explained

FULL = {
    "budget_usd": "20MUSD",
    "network_budget_usd": "1MUSD",
    "min_vendors": 2,
    "vendors": ["Arista", "NVIDIA"],
    "skills": {"roce": "none", "infiniband": "expert"},
    "owned": {"switches": {"arista_7060x6_64pe": 4}, "nics": {"connectx7": 64}},
    "later_hosts": 64,
}


def _cluster(**constraints):
    return load_cluster({"preset": "dgx_h100", "hosts": 2, "constraints": constraints})


def test_all_limits_load_and_come_back_the_same():
    cluster = _cluster(**FULL)
    assert cluster.constraints.budget_usd == 20e6
    assert cluster.constraints.owned.switches == {"arista_7060x6_64pe": 4}
    Draft202012Validator(schema("cluster")).validate(document(cluster))
    assert load_cluster(document(cluster)) == cluster
    assert hash(cluster) == hash(load_cluster(document(cluster)))
    assert hash(cluster) != hash(_cluster())


def test_a_fabric_without_a_skill_has_experts():
    limits = _cluster(skills={"roce": "none"}).constraints
    assert (limits.skill("roce"), limits.skill("infiniband")) == ("none", "expert")


def test_a_template_names_every_limit():
    text = explained(_cluster())
    assert all(f"{key}:" in text for key in FULL)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"skills": {"rocee": "none"}}, "did you mean 'roce'"),
        ({"skills": {"roce": "much"}}, "expert, none, some"),
        ({"vendors": ["Aristo"]}, "did you mean 'Arista'"),
        ({"owned": {"switches": {"qm970": 2}}}, "did you mean 'qm9700'"),
        ({"owned": {"nics": {"connectx7": 0}}}, "1 or more"),
        ({"budget_usd": 5}, "has no unit"),
    ],
)
def test_a_wrong_limit_is_told_with_its_place(wrong, told):
    with pytest.raises(SpecError, match=told):
        _cluster(**wrong)

"""Answers make the specs that they ask for; no answer changes nothing."""

import pytest

from weft.errors import SpecError
from weft.spec.interview import QUESTIONS, check, outcome, suggested_job
from weft.spec.load import models, preset, presets

DEFAULTS = {question.key: question.default for question in QUESTIONS}
BARE = {"preset": "hgx_h100_roce", "model": "llama3_8b"}


def _ask(**answers):
    return outcome({**DEFAULTS, **answers})


def test_questions_not_asked_change_nothing():
    assert outcome(BARE).cluster == preset("hgx_h100_roce")


def test_gpus_are_rounded_up_to_hosts():
    assert _ask(gpus="100").cluster.hosts == 13
    assert any("--set hosts=32" in note for note in _ask(gpus_later="256").notes)
    assert not any("--set hosts" in note for note in _ask().notes)


def test_skill_decides_how_ethernet_is_tuned_and_not_infiniband():
    for skill, tuning in (("none", "default"), ("some", "default"), ("expert", "tuned")):
        made = _ask(preset="hgx_h100_roce", roce_skill=skill)
        assert made.cluster.fabric.tuning == tuning
    assert _ask(roce_skill="none").cluster.fabric.tuning == "tuned"


def test_several_vendors_mean_ethernet():
    assert _ask(vendors="yes").cluster.fabric.kind == "roce"
    assert _ask(preset="aws_p5", vendors="yes").cluster.fabric.kind == "efa"


def test_quotes_become_prices():
    prices = _ask(switch="38k$", optic="900USD", support="10%").cluster.prices
    quoted = (prices.switch_usd, prices.optic_usd, prices.support_ratio_per_year)
    assert quoted == (38000, 900, 0.1)
    assert _ask().cluster.prices == preset("dgx_h100").prices


def test_what_was_said_and_has_no_key_becomes_a_note():
    made = _ask(communication="30%", limit="5MUSD", work="inference", latency="yes")
    said = "\n".join(made.notes)
    for words in ("30%", "5,000,000 USD", "weft predicts training", "weft expect"):
        assert words in said
    plain = "\n".join(_ask(latency="no").notes)
    assert plain == "Compare fabrics: weft compare -f cluster.yaml -f job.yaml"


def test_fine_tuning_is_sharded_by_its_framework():
    assert _ask(work="fine_tuning").job.framework == "fsdp"
    assert _ask().job.framework == "megatron"


@pytest.mark.parametrize("name", presets())
def test_a_suggested_batch_divides_for_every_size(name):
    cluster = preset(name)
    for model in models()[::20]:
        job = suggested_job(cluster, model)
        assert job.global_batch % cluster.gpus == 0


@pytest.mark.parametrize(
    ("key", "answer", "allowed"),
    [
        ("gpus", "many", "a whole number"),
        ("gpus", "0", "a whole number"),
        ("communication", "130%", "a share"),
        ("communication", "much", "a share"),
        ("switch", "38000", "38000USD"),
        ("preset", "dgx_h10", "did you mean 'dgx_h100'"),
        ("latency", "perhaps", "no, yes"),
    ],
)
def test_a_wrong_answer_is_told_what_is_allowed(key, answer, allowed):
    question = next(question for question in QUESTIONS if question.key == key)
    with pytest.raises(SpecError, match=allowed):
        check(question, answer)
    assert check(question, "  ") == question.default

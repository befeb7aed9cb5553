"""Answers make the specs that they ask for; no answer changes nothing."""

import pytest

from weft.errors import SpecError
from weft.spec.inference import Inference
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


CHANGED = {
    "preset": "hgx_h100_roce",
    "gpus": "64",
    "gpus_later": "512",
    "model": "llama3_8b",
    "work": "fine_tuning",
    "prompt": "4096",
    "output": "128",
    "sequences": "1024",
    "first_token": "2s",
    "each": "50ms",
    "vendors": "yes",
    "roce_skill": "none",
    "switch": "30kUSD",
    "optic": "500USD",
    "support": "7%",
    "owned": "qm9700=4, connectx7=64",
    "limit": "1MUSD",
    "budget": "20MUSD",
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_every_answer_changes_a_key_of_the_spec(question):
    about = {"work": question.work} if question.work else {}
    base, changed = _ask(**about), _ask(**about, **{question.key: CHANGED[question.key]})
    assert (base.cluster, base.job) != (changed.cluster, changed.job)


def test_limits_become_constraints():
    limits = _ask(**CHANGED).cluster.constraints
    assert (limits.network_budget_usd, limits.budget_usd) == (1e6, 20e6)
    assert (limits.min_vendors, limits.skills, limits.later_hosts) == (2, {"roce": "none"}, 64)
    assert limits.owned.switches == {"qm9700": 4}
    assert limits.owned.nics == {"connectx7": 64}


def test_inference_becomes_a_service_with_its_limits():
    service = _ask(work="inference", prompt="4096", each="50ms").job
    assert isinstance(service, Inference)
    assert (service.prompt_tokens, service.token_s, service.sequences) == (4096, 0.05, 512)
    assert not QUESTIONS[5].applies({"work": "training"})


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
        ("support", "130%", "a share"),
        ("support", "much", "a share"),
        ("owned", "qm970=4", "did you mean 'qm9700'"),
        ("owned", "qm9700", "a name and a count"),
        ("switch", "38000", "38000USD"),
        ("preset", "dgx_h10", "did you mean 'dgx_h100'"),
        ("vendors", "perhaps", "no, yes"),
    ],
)
def test_a_wrong_answer_is_told_what_is_allowed(key, answer, allowed):
    question = next(question for question in QUESTIONS if question.key == key)
    with pytest.raises(SpecError, match=allowed):
        check(question, answer)
    assert check(question, "  ") == question.default

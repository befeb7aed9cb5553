"""FLOP counts against the formulas of Megatron-LM and of PaLM."""

import pytest

from weft.engines.analytic.step.flops import hardware_flops, matrix_parameters, model_flops
from weft.spec import load
from weft.spec.workload import Job


def job(name="megatron_18b", **fields):
    return Job(model=load.model(name), global_batch=16, sequence_length=2048, **fields)


@pytest.mark.parametrize(
    "name", ["megatron_1_7b", "megatron_18b", "megatron_145b", "megatron_1t"]
)
def test_recomputed_gpt_executes_what_megatron_counts(name):
    """F = 96 B s L h^2 (1 + s / 6h + V / 16Lh) [Narayanan 2021, equation 3]."""
    run = job(name, recompute="full", attention="unfused")
    m, s, batch = run.model, run.sequence_length, run.global_batch
    expected = (
        96 * batch * s * m.layers * m.hidden**2
        * (1 + s / (6 * m.hidden) + m.vocab / (16 * m.layers * m.hidden))
    )  # fmt: skip
    assert hardware_flops(run) == pytest.approx(expected, rel=1e-6)


def test_useful_flops_are_six_a_weight_and_token_and_the_causal_half_of_attention():
    run = job()
    m, s, tokens = run.model, run.sequence_length, run.global_batch * run.sequence_length
    attention = 6 * m.layers * (s + 1) / 2 * 2 * m.heads * m.head_dim
    assert model_flops(run) == pytest.approx(tokens * (6 * matrix_parameters(m) + attention))


def test_the_whole_square_counts_attention_twice():
    """PaLM, appendix B: 12 L h s a token for causal models, without halving."""
    run = job()
    m, tokens = run.model, run.global_batch * run.sequence_length
    whole = model_flops(run, whole_square=True) - tokens * 6 * matrix_parameters(m)
    assert whole == pytest.approx(tokens * 12 * m.layers * m.hidden * run.sequence_length)


def test_frozen_weights_need_no_weight_gradient():
    run = job()
    lora = run.with_(model=run.model.with_(trainable_ratio=0.01))
    tokens = run.global_batch * run.sequence_length
    saved = model_flops(run) - model_flops(lora)
    assert saved == pytest.approx(2 * tokens * matrix_parameters(run.model))


def test_only_the_experts_of_a_token_count():
    model = load.model("deepseek_v3")
    assert matrix_parameters(model) == pytest.approx(37e9, rel=0.03)


def test_recomputation_adds_a_forward_pass_to_hardware_flops_alone():
    plain, full = job(), job(recompute="full")
    assert model_flops(plain) == model_flops(full)
    assert hardware_flops(full) / hardware_flops(plain) == pytest.approx(4 / 3, rel=0.02)

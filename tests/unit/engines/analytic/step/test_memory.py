"""Memory against the equations of Korthikanti et al. and of ZeRO."""

import pytest

from weft.engines.analytic.step.memory import layer_activation_bytes, memory_bytes
from weft.spec import load
from weft.spec.workload import Job, Parallelism


def job(recompute="none", *, sp=True, attention="unfused", **spread):
    return Job(
        model=load.model("megatron_22b"),
        sequence_length=2048,
        global_batch=4,
        micro_batch=4,
        recompute=recompute,
        attention=attention,
        parallelism=Parallelism(**{"tp": 8, "dp": 1, "sequence_parallel": sp, **spread}),
    )


S, B, H, A, T = 2048, 4, 6144, 64, 8


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        # [Korthikanti 2022, table 2]
        (job(sp=False), S * B * H * (10 + 24 / T + 5 * A * S / (H * T))),
        (job(sp=True), S * B * H / T * (34 + 5 * A * S / H)),
        (job("selective", sp=False), S * B * H * (10 + 24 / T)),
        (job("selective", sp=True), S * B * H * 34 / T),
        (job("full", sp=False), S * B * H * 2),
    ],
)
def test_activations_of_a_layer_follow_table_2(run, expected):
    assert layer_activation_bytes(run) == pytest.approx(expected)


def test_fused_attention_keeps_no_scores_and_no_masks():
    fused = layer_activation_bytes(job(attention="flash"))
    assert fused == pytest.approx(S * B * H * 32 / T)


def test_each_level_of_sharding_needs_less():
    """Weights 2, gradients 4, state 12 bytes a parameter; each shared out in turn."""
    totals = [
        sum(memory_bytes(job(tp=1, dp=8, sharding=level)).values())
        for level in ("none", "zero1", "zero2", "zero3")
    ]
    assert totals == sorted(totals, reverse=True)
    state = [
        memory_bytes(job(tp=1, dp=8, sharding=level))["optimizer"]
        for level in ("none", "zero1")
    ]
    assert state[1] == pytest.approx(state[0] / 8)


def test_interleaving_holds_more_activations():
    """1 + (p - 1) / (p v) of what 1F1B holds [Korthikanti 2022, section 4.2.3]."""
    plain = job(pp=4).with_(global_batch=64)
    spread = plain.parallelism.with_(virtual_stages=2, schedule="interleaved")
    more = plain.with_(parallelism=spread)
    ratio = memory_bytes(more)["activations"] / memory_bytes(plain)["activations"]
    assert ratio == pytest.approx(1 + 3 / 8)


def test_llama_3_405b_fits_as_published():
    """80 GB, tp 8, pp 16, sharded, nothing recomputed [Llama 3, section 3.3.2]."""
    run = Job(
        model=load.model("llama3_405b"),
        sequence_length=8192,
        global_batch=2048,
        parallelism=Parallelism(tp=8, pp=16, dp=128, sharding="zero2", uneven_stages=True),
    )
    assert 50e9 < sum(memory_bytes(run).values()) < 80e9


def test_experts_keep_their_inputs_in_the_precision_they_are_multiplied_in():
    base = Job(
        model=load.model("deepseek_v3"), sequence_length=4096, global_batch=64,
        parallelism=Parallelism(dp=64, ep=64),
    )  # fmt: skip
    experts = base.model.experts
    half = layer_activation_bytes(base)
    low = layer_activation_bytes(base.with_(precision="fp8"))
    inputs = experts.experts_per_token * (base.model.hidden + experts.ffn_hidden)
    assert half - low == pytest.approx(4096 * inputs)


def test_latent_attention_keeps_less_when_it_projects_up_again():
    base = Job(
        model=load.model("deepseek_v3"), sequence_length=4096, global_batch=64,
        parallelism=Parallelism(dp=64, ep=64),
    )  # fmt: skip
    kept = [
        layer_activation_bytes(base.with_(recompute=r)) for r in ("none", "selective", "full")
    ]
    assert kept[0] > kept[1] > kept[2]

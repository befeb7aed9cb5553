"""Shapes give the parameter totals that were published."""

import pytest

from weft.spec.load import metadata, model, models, shipped_text

TOTAL, ACTIVE = 0.015, 0.025  # published totals are rounded, active ones more so


@pytest.mark.parametrize("name", models())
def test_parameters_are_those_published(name):
    """N = L A + (L - S) F + S (E X + shared) + embeddings + norms, within the rounding."""
    published = float(metadata("models", name)["parameters"])
    assert model(name).parameters() == pytest.approx(published, rel=TOTAL)


@pytest.mark.parametrize(
    "name", [name for name in models() if "active_parameters" in metadata("models", name)]
)
def test_active_parameters_are_those_published(name):
    shape, known = model(name), metadata("models", name)
    embedding = shape.vocab * shape.hidden if known.get("active_without_embedding") else 0
    published = float(known["active_parameters"])
    assert shape.active_parameters() - embedding == pytest.approx(published, rel=ACTIVE)


@pytest.mark.parametrize("name", models())
def test_a_model_names_itself_and_its_source(name):
    assert metadata("models", name)["name"] == name == model(name).name
    assert "Source: " in shipped_text("models", name).replace("\n# ", " ")


def test_every_dense_model_meets_all_its_parameters():
    shape = model("llama3_70b")
    assert shape.active_parameters() == shape.parameters()


def test_attention_weights_follow_grouped_queries():
    """A = h d (2 a + 2 k): 4096 x 128 x (64 + 16)."""
    assert model("llama3_8b").attention_parameters == 4096 * 128 * (64 + 16)


def test_a_causal_query_meets_half_the_sequence():
    """(s + 1) / 2 keys on average."""
    assert model("llama3_8b").mean_attended(8191) == 4096


def test_a_window_bounds_what_a_query_meets():
    """w - w (w - 1) / (2 s), with w = 4 and s = 8: (1 + 2 + 3 + 4 x 5) / 8."""
    shape = model("mistral_7b").with_(window=4)
    assert shape.mean_attended(8) == pytest.approx((1 + 2 + 3 + 4 * 5) / 8)
    assert shape.mean_attended(4) == 2.5


def test_layers_without_the_window_meet_everything():
    shape = model("gemma2_9b").with_(window=4)
    assert shape.mean_attended(8) == pytest.approx((4.5 + (1 + 2 + 3 + 4 * 5) / 8) / 2)
    assert model("bert_large").mean_attended(512) == 512


def test_one_layer_in_every_second_is_sparse():
    assert model("llama4_maverick").sparse_layers == 24
    assert model("deepseek_v3").sparse_layers == 58
    assert model("llama3_8b").sparse_layers == 0

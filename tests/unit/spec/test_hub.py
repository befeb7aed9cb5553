"""Names of the Hugging Face Hub stand for models that are shipped."""

import pytest

from weft.spec import hub
from weft.spec.load import model, models


@pytest.mark.parametrize("name", hub.names())
def test_every_name_stands_for_a_shipped_model(name):
    owner, _, repository = name.partition("/")
    assert owner
    assert repository
    assert hub.shipped_model(name) in models()


def test_no_name_stands_for_two_models():
    folded = [name.casefold() for name in hub.names()]
    assert len(folded) == len(set(folded))


def test_a_model_is_found_by_its_name_on_the_hub():
    assert model("Meta-Llama/llama-3.1-70b") == model("llama3_70b")

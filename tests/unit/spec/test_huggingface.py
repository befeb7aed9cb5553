"""Public config.json files give the models that weft ships."""

import json
from pathlib import Path

import pytest

from weft.errors import SpecError, Unreadable
from weft.spec.huggingface import read_config
from weft.spec.load import load_job, model
from weft.spec.workload import Model

FOLDER = Path(__file__).parents[2] / "samples" / "huggingface"
CASES = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.mark.parametrize("name", CASES)
def test_a_config_gives_the_shipped_model(name):
    read = Model.model_validate(read_config(FOLDER / f"{name}.json"))
    assert read.with_(name=name) == model(name)


def test_a_job_names_a_config_relative_to_its_own_file(tmp_path):
    (tmp_path / "config.json").write_text((FOLDER / "llama3_8b.json").read_text())
    job = tmp_path / "job.yaml"
    job.write_text(
        "apiVersion: weft/v1\nkind: Job\nmetadata: {name: x}\n"
        "spec: {model: {config: config.json, layers: 4}, global_batch: 8}\n"
    )
    loaded = load_job(job).model
    assert (loaded.layers, loaded.hidden) == (4, 4096)


def test_an_unknown_architecture_is_named_with_its_nearest(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "mixtrel"}))
    with pytest.raises(SpecError, match=r"'mixtrel'.*did you mean 'mixtral'"):
        read_config(path)


def test_a_missing_key_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llama", "num_attention_heads": 32}))
    with pytest.raises(SpecError, match="'num_hidden_layers' is missing"):
        read_config(path)


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": ' * 5000, "nul"])
def test_what_is_no_config_is_refused(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(SpecError, match=r"config\.json"):
        read_config(path)


def test_a_missing_config_is_unreadable_and_says_for_which_key(tmp_path):
    spec = {"model": {"config": str(tmp_path / "no.json")}, "global_batch": 8}
    with pytest.raises(Unreadable, match=r"^model: value .*no\.json.* cannot be read"):
        load_job(spec)

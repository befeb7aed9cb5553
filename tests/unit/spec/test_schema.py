"""The JSON Schemas accept what load accepts and refuse what it refuses."""

import pytest
from jsonschema import Draft202012Validator

from weft.errors import UnknownName
from weft.spec.load import load_job, model, preset, presets
from weft.spec.schema import schema
from weft.spec.show import document


@pytest.mark.parametrize("kind", ["cluster", "job", "model"])
def test_a_schema_is_one(kind):
    Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_valid(name):
    Draft202012Validator(schema("cluster")).validate(document(preset(name)))


def test_short_forms_are_valid():
    cluster, job = schema("cluster"), schema("job")
    head = {"apiVersion": "weft/v1", "metadata": {"name": "x"}}
    spec = {"preset": "dgx_h100", "fabric": {"tuning": "default"}}
    Draft202012Validator(cluster).validate({**head, "kind": "Cluster", "spec": spec})
    for shape in ("llama3_8b", {"preset": "llama3_8b", "layers": 2}, {"config": "config.json"}):
        spec = {"model": shape, "global_batch": 8, "parallelism": {"tp": 2}}
        Draft202012Validator(job).validate({**head, "kind": "Job", "spec": spec})


def test_long_forms_are_valid():
    job = load_job({"model": "deepseek_v3", "global_batch": 8})
    Draft202012Validator(schema("job")).validate(document(job))
    Draft202012Validator(schema("model")).validate(document(model("llama3_8b")))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"preset": "dgx_h10"},
        {"preset": "dgx_h100", "hosts": 0},
        {"preset": "dgx_h100", "host": {"nic_bytes_per_s": 400}},
        {"preset": "dgx_h100", "fabric": {"knd": "roce"}},
    ],
)
def test_a_wrong_cluster_is_invalid(spec):
    found = {"apiVersion": "weft/v1", "kind": "Cluster", "spec": spec}
    assert not Draft202012Validator(schema("cluster")).is_valid(found)


def test_every_key_has_its_meaning():
    for kind in ("cluster", "job"):
        found = schema(kind)
        parts = [found["properties"]["spec"], *found["$defs"].values()]
        keys = [(key, value) for part in parts for key, value in part["properties"].items()]
        bare = [key for key, value in keys if "description" not in value]
        assert set(bare) <= {"model", "name"}


def test_an_unknown_kind_is_named():
    with pytest.raises(UnknownName, match="'cluster'"):
        schema("clster")

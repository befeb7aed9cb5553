"""What is shown loads to the same spec, plain or explained."""

import json

import pytest

from weft.spec.load import (
    load_cluster,
    load_documents,
    load_job,
    model,
    preset,
    presets,
)
from weft.spec.show import as_json, as_yaml, document, explained


@pytest.fixture
def reload(tmp_path):
    def reload(text):
        path = tmp_path / "shown.yaml"
        path.write_text(text)
        return load_documents(path)

    return reload


@pytest.mark.parametrize("name", presets())
def test_a_preset_shown_is_the_preset(reload, name):
    cluster = preset(name)
    assert reload(as_yaml(cluster)) == [cluster]
    assert reload(explained(cluster)) == [cluster]
    assert load_cluster(json.loads(as_json(cluster))) == cluster


def test_documents_are_shown_in_their_order(reload):
    parts = [preset("dgx_h100"), load_job({"model": "deepseek_v3", "global_batch": 8})]
    assert reload(as_yaml(*parts)) == parts
    assert [d["kind"] for d in json.loads(as_json(*parts))] == ["Cluster", "Job"]
    assert reload(as_yaml(model("gemma2_9b"))) == [model("gemma2_9b")]


def test_quantities_are_shown_with_their_unit():
    spec = document(preset("dgx_h100", reliability={"restart_s": "5min"}))["spec"]
    assert spec["host"]["nic_bytes_per_s"] == "400Gb/s"
    assert spec["host"]["scale_up"]["bytes_per_s"] == "450GB/s"
    assert spec["reliability"]["restart_s"] == "300s"


def test_every_key_is_explained_and_can_be_uncommented(tmp_path):
    text = explained(preset("dgx_h100"), "A head.", replace={"hosts": 3})
    assert text.startswith("# A head.\n")
    assert "hosts: 3  # " in text
    for line in ("    # hosts_per_pod:", "    # switch_usd:", "  # reliability:"):
        assert line in text
    edited = text.replace("    # hosts_per_pod:", "    hosts_per_pod: 32")
    edited = edited.replace("  # reliability:", "  reliability:")
    edited = edited.replace("  #   restart_s:", "    restart_s: 5min")
    path = tmp_path / "cluster.yaml"
    path.write_text(edited)
    cluster = load_cluster(path)
    assert (cluster.topology.hosts_per_pod, cluster.reliability.restart_s) == (32, 300)


def test_text_that_yaml_would_misread_is_quoted(reload):
    cluster = preset(
        "dgx_h100", name="no: 1", nccl={"env": {"A": "1e3", "B": "true", "C": "x"}}
    )
    assert reload(explained(cluster)) == [cluster]


def test_an_example_shown_is_the_example(tmp_path, request):
    for path in sorted((request.config.rootpath / "examples").glob("*.yaml")):
        parts = load_documents(path)
        (tmp_path / "x.yaml").write_text(as_yaml(*parts))
        assert load_documents(tmp_path / "x.yaml") == parts


@pytest.mark.parametrize("name", presets())
def test_a_template_over_a_preset_states_what_differs_alone(reload, name):
    own = preset(name)
    text = explained(own, base=name)
    assert reload(text) == [own]
    changed = own.with_(hosts=3, prices=own.prices.with_(switch_usd=1000.0))
    assert reload(explained(changed, base=name)) == [changed]
    stated = [
        line
        for line in explained(changed, base=name).splitlines()
        if line.strip() and not line.strip().startswith("#")
    ]
    assert len(stated) <= 9

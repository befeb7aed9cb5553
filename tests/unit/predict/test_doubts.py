"""What a result says of its own input, and that it says nothing of ordinary input."""

import re
from pathlib import Path

import pytest

import weft.engines.analytic
from weft.predict.collective import expect
from weft.predict.doubts import HEEDED, doubts
from weft.spec.load import load_cluster, preset, presets
from weft.traffic import pxn

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
ENGINE = Path(weft.engines.analytic.__file__).parent


def told(*sets, name="dgx_h100"):
    return doubts(load_cluster({"preset": name, "hosts": 4}, sets))


@pytest.mark.parametrize("name", presets())
def test_nothing_is_odd_about_a_preset(name):
    assert doubts(preset(name)) == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_nothing_is_odd_about_an_example(path):
    assert doubts(load_cluster(path)) == ()


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (["nccl.env.NCCL_CROSS_NIC=2"], "not modelled: nccl.env NCCL_CROSS_NIC"),
        (["fabric.sockets=4"], "fabric.sockets"),
        (["host.gpu=b200"], "holds 8 x h100_sxm"),
        (["topology.pod_oversubscription=4"], "pod_oversubscription, because there are"),
    ],
)
def test_what_changes_nothing_or_does_not_fit_is_said(sets, words):
    (one,) = told(*sets)
    assert words in one


def test_settings_that_have_an_effect_are_not_doubted():
    assert told("nccl.env.NCCL_ALGO=Ring", "fabric.in_network_reduction=true") == ()
    assert told("fabric.sockets=4", "fabric.socket_threads=2", name="h100_tcp_100g") == ()


def test_every_result_carries_the_doubts():
    cluster = load_cluster({"preset": "dgx_h100", "hosts": 4}, ["nccl.env.NCCL_CROSS_NIC=2"])
    assert doubts(cluster)[0] in expect(cluster).provenance.assumptions


def test_the_variables_heeded_are_those_in_the_source_of_the_engine():
    source = "".join(path.read_text() for path in (*ENGINE.rglob("*.py"), Path(pxn.__file__)))
    assert set(re.findall(r'"(NCCL_[A-Z0-9_]+)"', source)) == HEEDED


def test_tuning_of_a_storage_fabric_is_said_to_change_no_speed():
    storage = {"kind": "roce", "tuning": "default"}
    cluster = preset("dgx_h100", hosts=16, storage_fabric=storage)
    assert any("storage_fabric.tuning" in said for said in doubts(cluster))

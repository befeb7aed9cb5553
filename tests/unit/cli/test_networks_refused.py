"""Every verb refuses a network whose parts do not fit, with its place and what fits."""

import pytest

from weft.cli import app

CLUSTER = """apiVersion: weft/v1
kind: Cluster
metadata: {name: c}
spec:
  preset: dgx_h100
  topology:
    switch: arista_7060x6_64pe
---
apiVersion: weft/v1
kind: Job
metadata: {name: j}
spec: {model: llama3_8b, global_batch: 128}
"""
WORDS = ("is an Ethernet switch", "fabric.kind is infiniband", "at 400 Gb/s: qm9700")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CLUSTER)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("spec", "validate"), ("predict",), ("compare",), ("need",), ("expect",), ("plan",),
        ("render", "nccl", "-f"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_verb_refuses_it_with_its_place(file, words, capsys):
    assert app.run([*words, str(file)]) == 2
    told = capsys.readouterr().err
    assert f"{file}:7:13: topology.switch" in told
    assert all(one in told for one in WORDS)


@pytest.mark.parametrize(
    ("preset", "change", "said"),
    [
        ("hgx_h100_roce", "topology.switch=qm9700", "an InfiniBand switch"),
        ("hgx_h100_roce", "host.nic=efa_v4", "speaks efa and tcp; fabric.kind is roce"),
        ("hgx_h100_roce", "fabric.kind=ultra_ethernet", "speak ultra_ethernet at 400 Gb/s"),
        ("aws_p5", "fabric.kind=infiniband", "Amazon Web Services rents aws_p5 with efa"),
    ],
)
def test_what_is_set_on_the_command_line_is_refused(preset, change, said, capsys):
    words = ["predict", "--preset", preset, "--model", "llama3_8b", "--set", change]
    assert app.run(words) == 2
    assert said in capsys.readouterr().err

"""What the shell offers: real names and keys, without an engine."""

import json
import subprocess
import sys

import pytest

from weft.cli import completion
from weft.spec.load import load_cluster

HEAVY = {"numpy", "numba", "altair", "rich.console", "pandas", "scipy"}


def test_every_key_that_is_offered_is_one_that_set_takes():
    offered = completion.keys()
    assert {"hosts", "fabric.kind", "topology.oversubscription", "parallelism.tp"} <= {*offered}
    assert not [key for key in offered if key in {"fabric", "host", "topology"}]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("fabric.ki", ["fabric.kind="]),
        ("fabric.kind=inf", ["fabric.kind=infiniband"]),
        ("fabric.tuning=t", ["fabric.tuning=tuned"]),
        ("host.nic=connectx7", ["host.nic=connectx7"]),
        ("parallelism.sequence_parallel=", ["parallelism.sequence_parallel=true",
                                            "parallelism.sequence_parallel=false"]),
    ],
)  # fmt: skip
def test_keys_and_their_values_complete(words, offered):
    assert set(offered) <= set(completion.complete_set(words))


def test_names_complete():
    assert "dgx_h200" in completion.complete_preset("dgx")
    assert "llama3_70b" in completion.complete_model("llama3")
    assert "meta-llama/Llama-3.1-70B" in completion.complete_model("meta-llama/")
    assert "tcp,infiniband" in completion.complete_fabric("tcp,inf")
    assert "all_reduce" in completion.complete_operation("all")


def test_an_offered_value_is_accepted():
    for choice in completion.complete_set("topology.kind="):
        if choice not in {"topology.kind=fat_tree", "topology.kind=leaf_spine"}:
            continue
        assert load_cluster({"preset": "dgx_h100"}, [choice]).topology.kind in choice


def test_completion_loads_no_engine():
    program = (
        "import sys, json\n"
        "from weft.cli import completion\n"
        "completion.complete_model('l'), completion.complete_set('fabric.kind=')\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout))
    assert not HEAVY & loaded
    assert "weft.predict.training" not in loaded

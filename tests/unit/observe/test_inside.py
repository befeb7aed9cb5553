"""What objects of Kubernetes hold is read as what it is: settings, topologies, logs."""

import json

import pytest
import yaml

from weft.doctor.diagnose import find
from weft.observe.facts.programs import Setting
from weft.observe.facts.verbs import CallFailed
from weft.observe.inside import texts
from weft.observe.reading import read_text

SCRIPT = """#!/bin/bash
export NCCL_NET_GDR_LEVEL=LOC   # as on the old cluster
grep -q "Out of memory: Killed process 31 (python3)" /var/log/messages && exit 1
echo "n1:1:1 [0] NCCL WARN Call to connect returned Connection refused"
mpirun -x NCCL_ALGO=Ring -np 16 ./all_reduce_perf
"""
LOG = "n1:1:1 [0] NCCL WARN Call to connect returned Connection refused\n"
TOPOLOGY = """<system version="1">
  <cpu numaid="0" affinity="ffff" arch="x86_64">
    <pci busid="0000:18:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="8">
      <gpu dev="0" sm="90" rank="0" gdr="1"/>
    </pci>
  </cpu>
</system>
"""
RULES = """groups:
- name: gpus
  rules:
  - alert: GpuFell
    annotations:
      summary: "NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus"
"""


class _Blocks(yaml.SafeDumper):
    """Writes texts of several lines as kubectl does."""


_Blocks.add_representer(
    str,
    lambda self, text: self.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    ),
)


def _map(data):
    return {
        "apiVersion": "v1", "data": data, "kind": "ConfigMap", "metadata": {"name": "m"}
    }  # fmt: skip


def _pod(variables, **metadata):
    container = {"name": "w", "image": "x", "env": variables}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w0", **metadata},
        "spec": {"containers": [container]},
    }  # fmt: skip


def _written(value, form):
    if form == "yaml":
        return yaml.dump(value, Dumper=_Blocks)
    return json.dumps(value, indent=4 if form == "json" else None)


def _settings(text):
    facts, read = read_text(text, "object")
    assert not read.unread
    lines = text.split("\n")
    return {
        one.name: (one.value, lines[one.evidence.line - 1].strip())
        for one in facts if isinstance(one, Setting)
    }  # fmt: skip


def test_a_file_of_settings_within_a_map_is_read_at_its_own_lines():
    text = _written(_map({"nccl.conf": "NCCL_IB_DISABLE=1\nNCCL_DEBUG=INFO\n"}), "yaml")
    assert _settings(text) == {
        "NCCL_IB_DISABLE": ("1", "NCCL_IB_DISABLE=1"), "NCCL_DEBUG": ("INFO", "NCCL_DEBUG=INFO")
    }  # fmt: skip


@pytest.mark.parametrize("form", ["yaml", "json", "line"])
def test_variables_of_a_map_and_of_a_pod_are_settings(form):
    variables = [{"name": "NCCL_IB_HCA", "value": "mlx5_0"}, {"name": "HOME", "value": "/"}]
    of_map = _settings(_written(_map({"NCCL_IB_HCA": "mlx5_0", "COLOUR": "red"}), form))
    of_pod = _settings(_written(_pod(variables), form))
    for found in (of_map, of_pod):
        assert {name: value for name, (value, _) in found.items()} == {"NCCL_IB_HCA": "mlx5_0"}
        assert "NCCL_IB_HCA" in found["NCCL_IB_HCA"][1]


def test_variables_of_a_template_are_settings():
    template = _pod([{"name": "NCCL_ALGO", "value": "Ring"}])
    spec = {"replicas": {"Worker": {"template": template}}}
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "spec": spec}
    assert _settings(_written(job, "yaml")) == {"NCCL_ALGO": ("Ring", "- name: NCCL_ALGO")}


@pytest.mark.parametrize("key", ["run.sh", "launcher"])
def test_of_a_script_only_what_it_sets_is_read(key):
    facts, _ = read_text(_written(_map({key: SCRIPT}), "yaml"), "cm.yaml")
    settings = {one.name: one.value for one in facts if isinstance(one, Setting)}
    assert settings == {"NCCL_NET_GDR_LEVEL": "LOC", "NCCL_ALGO": "Ring"}
    assert not any(isinstance(one, CallFailed) for one in facts)


def test_a_script_in_the_arguments_of_a_container_is_read_for_what_it_sets():
    pod = _pod([])
    pod["spec"]["containers"][0]["args"] = ["-c", SCRIPT]
    assert _settings(_written(pod, "yaml")).keys() == {"NCCL_NET_GDR_LEVEL", "NCCL_ALGO"}


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_log_and_a_topology_within_a_map_are_read_whole(form):
    text = _written(_map({"worker.log": LOG, "topo": TOPOLOGY}), form)
    facts, _ = read_text(text, "cm.yaml")
    assert {"CallFailed", "PcieLink", "TopologyPart"} <= {type(one).__name__ for one in facts}
    [failed] = [one for one in facts if isinstance(one, CallFailed)]
    assert "Connection refused" in text.split("\n")[failed.evidence.line - 1]


def test_alarms_and_manuals_within_a_map_are_no_news():
    facts, _ = read_text(_written(_map({"rules.yaml": RULES, "notes": LOG}), "yaml"), "cm")
    assert not any("Xid" in one.evidence.text for one in facts)
    assert find(read_text(_written(_map({"rules.yaml": RULES}), "yaml"), "cm")[0]) == []


APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def test_what_a_pod_was_made_from_is_read_where_nothing_else_tells():
    old = json.dumps(_pod([{"name": "NCCL_DEBUG", "value": "WARN"}]))
    cut = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"annotations": {APPLIED: f"{old}\n"}, "name": "w0"}}  # fmt: skip
    [(value, line)] = _settings(_written(cut, "yaml")).values()
    assert value == "WARN"
    assert APPLIED in line


def test_what_a_pod_was_made_from_does_not_count_against_what_it_is():
    old = json.dumps(_pod([{"name": "NCCL_DEBUG", "value": "WARN"}]))
    now = _pod([{"name": "NCCL_DEBUG", "value": "INFO"}], annotations={APPLIED: old})
    assert _settings(_written(now, "yaml"))["NCCL_DEBUG"][0] == "INFO"


def test_a_pod_as_kubectl_describes_it_shows_what_it_was_made_from():
    old = json.dumps(_pod([{"name": "NCCL_DEBUG", "value": "WARN"}]))
    text = f"Name: w0\nAnnotations:  {APPLIED}:\n                {old}\nStatus: Running\n"
    facts, _ = read_text(text, "described.txt")
    [only] = [one for one in facts if isinstance(one, Setting)]
    assert (only.name, only.value, only.evidence.line) == ("NCCL_DEBUG", "WARN", 3)


def test_objects_within_objects_end_somewhere():
    value = _map({"nccl.conf": "NCCL_DEBUG=INFO\n"})
    for _ in range(8):
        value = _map({"inner.txt": json.dumps(value)})
    facts, _ = read_text(json.dumps(value), "deep.json")
    assert facts == []


def test_documents_of_other_tools_hold_no_texts():
    assert texts({"kind": "x", "data": {"NCCL_DEBUG": "1"}}, [("{", 1)]) == []
    assert texts(["apiVersion", "kind"], [("[", 1)]) == []

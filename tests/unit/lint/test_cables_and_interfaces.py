"""Settings that are the same everywhere and wrong everywhere: only other files show it."""

import re

import pytest

from rendered_fabrics import texts
from weft.lint.lint import lint, lint_texts
from weft.lint.text import Text

CLUSTER = """apiVersion: weft/v1
kind: Cluster
metadata:
  name: sample
spec:
  preset: {preset}
  hosts: 8
  topology: {topology}
"""
LINK = "2: {name}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT\n"
SETTING = "NCCL_SOCKET_IFNAME={value}\n"


def _found(folder, rule, **files):
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, "utf-8")
    return [one for one in lint([folder]).findings if one.rule == rule]


def _sonic(folder, length):
    """Write the configuration of a leaf with cables of one length on every port."""
    rendered = dict(texts("roce"))["sonic/leaf-0000/config_db.json"]
    changed = re.sub(r'(": )"\d+m"', rf'\1"{length}m"', rendered)
    (folder / "config_db.json").write_text(changed, "utf-8")


@pytest.mark.parametrize(
    ("topology", "length", "found"),
    [
        ("{cable_m: 30}", 5, True),
        ("{cable_m: 30}", 40, False),
        ("{longest_cable_m: {host: 5, spine: 200}}", 40, True),
        ("{longest_cable_m: {host: 5, spine: 200}}", 300, False),
    ],
)
def test_cables_of_the_cluster_document_are_longer_than_headroom_is_sized_for(
    tmp_path, topology, length, found
):
    _sonic(tmp_path, length)
    document = CLUSTER.format(preset="hgx_h100_roce", topology=topology)
    assert bool(_found(tmp_path, "headroom_cable", cluster__yaml=document)) is found


def test_every_profile_is_named_for_another_length_than_the_cables_have():
    name = "sonic/leaf-0000/config_db.json"
    content = dict(texts("roce"))[name].replace(
        '"pg_lossless_profile"', '"pg_lossless_400000_5m_profile"'
    )
    result = lint_texts([Text(name=name, content=content)])
    found = [one for one in result.findings if one.rule == "headroom_cable"]
    assert [one.severity.value for one in found] == ["error"]
    assert "5 m; CABLE_LENGTH is 40 m" in found[0].message


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("bond0", "no host has such an interface"),
        ("=eno", "no host has such an interface"),
        ("eno2", "hosts without such an interface"),
        ("eno", ""),
        ("bond0,=eno1", "= and ^ stand once"),
        ("eno1,ens1", "hosts without such an interface"),
        ("^bond0", ""),
        ("$FRONT", ""),
    ],
)
def test_the_interface_of_the_bootstrap_is_one_that_hosts_have(tmp_path, value, words):
    files = {
        "nccl__conf": SETTING.format(value=value),
        "gpu01__txt": LINK.format(name="eno1"),
        "gpu02__txt": LINK.format(name="eno2"),
    }
    if words.startswith("="):
        assert words in _found(tmp_path, "nccl_socket_interface", **files)[0].message
        return
    if value == "eno1,ens1":
        files["gpu02__txt"] = LINK.format(name="enp3")
    found = _found(tmp_path, "nccl_socket_absent", **files)
    assert len(found) == bool(words)
    assert all(words in one.message for one in found)


def test_on_tcp_the_interfaces_for_data_are_those_of_the_cluster_document(tmp_path):
    document = CLUSTER.format(preset="hgx_h100_roce", topology="{}") + (
        "  fabric: {kind: tcp}\n"
        "  kubernetes: {interfaces: [eth1, eth2, eth3, eth4, eth5, eth6, eth7, eth8]}\n"
    )
    files = {"cluster__yaml": document, "nccl__conf": SETTING.format(value="eno1")}
    found = _found(tmp_path, "nccl_socket_absent", **files)
    assert [one.severity.value for one in found] == ["warning"]
    files["nccl__conf"] = SETTING.format(value="eth")
    assert not _found(tmp_path, "nccl_socket_absent", **files)

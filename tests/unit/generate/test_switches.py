"""Switches of every vendor are told the same: one plan, many spellings."""

import re
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import reason_against, render
from weft.network import topology
from weft.spec.load import preset

SAMPLES = Path(__file__).parents[2] / "samples" / "generate"


def fabric(name: str, switch: str, hosts: int = 8):
    """Return a cluster of 8 NICs a host, whose leaves hold two hosts or a few more."""
    cluster = preset(name, hosts=hosts)
    return cluster.with_(
        name=f"{cluster.fabric.kind}-{switch.replace('_', '-')}",
        host=cluster.host.with_(nics=8, nic_bytes_per_s=50e9),
        topology=cluster.topology.with_(kind="fat_tree", switch=switch, oversubscription=2.0),
    )


TCP = fabric("h100_tcp_100g", "sn4700")
CASES = {"frr": TCP}
"""A fabric of two tiers for every target of switches."""


def _texts(target: str, cluster=None):
    made = render(plan(cluster or CASES[target]), [target])
    return {file.path: file.text for file in made.files}


@pytest.mark.parametrize("target", CASES)
def test_a_leaf_and_a_spine_are_as_they_were_read(target):
    for path, text in _texts(target).items():
        if "-0" in path and not re.search("(leaf|spine)-0000", path):
            continue
        expected = SAMPLES / CASES[target].name / path
        if not expected.exists():
            expected.parent.mkdir(parents=True, exist_ok=True)
            expected.write_text(text, "utf-8")
            pytest.fail(f"{expected} was written: read it, then commit it")
        assert text == expected.read_text("utf-8"), path


@pytest.mark.parametrize("target", CASES)
def test_every_switch_has_the_as_number_and_the_router_id_of_the_plan(target):
    texts = _texts(target)
    made = plan(CASES[target]).underlay
    network = topology.layout(CASES[target])
    for tier, count in enumerate((network.leaf, network.spine)):
        for number in range(count):
            name = f"{('leaf', 'spine')[tier]}-{number:04d}"
            whole = "\n".join(text for path, text in texts.items() if f"/{name}/" in path)
            count_before = tier * network.leaf + number
            assert str(made.asn(tier, number, 0)) in whole
            assert str(made.loopback(count_before)) in whole


@pytest.mark.parametrize("target", CASES)
def test_every_leaf_has_its_end_of_every_link_to_a_host(target):
    """Addresses below a leaf are those that the hosts are told to send to."""
    cluster = CASES[target]
    rails = _texts("linux_host", cluster)["linux_host/rails.tsv"].splitlines()[1:]
    gateways = {row.split("\t")[3] for row in rails}
    leaves = "\n".join(t for path, t in _texts(target).items() if "/leaf-" in path)
    found = set(re.findall(r"\b(\d+\.\d+\.\d+\.\d+)/31", leaves))
    assert found == gateways


def test_frr_is_for_routing_alone():
    assert "lossless" in reason_against("frr", plan(preset("hgx_h100_roce", hosts=8)))
    assert "an Ethernet underlay" in reason_against("frr", plan(preset("dgx_h100", hosts=8)))

"""Exports of a topology: every device and cable of the plan, once, under one name."""

import csv
import io
import json
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
import yaml

from weft.generate.cabling import HOST, cabling
from weft.generate.plan import plan
from weft.generate.target import reason_against, render
from weft.network.network import layout
from weft.spec.load import preset

CASES = {
    "one leaf": preset("hgx_h100_roce", hosts=4),
    "two tiers": preset("hgx_h100_roce", hosts=72),
    "two rails of planes": preset("hgx_h100_roce", hosts=16).with_(
        topology=preset("hgx_h100_roce").topology.with_(planes=2)
    ),
    "infiniband": preset("dgx_h100", hosts=64),
}
ETHERNET = [name for name in CASES if name != "infiniband"]


def _texts(cluster, target):
    files = render(plan(cluster), [target]).files
    return {file.path.partition("/")[2]: file.text for file in files}


def _rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("name", CASES)
def test_every_cable_is_listed_once_and_no_port_has_two(name):
    whole = cabling(plan(CASES[name]))
    ends = [end for cable in whole.cables for end in (cable.below, cable.above)]
    assert max(Counter((end.device, end.number) for end in ends).values()) == 1
    network = layout(CASES[name])
    between = network.leaf_spine_cables + network.spine_core_cables
    hosts = sum(cable.below.nic != "" for cable in whole.cables)
    planes = CASES[name].topology.planes
    assert hosts == CASES[name].hosts * CASES[name].host.nics * planes
    assert len(whole.cables) - hosts == between * planes


@pytest.mark.parametrize("name", CASES)
def test_netbox_rows_name_only_what_earlier_files_made(name):
    tables = {path: _rows(text) for path, text in _texts(CASES[name], "netbox").items()}
    devices = {row["name"] for row in tables["5-devices.csv"]}
    types = {(row["manufacturer"], row["model"]) for row in tables["4-device-types.csv"]}
    ports = {(row["device"], row["name"]) for row in tables["6-interfaces.csv"]}
    assert len(ports) == len(tables["6-interfaces.csv"])
    assert {row["role"] for row in tables["5-devices.csv"]} == {
        row["name"] for row in tables["3-device-roles.csv"]
    }
    for row in tables["5-devices.csv"]:
        assert (row["manufacturer"], row["device_type"]) in types
    assert {device for device, _ in ports} == devices
    for row in tables["7-cables.csv"]:
        assert (row["side_a_device"], row["side_a_name"]) in ports
        assert (row["side_b_device"], row["side_b_name"]) in ports


def test_netbox_has_the_rate_of_the_ports():
    kinds = {
        name: {row["type"] for row in _rows(_texts(cluster, "netbox")["6-interfaces.csv"])}
        for name, cluster in CASES.items()
    }
    assert kinds["two tiers"] == {"400gbase-x-osfp"}
    assert kinds["two rails of planes"] == {"200gbase-x-qsfp56"}
    assert kinds["infiniband"] == {"infiniband-ndr"}


@pytest.mark.parametrize("name", ETHERNET)
def test_containerlab_has_the_addresses_of_the_fabric(name):
    cluster = CASES[name]
    files = _texts(cluster, "containerlab")
    topology = yaml.safe_load(files["fabric.clab.yml"])["topology"]
    ends = [tuple(end.split(":")) for link in topology["links"] for end in link["endpoints"]]
    assert len(set(ends)) == len(ends)
    assert {node for node, _ in ends} == set(topology["nodes"])
    for node, facts in topology["nodes"].items():
        for bind in facts.get("binds", ()):
            assert bind.partition(":")[0] in files
        for command in facts.get("exec", ())[:-1]:
            port = command.rpartition(" ")[2]
            leaf, number = _other_end(topology["links"], f"{node}:{port}")
            address = command.split()[3].partition("/")[0]
            told = files[f"{leaf}/frr.conf"].split(f"interface {number}\n")[1]
            told = told.split(" ip address ")[1].partition("/")[0]
            assert int(address.rpartition(".")[2]) - int(told.rpartition(".")[2]) == 1


def _other_end(links, end):
    (other,) = [e for link in links if end in link["endpoints"] for e in link["endpoints"]
                if e != end]  # fmt: skip
    return other.split(":")


@pytest.mark.parametrize("name", ETHERNET)
def test_air_links_join_two_nodes(name):
    content = json.loads(_texts(CASES[name], "air")["topology.json"])["content"]
    ends = [(end["node"], end["interface"]) for link in content["links"] for end in link]
    assert len(set(ends)) == len(ends) == 2 * len(cabling(plan(CASES[name])).cables)
    assert {node for node, _ in ends} == set(content["nodes"])


@pytest.mark.parametrize("name", CASES)
def test_a_drawing_counts_every_device_and_cable(name):
    whole = cabling(plan(CASES[name]))
    text = _texts(CASES[name], "drawio")["fabric.drawio"]
    cells = list(ET.fromstring(text).iter("mxCell"))  # noqa: S314 - our own text
    boxes = {cell.get("id"): cell.get("value") for cell in cells if cell.get("vertex")}
    drawn = sum(_count(value) for value in boxes.values())
    assert drawn == len(whole.devices)
    lines = [cell for cell in cells if cell.get("edge")]
    assert all({cell.get("source"), cell.get("target")} <= set(boxes) for cell in lines)
    assert sum(int(line.get("value").split()[0]) for line in lines) == len(whole.cables)


def _count(value):
    count, times, _ = value.splitlines()[1].partition(" x ")
    return int(count) if times else 1


def test_hosts_are_below_switches():
    whole = cabling(plan(CASES["two tiers"]))
    order = {device.name: place for place, device in enumerate(whole.devices)}
    assert all(order[c.below.device] < order[c.above.device] for c in whole.cables)
    assert sum(device.role == HOST for device in whole.devices) == 72


@pytest.mark.parametrize("target", ["netbox", "containerlab", "air", "drawio"])
def test_a_rented_network_has_no_cables_to_export(target):
    rented = preset("aws_p5", hosts=4)
    assert "cannot express" in reason_against(target, plan(rented)) or target in {
        "containerlab", "air",
    }  # fmt: skip


@pytest.mark.parametrize("target", ["containerlab", "air"])
def test_infiniband_has_no_lab_of_ip_switches(target):
    assert "an Ethernet underlay" in reason_against(target, plan(CASES["infiniband"]))

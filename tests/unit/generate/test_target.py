"""Targets print the plan: the same numbers everywhere, the same bytes every time."""

import hashlib
import json
import re
from functools import cache
from ipaddress import ip_interface, ip_network
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import plugins
from weft.catalogue import find
from weft.errors import SpecError, UnknownName, Unreadable
from weft.generate import targets
from weft.generate.plan import plan
from weft.generate.target import (
    MANIFEST,
    Target,
    reason_against,
    render,
    suitable,
    target_names,
    write,
)
from weft.network import network as resolver
from weft.network.headroom import headroom
from weft.spec.cluster import CableLengths
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset

ROCE = preset("hgx_h100_roce", hosts=72)
INFINIBAND = preset("dgx_h100", hosts=64)
SAMPLES = Path(__file__).parents[2] / "samples" / "generate"


def _texts(cluster, *names, **guids):
    return {file.path: file.text for file in render(plan(cluster, guids), names).files}


def test_the_switch_the_nic_and_nccl_have_one_class():
    cluster = ROCE.with_(nccl=ROCE.nccl.with_(env={"NCCL_IB_TC": "138"}))
    texts = _texts(cluster, "nccl", "sonic", "linux_host")
    label = re.search(r"^NCCL_IB_TC=(\d+)$", texts["nccl/nccl.conf"], re.MULTILINE)[1]
    host = texts["linux_host/weft-rdma"]
    assert set(re.findall(r"cma_roce_tos .* -t (\d+)|echo (\d+) .*/traffic_class", host)) == {
        (label, ""), ("", label),
    }  # fmt: skip
    dscp = str(int(label) // 4)
    priority = re.search(rf"--dscp2prio set,{dscp},(\d)", host)[1]
    assert re.search(r"--pfc ([01,]+)", host)[1].split(",").index("1") == int(priority)
    for path in (p for p in texts if p.startswith("sonic/")):
        tables = json.loads(texts[path])
        assert tables["DSCP_TO_TC_MAP"]["AI"][dscp] == priority
        assert tables["TC_TO_QUEUE_MAP"]["AI"][priority] == priority
        assert tables["TC_TO_PRIORITY_GROUP_MAP"]["AI"][priority] == priority
        maps_of = dict(tables["PORT_QOS_MAP"])
        assert maps_of.pop("global") == {"dscp_to_tc_map": "AI"}
        for port, maps in maps_of.items():
            assert maps["pfc_enable"] == maps["pfcwd_sw_enable"] == priority
            assert "wred_profile" in tables["QUEUE"][f"{port}|{priority}"]
            profile = tables["BUFFER_PG"][f"{port}|{priority}"]["profile"]
            assert "xoff" in tables["BUFFER_PROFILE"][profile]


def test_every_port_keeps_its_headroom_and_the_pool_is_what_is_left():
    """What the chip keeps, every port's headroom and the pool fill the MMU and no more.

    Twice 19 KiB of the pipeline, 10 KiB of mirrors and 9216 B of the egress profile a port,
    and 256 KiB of management, by buffer_pool_mellanox.lua.
    """
    tables = json.loads(_texts(ROCE, "sonic")["sonic/leaf-0000/config_db.json"])
    profile = tables["BUFFER_PROFILE"]["pg_lossless_profile"]
    assert int(profile["size"]) == int(profile["xon"]) + int(profile["xoff"])
    ports = resolver.layout(ROCE).radix
    kept = ports * (int(profile["size"]) + 2 * 19 * 1024 + 10 * 1024 + 9216) + 256 * 1024
    pools = tables["BUFFER_POOL"]
    pool = int(pools["ingress_lossless_pool"]["size"])
    assert "xoff" not in pools["ingress_lossless_pool"]
    assert kept + pool <= 158_229_504 < kept + pool + 1024
    assert pools["egress_lossless_pool"]["size"] == "158229504"


@pytest.mark.parametrize(("switch", "gbit", "table"), [
    ("sn3700", 200, 74_752), ("sn4600", 200, 74_752), ("sn4600c", 100, 63_488),
    ("sn5400", 200, 177_152), ("sn5600", 400, 303_104),
])  # fmt: skip
def test_a_lossless_group_is_as_large_as_in_the_table_of_the_switch(switch, gbit, table):
    """pg_profile_lookup.ini, 40 m, of each hwsku; weft's arithmetic may ask for more."""
    config, made = _lossless(switch, gbit)
    size = int(config["BUFFER_PROFILE"]["pg_lossless_profile"]["size"])
    asked = headroom(find("switches", switch), gbit / 8 * 1e9, 40, 9216).arithmetic_bytes
    assert size == max(table, asked + 19 * 1024)
    assert size == made.buffer.kept[0].each_bytes


@pytest.mark.parametrize(("switch", "gbit", "table"), [
    ("sn4700", 400, 124_928), ("sn5400", 400, None), ("sn5600", 800, 410_624),
])  # fmt: skip
def test_a_port_of_eight_lanes_reserves_the_pipeline_twice_and_a_frame(switch, gbit, table):
    """size = xoff + 2 x 19 KiB + a frame; the tables differ by the KiB that they round."""
    config, made = _lossless(switch, gbit)
    profile = config["BUFFER_PROFILE"]["pg_lossless_profile"]
    assert profile["xon"] == str(2 * 19 * 1024)
    assert int(profile["size"]) == int(profile["xoff"]) + 2 * 19 * 1024 + 9216
    if table and made.pause.headroom_bytes.number() == find("switches", switch).headroom_bytes[
        f"{gbit}Gb/s"
    ]["40m"]:  # fmt: skip
        assert 0 <= int(profile["size"]) - table <= 1024
    ports = made.buffer.kept[0].count
    assert ports * int(profile["size"]) == made.buffer.kept[0].bytes


def _lossless(switch: str, gbit: int):
    """Return the first switch of a small lossless fabric, and its plan."""
    cluster = preset("hgx_h100_roce", hosts=4)
    cluster = cluster.with_(
        host=cluster.host.with_(
            nic="connectx8" if gbit > 400 else "connectx7", nic_bytes_per_s=gbit / 8 * 1e9
        ),
        topology=cluster.topology.with_(switch=switch, kind="fat_tree"),
    )
    text = next(f.text for f in render(plan(cluster), ["sonic"]).files)
    return json.loads(text), plan(cluster)


def test_ports_of_sonic_are_those_of_their_cage():
    """As port_config.ini of Mellanox-SN5600-O128: the second port of cage 1 is etp1b."""
    tables = json.loads(_texts(ROCE, "sonic")["sonic/leaf-0000/config_db.json"])
    ports = tables["PORT"]
    found = {
        name: [ports[name][key] for key in ("alias", "index", "subport", "lanes")]
        for name in ("Ethernet0", "Ethernet4", "Ethernet8")
    }
    assert found == {
        "Ethernet0": ["etp1a", "1", "1", "0,1,2,3"],
        "Ethernet4": ["etp1b", "1", "2", "4,5,6,7"],
        "Ethernet8": ["etp2a", "2", "1", "8,9,10,11"],
    }
    assert tables["DEVICE_METADATA"]["localhost"]["hwsku"] == "Mellanox-SN5600-O128"
    modes = {row["brkout_mode"] for row in tables["BREAKOUT_CFG"].values()}
    assert modes == {"2x400G[200G,100G,50G,40G,25G,10G]"}
    assert len(tables["BREAKOUT_CFG"]) == 64
    assert {n: f"{r['name']} {r['port']}" for n, r in tables["DEVICE_NEIGHBOR"].items()} == {
        name: row["description"] for name, row in ports.items()
    }


def test_lanes_of_a_cage_may_lie_further_apart_than_its_ports_are_numbered():
    """As platform.json of the MSN4600C: Ethernet4 has the lanes 8 to 11."""
    tables = json.loads(_texts(preset("h100_tcp_100g", hosts=64).with_(
        topology=preset("h100_tcp_100g").topology.with_(switch="sn4600c")
    ), "sonic")["sonic/leaf-0000/config_db.json"])  # fmt: skip
    assert tables["PORT"]["Ethernet4"]["lanes"] == "8,9,10,11"
    assert tables["PORT"]["Ethernet4"]["alias"] == "etp2"


def test_every_group_of_peers_has_a_policy_each_way_that_lets_the_fabric_through():
    """RFC 8212: without one, eBGP exchanges nothing; each leaf's block has to pass."""
    cluster = preset("hgx_h100_roce", hosts=64)
    mesh = cluster.topology.with_(kind="dragonfly_plus", hosts_per_pod=16)
    for text in _texts(cluster.with_(topology=mesh), "sonic").values():
        tables = json.loads(text)
        pool = next(key for key in tables["PREFIX"] if key.startswith("FABRIC|10|"))
        network, lengths = pool.split("|")[2:]
        shortest, longest = map(int, lengths.split(".."))
        for key in tables.get("BGP_GLOBALS_AF_AGGREGATE_ADDR", {}):
            block = ip_network(key.rpartition("|")[2])
            assert block.subnet_of(ip_network(network))
            assert shortest <= block.prefixlen <= longest
        for row in tables["BGP_PEER_GROUP_AF"].values():
            assert row["route_map_in"] == ["FABRIC"]
            for name in row["route_map_in"] + row["route_map_out"]:
                assert tables["ROUTE_MAP"][f"{name}|10"]["route_operation"] == "permit"


def test_notifications_of_congestion_have_one_class_and_no_pause():
    texts = _texts(ROCE, "sonic", "linux_host")
    host = texts["linux_host/weft-rdma"]
    dscp = re.search(r"echo (\d+) .*cnp_dscp", host)[1]
    priority = re.search(r"echo (\d+) .*cnp_802p_prio", host)[1]
    tables = json.loads(texts["sonic/leaf-0000/config_db.json"])
    assert tables["DSCP_TO_TC_MAP"]["AI"][dscp] == priority
    assert tables["QUEUE"][f"Ethernet0|{priority}"]["scheduler"] == "scheduler.cnp"
    assert tables["SCHEDULER"]["scheduler.cnp"] == {"type": "STRICT"}
    assert tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] != priority


def test_an_mtu_of_a_host_fits_through_every_switch():
    texts = _texts(ROCE, "sonic", "linux_host")
    host = int(re.search(r"mtu (\d+)", texts["linux_host/weft-rdma"])[1])
    for path in (p for p in texts if p.startswith("sonic/")):
        ports = json.loads(texts[path])["PORT"].values()
        assert all(int(port["mtu"]) > host for port in ports)


def test_every_cable_is_named_by_both_its_switches():
    texts = _texts(preset("hgx_h100_roce", hosts=100), "sonic")
    ends = set()
    for path in texts:
        for port, row in json.loads(texts[path])["PORT"].items():
            peer, far = row["description"].split()
            ends.add((path.split("/")[1], port, peer, far))
    between = {end for end in ends if not end[2].startswith("host")}
    assert between
    assert all((peer, far, here, port) in ends for here, port, peer, far in between)
    hosts = [end for end in ends if end[2].startswith("host")]
    assert len({end[2:] for end in hosts}) == len(hosts) == 100 * 8


def test_every_nic_has_the_other_address_of_its_leafs_port():
    texts = _texts(ROCE, "sonic", "linux_host")
    gateways = {
        key.split("|")[1].removesuffix("/31")
        for path, text in texts.items()
        if path.startswith("sonic/leaf")
        for key in json.loads(text)["INTERFACE"]
        if "|" in key
    }
    rows = [line.split("\t") for line in texts["linux_host/rails.tsv"].splitlines()[1:]]
    assert {row[3] for row in rows} == gateways
    assert len({row[2] for row in rows}) == len(rows) == ROCE.hosts * ROCE.host.nics
    assert not {row[2].removesuffix("/31") for row in rows} & gateways


def test_sessions_of_bgp_are_those_between_switches():
    texts = _texts(ROCE, "sonic")
    layout = resolver.layout(ROCE)
    assert len(texts) == layout.switches
    sessions = sum(len(json.loads(text).get("BGP_NEIGHBOR", {})) for text in texts.values())
    assert sessions == 2 * layout.leaf_spine_cables


def test_no_two_switches_share_an_address_or_a_name():
    devices = [json.loads(text) for text in _texts(ROCE, "sonic").values()]
    for key in ("router_id",):
        values = [one["BGP_GLOBALS"]["default"][key] for one in devices]
        assert len(set(values)) == len(values)
    names = [one["DEVICE_METADATA"]["localhost"]["hostname"] for one in devices]
    assert len(set(names)) == len(names)


def test_lanes_of_ports_do_not_overlap():
    for text in _texts(ROCE, "sonic").values():
        ports = json.loads(text)["PORT"]
        lanes = [lane for row in ports.values() for lane in row["lanes"].split(",")]
        assert len(set(lanes)) == len(lanes)
        assert max(map(int, lanes)) < 512


@pytest.mark.parametrize("name", ["hgx_h100_roce", "dgx_h100", "h100_tcp_100g", "aws_p5"])
def test_rendering_twice_gives_the_same_bytes(name):
    cluster = preset(name, hosts=32)
    names = suitable(plan(cluster))
    assert names
    assert render(plan(cluster), names) == render(plan(cluster.with_()), names)


NAMED = ["nccl", "linux_host", "slurm", "ansible", "cumulus", "launch", "sonic"]


@cache
def _plain():
    return render(plan(ROCE.with_(hosts=2, name="plain")), NAMED)


@settings(deadline=None, max_examples=50)
@given(name=st.text(max_size=80) | st.from_regex(r"[a-z0-9._-]{1,70}", fullmatch=True))
def test_no_name_of_a_cluster_can_add_a_line(name):
    try:
        files = render(plan(ROCE.with_(hosts=2, name=name)), NAMED)
    except SpecError:
        return
    for file, other in zip(files.files, _plain().files, strict=True):
        assert len(file.text.splitlines()) == len(other.text.splitlines())
        assert file.text.replace(f"of {name}, by", "of plain, by") == other.text


HOSTILE = [
    "a\nb", "a\r", "$(reboot)", "`id`", 'a"b', "a;b", "a b", "", "#",
    "a\x00", "a\u2028b", "a'b",
    "a\\", "ä",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_refused(text):
    with pytest.raises(SpecError, match="cluster name"):
        plan(ROCE.with_(name=text))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_of_a_variable_is_refused(text):
    with pytest.raises(SpecError, match="NCCL_DEBUG_FILE"):
        plan(ROCE.with_(nccl=ROCE.nccl.with_(env={"NCCL_DEBUG_FILE": text})))


@pytest.mark.parametrize("name", ["LD_PRELOAD", "NCCL_X\nLD_PRELOAD", "nccl_debug", "NCCL_"])
def test_a_hostile_name_of_a_variable_is_refused(name):
    with pytest.raises(SpecError, match=r"nccl\.env"):
        plan(ROCE.with_(nccl=ROCE.nccl.with_(env={name: "1"})))


def test_a_hostile_device_is_refused():
    env = {"NCCL_IB_HCA": "=" + ",".join(["^"] * 8)}
    with pytest.raises(SpecError, match="NCCL_IB_HCA"):
        plan(ROCE.with_(nccl=ROCE.nccl.with_(env=env)))


@pytest.mark.parametrize("version", ["2.27\n", "new", "2", "2.27.3-rc1"])
def test_a_version_of_nccl_that_is_none_is_refused(version):
    with pytest.raises(SpecError, match=r"nccl\.version"):
        plan(ROCE.with_(nccl=ROCE.nccl.with_(version=version)))


@pytest.mark.parametrize("name", target_names())
def test_a_target_says_how_far_each_of_its_files_is_proven(name):
    target = plugins.load(targets, name, Target)
    made = [
        {file.path.split("/")[-1] for file in render(plan(cluster), [name]).files}
        for cluster in (ROCE, INFINIBAND)
        if reason_against(name, plan(cluster)) is None
    ]
    said = {part.split("/")[-1] for key in target.proofs for part in key.split(", ")}
    assert set().union(*made) <= said


@pytest.mark.parametrize(("cluster", "name", "message"), [
    (INFINIBAND, "sonic", "sonic is for an Ethernet underlay; the fabric is infiniband"),
    (ROCE, "opensm", "opensm is for an InfiniBand subnet; the fabric is roce"),
    (preset("oci_h100"), "air", "an Ethernet underlay; the provider runs this network"),
    (preset("aws_p5"), "linux_host", "cannot express a network that the provider runs"),
    (preset("gcp_a3_high"), "nccl_tuner", "brings a tuner of its own"),
])  # fmt: skip
def test_a_target_refuses_what_it_cannot_write_and_says_which_can(cluster, name, message):
    with pytest.raises(SpecError, match=message) as refused:
        render(plan(cluster), [name])
    assert "Targets for this cluster: " in str(refused.value)


def _on(switch: str):
    return ROCE.with_(hosts=16, topology=ROCE.topology.with_(switch=switch))


def test_sonic_refuses_a_switch_whose_lanes_or_buffer_are_unknown():
    lossless = preset("hgx_h100_roce", hosts=16)
    slow = lossless.with_(host=lossless.host.with_(nic_bytes_per_s=12.5e9))
    slow = slow.with_(topology=slow.topology.with_(switch="sn4600c"))
    assert reason_against("sonic", plan(slow)) is None
    slow = slow.with_(topology=slow.topology.with_(switch="sn5640"))
    slow = slow.with_(host=slow.host.with_(nic_bytes_per_s=25e9))
    assert "hwsku of sn5640 with ports of 400 Gb/s, not of 200" in reason_against(
        "sonic", plan(slow)
    )
    assert "platform.json" in reason_against("sonic", plan(_on("sn5610")))
    assert "lanes of" in reason_against("sonic", plan(_on("arista_7060x6_64pe")))


def test_an_unknown_target_is_named_with_those_that_there_are():
    with pytest.raises(UnknownName, match="opensm"):
        render(plan(ROCE), ["iosxe"])


def test_the_roots_are_the_guids_of_the_top_switches():
    spines = resolver.layout(INFINIBAND).spine
    guids = {f"spine-{n:04d}": f"0x7cfe900303{n:04x}00" for n in range(spines)}
    texts = _texts(INFINIBAND, "opensm", **guids)
    assert texts["opensm/root_guid.conf"].split() == list(guids.values())
    assert "root_guid_file" in texts["opensm/opensm.master.conf"]
    guids.popitem()
    with pytest.raises(SpecError, match="no spine-"):
        _texts(INFINIBAND, "opensm", **guids)


def test_there_is_one_master_and_one_standby_below_it():
    texts = _texts(INFINIBAND, "opensm")
    priority = {
        role: int(re.search(r"sm_priority (\d+)", texts[f"opensm/opensm.{role}.conf"])[1])
        for role in ("master", "standby")
    }
    assert 15 >= priority["master"] > priority["standby"] >= 0


def test_the_lane_that_nccl_asks_for_is_its_own_on_every_link():
    texts = _texts(INFINIBAND, "opensm", "nccl")
    sl = int(re.search(r"NCCL_IB_SL=(\d+)", texts["nccl/nccl.conf"])[1])
    conf = texts["opensm/opensm.master.conf"]
    lanes = re.search(r"qos_sl2vl (\S+)", conf)[1].split(",")
    assert len(lanes) == 16
    assert [number for number, lane in enumerate(lanes[:15]) if lane == lanes[sl]] == [sl]
    assert int(lanes[sl]) < int(re.search(r"qos_max_vls (\d+)", conf)[1])


def test_adaptive_routing_is_on_every_level_and_sharp_as_asked():
    """NCCL has a level of its own; UCX, NVSHMEM and DeepEP use level 0."""
    shared = INFINIBAND.with_(fabric=INFINIBAND.fabric.with_(in_network_reduction=True))
    for cluster, said in ((INFINIBAND, "| SHARP | off |"), (shared, "| SHARP | on |")):
        texts = _texts(cluster, "ufm", "nccl")
        mask = re.search(r"ar_sl_mask (\S+)", texts["ufm/mlnxsm-overlay.conf"])[1]
        assert int(mask, 16) == 0xFFFF
        assert said in texts["ufm/ufm.md"]
        assert ("NCCL_COLLNET_ENABLE" in texts["ufm/ufm.md"]) == ("on" in said)


def test_slurm_names_every_host_once():
    for cluster in (ROCE, INFINIBAND, preset("hgx_h100_roce", hosts=65), preset("dgx_h100")):
        text = _texts(cluster, "slurm")["slurm/topology.conf"]
        counted = 0
        for first, last in re.findall(r"Nodes=host-\[(\d+)-(\d+)\]", text):
            assert int(first) == counted
            counted = int(last) + 1
        counted += len(re.findall(r"Nodes=host-\d+$", text, re.MULTILINE))
        assert counted == cluster.hosts


def test_slurm_joins_pods_under_one_fabric():
    text = _texts(preset("hgx_h100_roce", hosts=4096), "slurm")["slurm/topology.conf"]
    assert text.splitlines()[-1].startswith("SwitchName=fabric Switches=pod[0000-")


@pytest.mark.parametrize("cluster", [ROCE.with_(hosts=2), INFINIBAND.with_(hosts=2)])
def test_small_configurations_are_as_they_were_read(cluster):
    for path, text in _texts(cluster, *suitable(plan(cluster))).items():
        if path.startswith("sonic/") and "leaf-0000" not in path:
            continue
        if path.startswith("prometheus/weft"):  # holds predictions; promtool tests it
            continue
        expected = SAMPLES / cluster.name / path
        if not expected.exists():
            expected.parent.mkdir(parents=True, exist_ok=True)
            expected.write_text(text, "utf-8")
            pytest.fail(f"{expected} was written: read it, then commit it")
        assert text == expected.read_text("utf-8"), path


def test_writing_twice_changes_nothing_and_leaves_nothing_beside(tmp_path):
    made = render(plan(ROCE.with_(hosts=4)), ["nccl", "linux_host"])
    write(made, tmp_path)
    first = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    write(made, tmp_path)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == first
    assert len(first) == len(made.files) + 1
    assert (tmp_path / "linux_host" / "weft-rdma").stat().st_mode & 0o111


def test_a_smaller_cluster_takes_its_old_switches_away_but_not_what_was_changed(tmp_path):
    write(render(plan(ROCE), ["sonic", "nccl"]), tmp_path)
    changed = tmp_path / "sonic" / "spine-0001" / "config_db.json"
    changed.write_text("{}")
    write(render(plan(ROCE.with_(hosts=2)), ["sonic"]), tmp_path)
    left = {str(p.relative_to(tmp_path / "sonic")) for p in tmp_path.glob("sonic/*/*")}
    assert "leaf-0000/config_db.json" in left
    assert "spine-0000/config_db.json" not in left
    assert "spine-0001/config_db.json" in left
    assert (tmp_path / "nccl" / "nccl.conf").is_file()


def test_a_failure_half_way_leaves_the_old_files(tmp_path):
    write(render(plan(ROCE.with_(hosts=2)), ["nccl"]), tmp_path)
    before = (tmp_path / "nccl" / "nccl.conf").read_bytes()
    (tmp_path / "slurm").write_text("in the way")
    other = ROCE.with_(hosts=2, name="other")
    with pytest.raises(Unreadable, match="cannot be written"):
        write(render(plan(other), ["nccl", "slurm"]), tmp_path)
    assert (tmp_path / "nccl" / "nccl.conf").read_bytes() == before
    assert not list(tmp_path.rglob(".*"))


@pytest.mark.parametrize("text", ["not json", "[1]"])
def test_a_broken_manifest_is_said(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(SpecError, match="not a manifest"):
        write(render(plan(ROCE.with_(hosts=2)), ["nccl"]), tmp_path)


def test_a_manifest_cannot_point_outside(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    folder = tmp_path / "out"
    folder.mkdir()
    sha = hashlib.sha256(b"kept").hexdigest()
    (folder / MANIFEST).write_text(json.dumps({"../victim": sha, str(victim): sha}))
    write(render(plan(ROCE.with_(hosts=2)), ["nccl"]), folder)
    assert victim.read_text() == "kept"


def test_a_file_of_the_user_is_replaced_with_force_alone(tmp_path):
    made = render(plan(ROCE.with_(hosts=2)), ["nccl"])
    mine = tmp_path / "nccl" / "nccl.conf"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(Unreadable, match=r"nccl\.conf: not written by weft"):
        write(made, tmp_path)
    assert mine.read_text() == "mine"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [mine]
    write(made, tmp_path, force=True)
    rendered = mine.read_text()
    assert rendered != "mine"
    mine.write_text(rendered + "# edited\n")
    with pytest.raises(Unreadable, match="changed since"):
        write(made, tmp_path)


@pytest.mark.parametrize("linked", ["nccl", "nccl/nccl.conf", MANIFEST])
def test_no_symbolic_link_is_written_through(tmp_path, linked):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "out"
    (elsewhere / "inside").mkdir(parents=True)
    (elsewhere / "inside" / "file").write_text("kept")
    place = folder / linked
    place.parent.mkdir(parents=True)
    place.symlink_to(elsewhere / "inside" / ("file" if place.suffix else ""))
    with pytest.raises(Unreadable, match="symbolic link"):
        write(render(plan(ROCE.with_(hosts=2)), ["nccl"]), folder, force=True)
    assert [p.name for p in elsewhere.rglob("*")] == ["inside", "file"]
    assert (elsewhere / "inside" / "file").read_text() == "kept"


@pytest.mark.slow
def test_a_thousand_hosts_render():
    cluster = preset("hgx_h100_roce", hosts=1024)
    made = render(plan(cluster), suitable(plan(cluster)))
    assert len(made.files) > resolver.layout(cluster).switches


def test_all_targets_are_those_that_can_write_the_plan_and_the_others_say_why_not():
    made = plan(preset("dgx_h100", hosts=4))
    result = render(made, ["all"])
    written = {file.path.partition("/")[0] for file in result.files}
    left = {one.target: one.reason for one in result.left_out}
    exports = {
        name for name in suitable(made) if not plugins.load(targets, name, Target).configures
    }
    assert written == set(suitable(made)) - exports
    assert written | left.keys() | exports == set(target_names())
    assert "the fabric is infiniband" in left["sonic"]
    assert render(made, ["nccl"]).left_out == ()


def test_an_environment_without_variables_says_why():
    fabric, host = ROCE.fabric.with_(kind="ultra_ethernet"), ROCE.host.with_(nic="pollara")
    cluster = ROCE.with_(fabric=fabric, host=host)
    for text in _texts(cluster, "nccl").values():
        assert "plug-in" in text
        assert all(line.startswith("#") for line in text.splitlines())


@pytest.mark.parametrize(
    ("interfaces", "value"), [((), "^lo,docker,"), (("ens5f0",), "=ens5f0")]
)
def test_over_tcp_the_interfaces_are_named_outside_kubernetes_as_well(interfaces, value):
    cluster = preset("a100_tcp_100g", hosts=4)
    if interfaces:
        cluster = cluster.with_(kubernetes=Kubernetes(interfaces=interfaces))
    texts = _texts(cluster, "nccl", "launch")
    assert f"\nNCCL_SOCKET_IFNAME={value}" in texts["nccl/nccl.conf"]
    for name in ("nccl/nccl.env", "launch/mpirun.sh"):
        assert f'NCCL_SOCKET_IFNAME="{value}' in texts[name]


def test_the_user_names_the_interfaces_of_tcp_last():
    cluster = preset("a100_tcp_100g", hosts=4)
    cluster = cluster.with_(nccl=cluster.nccl.with_(env={"NCCL_SOCKET_IFNAME": "=bond0"}))
    assert "\nNCCL_SOCKET_IFNAME==bond0\n" in _texts(cluster, "nccl")["nccl/nccl.conf"]


def test_over_rdma_no_interface_is_named_outside_kubernetes():
    assert "SOCKET_IFNAME" not in _texts(ROCE, "nccl")["nccl/nccl.conf"]


MIXED = ROCE.with_(topology=ROCE.topology.with_(kind="leaf_spine"))


@pytest.mark.parametrize("hosts", [1, 3, 72])
@pytest.mark.parametrize("cluster", [ROCE, MIXED], ids=["rails", "one leaf for all rails"])
def test_the_main_table_leads_to_every_rail_by_one_nic(cluster, hosts):
    """Each address of another host has one way; of rails with own leaves, by their own NIC."""
    texts = _texts(cluster.with_(hosts=hosts), "linux_host")
    routes = {
        ip_network(prefix): device
        for device, prefixes in re.findall(
            r'(\w+)\) prefixes="([^"]+)"', texts["linux_host/weft-rdma"]
        )
        for prefix in prefixes.split()
    }
    assert len(routes) <= 64
    apart = len(set(routes.values())) > 1
    assert apart == (cluster is ROCE and hosts > 3)
    for row in texts["linux_host/rails.tsv"].splitlines()[1:]:
        _, device, address, _, _ = row.split("\t")
        ways = [by for net, by in routes.items() if ip_interface(address).ip in net]
        assert ways == [device if apart else "mlx5_0"]
    assert all(net.prefixlen < 31 for net in routes), "a link's own route would be replaced"


LENGTHS = CableLengths(host=3.0, spine=40.0, core=250.0)


def test_headroom_of_sonic_follows_the_cable_of_each_port_and_closes_against_the_mmu():
    """Sizes of all ports (XON and headroom) and the pool are at most the MMU, on every tier."""
    cluster = preset("hgx_h100_roce", hosts=128)
    cluster = cluster.with_(
        topology=cluster.topology.with_(hosts_per_pod=64, longest_cable_m=LENGTHS)
    )
    made = plan(cluster)
    rooms = {kind: one.headroom_bytes.text() for kind, one in made.pause.links.items()}
    assert rooms["host"] != rooms["spine"] != rooms["core"]
    tiers = set()
    for path, text in _texts(cluster, "sonic").items():
        tables = json.loads(text)
        tiers.add(path.split("/")[1].partition("-")[0])
        used = 0
        for port, row in tables["DEVICE_NEIGHBOR"].items():
            pair = {path.split("/")[1].partition("-")[0], row["name"].partition("-")[0]}
            kind = "host" if "host" in pair else "spine" if "leaf" in pair else "core"
            profile = tables["BUFFER_PROFILE"][tables["BUFFER_PG"][f"{port}|3"]["profile"]]
            assert profile["xoff"] == rooms[kind]
            assert tables["CABLE_LENGTH"]["AZURE"][port] == {"host": "5m", "spine": "40m",
                                                             "core": "300m"}[kind]  # fmt: skip
            used += int(profile["size"])
        pool = int(tables["BUFFER_POOL"]["ingress_lossless_pool"]["size"])
        assert used + pool <= made.buffer.whole_bytes, path
    assert tiers == {"leaf", "spine", "core"}


def test_hosts_and_cumulus_take_the_length_of_their_own_cables():
    """Per port as SONiC has it; the longest stays the default of the switch."""
    cluster = preset("hgx_h100_roce", hosts=128)
    listed = cluster.with_(
        topology=cluster.topology.with_(hosts_per_pod=64, longest_cable_m=LENGTHS)
    )
    sonic, seen = _texts(listed, "sonic"), set()
    for path, text in _texts(listed, "cumulus").items():
        name = path.split("/")[1]
        words = [line.split() for line in text.splitlines() if line.startswith("nv set")]
        lengths = {w[4]: w[6] for w in words if w[2:4] == ["qos", "pfc"] and len(w) > 6
                   and w[5] == "cable-length"}  # fmt: skip
        profiles = {port: w[7] for w in words if w[4:7] == ["qos", "pfc", "profile"]
                    for port in w[3].split(",")}  # fmt: skip
        ports = [w[3] for w in words if w[2] == "interface" and w[4] == "description"]
        asked = json.loads(sonic[f"sonic/{name}/config_db.json"])["CABLE_LENGTH"]["AZURE"]
        given = [f"{lengths[profiles.get(port, 'default-global')]}m" for port in ports]
        assert given == list(asked.values()), path
        seen |= set(given)
    assert seen == {"5m", "40m", "300m"}
    assert "--cable_len 5 " in "".join(_texts(listed, "linux_host").values())
    known = listed.with_(host=listed.host.with_(server="dgx_h100"))
    assert "cableLen: 5\n" in "".join(_texts(known, "kubernetes").values())


def test_one_length_for_all_links_is_the_same_as_before():
    cluster = preset("hgx_h100_roce", hosts=8)
    alike = CableLengths(host=30.0, spine=30.0, core=30.0)
    listed = cluster.with_(topology=cluster.topology.with_(longest_cable_m=alike))
    assert plan(listed).pause.headroom_bytes.value == plan(cluster).pause.headroom_bytes.value
    assert plan(listed).pause.pool_bytes.value == plan(cluster).pause.pool_bytes.value


def test_validation_is_stated_only_for_files_that_were_written():
    """Without tenants there are no namespaces; without PCI addresses NICs are not set."""
    for cluster in (ROCE, INFINIBAND):
        made = render(plan(cluster), suitable(plan(cluster)))
        written = {(file.path.split("/")[0], file.path.split("/")[-1]) for file in made.files}
        for one in made.proofs:
            for kind in one.file.split(", "):
                assert (one.target, kind.split("/")[-1]) in written
    stated = {one.file for one in made.proofs if one.target in {"kubernetes", "slurm"}}
    assert stated.isdisjoint({"05-tenants.yaml", "tenants.conf"})


@pytest.mark.parametrize("change", [lambda file: file.write_text("mine"), Path.unlink])
def test_the_manifest_vouches_for_no_file_that_changed_since(change, tmp_path):
    made = plan(INFINIBAND)
    write(render(made, ["slurm"]), tmp_path)
    change(tmp_path / "slurm" / "gres.conf")
    write(render(made, ["opensm"]), tmp_path)
    listed = json.loads((tmp_path / MANIFEST).read_text())["files"]
    assert "slurm/topology.conf" in listed
    assert "slurm/gres.conf" not in listed
    assert (tmp_path / "slurm" / "topology.conf").exists()

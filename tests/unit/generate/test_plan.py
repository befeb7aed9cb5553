"""The plan: every number once, and all that must agree agrees."""

import dataclasses
import re
import subprocess
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import units
from weft.catalogue import all_of
from weft.errors import Infeasible, SpecError
from weft.generate.host import rented_from
from weft.generate.lossless import marking
from weft.generate.plan import Feature, lossless, plan
from weft.generate.planned import SOURCES
from weft.generate.switch_system import switch_systems
from weft.generate.target import render, target_names
from weft.network import network as resolver
from weft.network.fabric import find
from weft.network.headroom import cable_class_m, chip, headroom
from weft.records import table
from weft.spec.cluster import Nccl, Tenant
from weft.spec.load import preset, presets

PRESETS = presets()
ETHERNET = [
    name
    for name in PRESETS
    if preset(name).fabric.kind == "roce" and rented_from(preset(name)) is None
]


def _with_env(name: str, **env: str):
    cluster = preset(name)
    return cluster.with_(nccl=cluster.nccl.with_(env=env))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_plan_whose_values_have_reasons_and_sources(name):
    numbers = dict(plan(preset(name)).numbers())
    assert numbers
    for path, one in numbers.items():
        assert one.reason, path
        assert one.source in SOURCES, path


def test_every_row_of_numbers_has_a_reason_a_known_source_and_a_use():
    """Code names the part of each row, and each row that has no value of its own."""
    package = files("weft.generate")
    code = "".join(
        one.read_text("utf-8") for one in package.iterdir() if one.name.endswith(".py")
    )
    for part, rows in table("weft.generate", "numbers").items():
        assert re.search(rf'["]{part}[".]', code), part
        for name, row in rows.items():
            assert row["reason"], (part, name)
            assert row.get("source", "weft") in SOURCES, (part, name)
            assert "value" in row or re.search(rf"\b{name}\b", code), (part, name)


def test_every_target_has_a_row_and_every_row_a_target():
    assert sorted(table("weft.generate", "targets")) == target_names()


@pytest.mark.parametrize("name", PRESETS)
def test_the_sources_of_a_plan_are_those_that_its_values_name(name):
    made = plan(preset(name))
    assert {source.key for source in made.sources} >= {one.source for _, one in made.numbers()}
    assert made.provenance.sources == tuple(source.key for source in made.sources)


def test_every_source_is_used_by_some_plan():
    env = {"NCCL_ALGO": "Ring", "NCCL_IB_TC": "96", "NCCL_DEBUG": "WARN"}
    clusters = [preset(name) for name in PRESETS] + [_with_env("hgx_h100_roce", **env)]
    red = (Tenant(name="red", hosts=4),)
    clusters += [preset("hgx_h100_roce").with_(hosts=512, tenants=red)]
    tuned = {"settings": {"settings": {"congestion": "dcqcn"}}}
    clusters += [preset("hgx_h100_roce", fabric=tuned)]
    for switch in ("cisco_n9364e_sg2", "arista_7060x6_32pe", "juniper_qfx5240_64od"):
        clusters += [preset("hgx_h100_roce", topology={"switch": switch})]
    used = {source.key for cluster in clusters for source in plan(cluster).sources}
    used |= {one.watchdog.source for one in switch_systems().values()}
    assert used == set(SOURCES)


@pytest.mark.parametrize("name", ETHERNET)
@given(cable_m=st.floats(1, 300))
def test_marking_begins_before_it_is_certain_and_both_before_any_pause(name, cable_m):
    """Kmin < Kmax < XOFF, where XOFF = alpha pool / (1 + alpha ports), alpha 1."""
    cluster = preset(name)
    made = plan(cluster.with_(topology=cluster.topology.with_(cable_m=cable_m)))
    kmin, kmax = made.marking.kmin_bytes.whole(), made.marking.kmax_bytes.whole()
    assert 0 < kmin < kmax < made.pause.xoff_bytes.whole()
    ports = resolver.layout(made.cluster).radix
    pool = made.pause.pool_bytes.whole()
    assert made.pause.xoff_bytes.whole() <= pool / (1 + ports)
    held = pool + ports * made.pause.headroom_bytes.whole()
    assert held <= resolver.layout(made.cluster).site.switch.buffer_bytes.value


@pytest.mark.parametrize("name", ETHERNET)
@given(cable_m=st.floats(1, 300))
def test_headroom_is_never_less_than_the_arithmetic(name, cable_m):
    """Headroom covers the cable both ways, two frames and the peer's response time."""
    cluster = preset(name)
    cluster = cluster.with_(topology=cluster.topology.with_(cable_m=cable_m))
    made = plan(cluster)
    rate = units.rate_from_gbit(made.link.rate_gbit_per_s.number())
    planned_m = made.pause.cable_m.number()
    assert planned_m >= cable_m
    least = 2 * planned_m / 198e6 * rate + 2 * made.link.switch_mtu_bytes.whole() + 394 * 64
    assert made.pause.headroom_bytes.whole() >= least


@pytest.mark.parametrize("name", [n for n, s in all_of("switches").items() if s.headroom_bytes])
def test_headroom_is_never_less_than_the_table_of_the_switch(name):
    switch = all_of("switches")[name]
    for rate, lengths in switch.headroom_bytes.items():
        for length, published in lengths.items():
            needed = headroom(switch, units.parse_rate(rate), units.parse_length(length), 9216)
            assert needed.published_bytes == published
            assert needed.headroom_bytes >= published
            assert str(int(published)) in needed.shown


@pytest.mark.parametrize("name", ["sn3700", "sn4700", "sn5600", "sn5610", "sn6600"])
@pytest.mark.parametrize("gbit", [100, 200, 400, 800])
@pytest.mark.parametrize("cable_m", [5, 40, 300])
def test_headroom_is_never_less_than_in_the_model_of_the_switches_software(name, gbit, cable_m):
    """xoff = 1024 + (mtu + cable + MAC + peer + tile) x occupancy, + 2 KiB, + 18 KiB on chip 6.

    buffer_headroom_mellanox.lua of SONiC with its usual pattern of traffic, no headroom shared.
    """
    switch = all_of("switches")[name]
    generation = int(chip(switch)[-1])
    cell = {2: 144, 3: 144, 4: 192, 5: 192, 6: 256}[generation]
    cable = 2 * cable_m * gbit / 8 * 1e9 / 198e6
    peer = {100: 394, 200: 453, 400: 905, 800: 905}[gbit] * 64
    tile = gbit * 15 if generation in {4, 5} else 0
    small = 64 / 544
    occupancy = 1 - small + small * -(-cell // 64)
    xoff = 1024 + (9216 + cable + 0.8 * 1024 + peer + tile) * occupancy + 2 * 1024
    xoff += 18 * 1024 if generation == 6 else 0
    assert headroom(switch, gbit / 8 * 1e9, cable_m, 9216).arithmetic_bytes >= xoff


def test_a_longer_cable_never_needs_less_headroom():
    switch = all_of("switches")["sn5600"]
    needed = [headroom(switch, 50e9, m, 9216).headroom_bytes for m in range(1, 300)]
    assert needed == sorted(needed)


def test_the_arithmetic_holds_against_the_model_that_sonic_computes_with():
    """SONiC's own model gives 117760 B at 400 Gb/s over 40 m on Spectrum-4.

    Ours takes a whole jumbo frame at both ends where theirs takes one and 1 KiB.
    """
    needed = headroom(all_of("switches")["sn5600"], 50e9, 40, 9216)
    assert 117_760 <= needed.arithmetic_bytes <= 117_760 + 1.3 * 9216


def test_a_switch_without_a_table_gets_the_arithmetic():
    needed = headroom(all_of("switches")["arista_7060x6_64pe"], 50e9, 40, 9216)
    assert needed.published_bytes is None
    assert needed.headroom_bytes == needed.arithmetic_bytes
    assert "no table" in needed.shown


def test_a_rate_above_the_table_of_response_times_takes_longer_in_proportion():
    slow, fast = (headroom(all_of("switches")["sn6600"], r, 5, 9216) for r in (100e9, 200e9))
    assert fast.response_bytes == 2 * slow.response_bytes


def test_chips_are_read_from_the_catalogue():
    assert chip(all_of("switches")["sn5600"]) == "Spectrum-4"
    assert chip(all_of("switches")["sn2201"]) == "Spectrum"
    assert cable_class_m(5000) == 5000


def test_one_class_everywhere_follows_from_the_traffic_class_that_the_user_gives():
    made = plan(_with_env("hgx_h100_roce", NCCL_IB_TC="96"))
    assert made.labels.dscp.whole() == 24
    assert made.labels.traffic_class.whole() // 4 == 24
    assert made.nccl.settings["NCCL_IB_TC"].value == made.labels.traffic_class.value


@pytest.mark.parametrize(("value", "message"), [
    ("300", "0 to 255"), ("many", "0 to 255"), ("0", "other traffic"), ("192", "other traffic"),
])  # fmt: skip
def test_a_traffic_class_that_cannot_be_is_refused(value, message):
    with pytest.raises(SpecError, match=message):
        plan(_with_env("hgx_h100_roce", NCCL_IB_TC=value))


@pytest.mark.parametrize(("name", "variable", "value"), [
    ("dgx_h100", "NCCL_ALGO", "Ring"),
    ("dgx_h100", "NCCL_PROTO", "Simple"),
    ("dgx_h100", "NCCL_IB_GID_INDEX", "3"),
    ("dgx_h100", "NCCL_IB_TC", "106"),
    ("dgx_h100", "NCCL_IB_DISABLE", "1"),
    ("hgx_h100_roce", "NCCL_IB_GID_INDEX", "3"),
])  # fmt: skip
def test_folklore_is_left_out_and_says_why(name, variable, value):
    made = plan(_with_env(name, **{variable: value}))
    assert variable not in made.nccl.settings
    assert [one.name for one in made.nccl.refused] == [variable]
    assert made.nccl.refused[0].reason


def test_an_old_nccl_may_be_told_its_gid():
    cluster = preset("hgx_h100_roce").with_(
        nccl=Nccl(version="2.18.1", env={"NCCL_IB_GID_INDEX": "3"})
    )
    made = plan(cluster)
    assert made.nccl.settings["NCCL_IB_GID_INDEX"].value == "3"
    assert "show_gids" in made.nccl.gid_index.text()


def test_what_the_user_sets_otherwise_stays():
    made = plan(_with_env("dgx_h100", NCCL_DEBUG="WARN"))
    assert made.nccl.settings["NCCL_DEBUG"].source == "cluster"


def test_the_users_list_of_devices_names_the_rails():
    listed = "mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"
    made = plan(_with_env("dgx_h100", NCCL_IB_HCA=f"={listed}"))
    assert made.names.devices.value == listed


def test_no_value_is_set_for_nccl_that_is_its_default():
    """On InfiniBand only the devices and the lane are to be said."""
    assert set(plan(preset("dgx_h100")).nccl.settings) == {"NCCL_IB_HCA", "NCCL_IB_SL"}


def test_in_network_reduction_and_rails_apart_are_told_to_nccl():
    cluster = preset("dgx_h100", hosts=4)
    shared = cluster.with_(fabric=cluster.fabric.with_(in_network_reduction=True))
    assert plan(shared).nccl.settings["NCCL_COLLNET_ENABLE"].value == 1
    apart = cluster.with_(topology=cluster.topology.with_(kind="rail_only"))
    assert plan(apart).nccl.settings["NCCL_CROSS_NIC"].value == 0


def test_adaptive_routing_on_roce_is_told_to_nccl_instead_of_more_queue_pairs():
    cluster = preset("hgx_h100_roce", hosts=512)
    assert "NCCL_IB_QPS_PER_CONNECTION" in plan(cluster).nccl.settings
    adaptive = cluster.with_(fabric=cluster.fabric.with_(load_balancing="adaptive"))
    assert "NCCL_IB_ADAPTIVE_ROUTING" in plan(adaptive).nccl.settings
    assert "NCCL_IB_QPS_PER_CONNECTION" not in plan(adaptive).nccl.settings


RENTED = [name for name in PRESETS if rented_from(preset(name)) is not None]


@pytest.mark.parametrize("name", RENTED)
def test_a_rented_network_is_its_providers(name):
    """No switch, no subnet manager and no address there is the user's to configure."""
    made = plan(preset(name))
    assert made.features == {Feature.PROVIDER}
    assert (made.pause, made.marking, made.dcqcn, made.subnet, made.underlay) == (None,) * 5
    assert "NCCL_IB_HCA" not in made.nccl.settings


@pytest.mark.parametrize(("name", "settings"), [
    ("aws_p5", {"FI_EFA_USE_HUGE_PAGE": "0", "NCCL_NET": "Libfabric"}),
    ("oci_h100", {"NCCL_IB_TC": "41", "NCCL_IB_TIMEOUT": "22"}),
    ("oci_a100", {"NCCL_IB_TC": "41", "NCCL_IB_QPS_PER_CONNECTION": "4"}),
    ("gcp_a3_ultra", {"NCCL_NET": "gIB", "NCCL_IB_TC": "52", "NCCL_IB_FIFO_TC": "84"}),
    ("gcp_a3_high", {"NCCL_NET": "GPUDirectTCPX_v7", "NCCL_PROTO": "Simple"}),
    ("gcp_a3_mega", {"NCCL_NET": "FasTrak", "NCCL_FASTRAK_CTRL_DEV": "eth0"}),
    ("azure_nd_h100_v5", {"NCCL_TOPO_FILE": "/opt/microsoft/ndv5-topo.xml"}),
    ("azure_nd_a100_v4", {"NCCL_TOPO_FILE": "/opt/microsoft/ndv4-topo.xml"}),
])  # fmt: skip
def test_every_cloud_has_what_its_provider_publishes(name, settings):
    made = plan(preset(name)).nccl
    assert {key: made.settings[key].text() for key in settings} == settings
    assert made.beside.reason


def test_no_cloud_with_a_plug_in_falls_back_to_sockets():
    """NCCL stops where the network that NCCL_NET names is not there; RDMA needs no plug-in."""
    for cluster in map(preset, RENTED):
        own = {"efa": "Libfabric", "tcpx": "GPUDirectTCPX_v7", "tcpxo": "FasTrak"}
        wanted = own.get(cluster.fabric.kind)
        if cluster.host.server.startswith("gcp") and cluster.fabric.kind == "roce":
            wanted = "gIB"
        asked = plan(cluster).nccl.settings.get("NCCL_NET")
        assert (asked.text() if asked else None) == wanted, cluster.name


PUBLISHED = {
    "aws_p5": {"FI_EFA_USE_HUGE_PAGE": "0"},
    "azure_nd_h100_v5": {
        "NCCL_TOPO_FILE": "/opt/microsoft/ndv5-topo.xml", "NCCL_IB_PCI_RELAXED_ORDERING": "1",
        "NCCL_SOCKET_IFNAME": "eth0"},
    "gcp_a3_ultra": {
        "NCCL_NET": "gIB", "NCCL_CROSS_NIC": "0", "NCCL_NET_GDR_LEVEL": "PIX",
        "NCCL_P2P_NET_CHUNKSIZE": "131072", "NCCL_NVLS_CHUNKSIZE": "524288",
        "NCCL_IB_ADAPTIVE_ROUTING": "1", "NCCL_IB_QPS_PER_CONNECTION": "4",
        "NCCL_IB_TC": "52", "NCCL_IB_FIFO_TC": "84"},
    "gcp_a3_mega": {
        "NCCL_FASTRAK_CTRL_DEV": "eth0",
        "NCCL_FASTRAK_IFNAME": "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8",
        "NCCL_FASTRAK_NUM_FLOWS": "2", "NCCL_FASTRAK_USE_SNAP": "1",
        "NCCL_FASTRAK_USE_LLCM": "1", "NCCL_SOCKET_IFNAME": "eth0", "NCCL_CROSS_NIC": "0",
        "NCCL_ALGO": "Ring,Tree", "NCCL_PROTO": "Simple", "NCCL_MIN_CTAS": "4",
        "NCCL_P2P_NET_CHUNKSIZE": "524288", "NCCL_P2P_PCI_CHUNKSIZE": "524288",
        "NCCL_P2P_NVL_CHUNKSIZE": "1048576", "NCCL_BUFFSIZE": "8388608",
        "NCCL_NET_GDR_LEVEL": "PIX", "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
        "NCCL_NVLS_ENABLE": "0"},
    "oci_h100": {
        "NCCL_IB_TC": "41", "NCCL_IB_TIMEOUT": "22", "NCCL_IB_SPLIT_DATA_ON_QPS": "0",
        "NCCL_SOCKET_IFNAME": "eth0", "NCCL_CUMEM_ENABLE": "0",
        "NCCL_IGNORE_CPU_AFFINITY": "1"},
}  # fmt: skip
"""As each provider publishes them, in full; of Oracle without NCCL_IB_SL=0, which is NCCL's
default, and NCCL_IB_HCA, which is by shape."""
BY_NAME = {"Libfabric", "FasTrak"}
"""Set besides: NCCL_NET, so that NCCL stops where the plug-in is missing."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_cloud_sets_all_that_its_provider_publishes_and_nothing_else(name):
    made = {key: one.text() for key, one in plan(preset(name)).nccl.settings.items()}
    if made.get("NCCL_NET") in BY_NAME:
        del made["NCCL_NET"]
    assert made == PUBLISHED[name]


@pytest.mark.parametrize(("name", "words"), [
    ("aws_p5", ["RDMAV_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA", "NCCL_MIN_NCHANNELS"]),
    ("azure_nd_h100_v5", ["UCX_IB_PKEY", "UCX_IB_SL=1"]),
])  # fmt: skip
def test_advice_on_other_variables_is_a_comment(name, words):
    beside = plan(preset(name)).nccl.beside.reason
    assert all(word in beside for word in words)


@pytest.mark.parametrize(("name", "gid"), [("oci_h100", "3"), ("gcp_a3_ultra", None)])
def test_old_nccl_gets_the_gid_index_that_the_provider_publishes(name, gid):
    cluster = preset(name)
    assert "NCCL_IB_GID_INDEX" not in plan(cluster).nccl.settings
    old = plan(cluster.with_(nccl=cluster.nccl.with_(version="2.18.3"))).nccl
    asked = old.settings.get("NCCL_IB_GID_INDEX")
    assert (asked.text() if asked else None) == gid
    assert (old.gid_index is None) == (gid is not None)


def test_control_messages_have_a_class_of_their_own_only_where_the_provider_says_so():
    """NCCL_IB_FIFO_TC=185 is of other NICs than those that Oracle's H100 shapes have."""
    for name in ("oci_h100", "oci_a100"):
        assert "NCCL_IB_FIFO_TC" not in plan(preset(name)).nccl.settings


@pytest.mark.parametrize("name", ["gcp_a3_ultra", "gcp_a3_mega", "gcp_a3_high"])
def test_a_launch_without_the_providers_plug_in_stops_before_any_rank(name, tmp_path):
    texts = {file.path: file.text for file in render(plan(preset(name)), ["launch"]).files}
    (tmp_path / "torchrun").write_text("#!/bin/sh\necho started $LD_LIBRARY_PATH\n")
    (tmp_path / "torchrun").chmod(0o755)
    for folder, code in ((tmp_path, 0), (tmp_path / "none", 1)):
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NCCL_LIB_DIR": str(folder)}
        done = subprocess.run(
            ["sh", "-c", texts["launch/torchrun.sh"]], env=env, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == code
        assert (f"started {tmp_path}" in done.stdout) == (code == 0)
        assert ("is missing" in done.stderr) == (code == 1)


def test_pods_see_the_plug_in_that_the_provider_puts_on_the_host():
    files = render(plan(preset("gcp_a3_ultra", hosts=4)), ["kubernetes_jobs"]).files
    for file in files:
        if "perftest" not in file.path:
            assert "path: /home/kubernetes/bin/gib" in file.text, file.path
            assert "/usr/local/gib/lib64" in file.text, file.path


def test_the_class_of_a_cloud_gives_way_to_the_users():
    assert plan(preset("oci_h100")).labels.traffic_class.value == 41
    made = plan(_with_env("oci_h100", NCCL_IB_TC="106"))
    assert made.labels.dscp.value == 26


def test_virtual_machines_keep_acs_and_whole_machines_lose_it():
    kept = {name: plan(preset(name)).host.acs.text() for name in PRESETS}
    assert kept["azure_nd_h100_v5"] == kept["aws_p5"] == kept["gcp_a4"] == "kept"
    assert kept["oci_h100"] == kept["dgx_h100"] == kept["mi300x_roce"] == "off"


def test_sockets_of_a_cluster_reach_nccl():
    cluster = preset("h100_tcp_100g")
    cluster = cluster.with_(fabric=cluster.fabric.with_(sockets=8, socket_threads=4))
    settings = plan(cluster).nccl.settings
    assert settings["NCCL_SOCKET_NTHREADS"].value == 4
    assert settings["NCCL_NSOCKS_PERTHREAD"].value == 2


@pytest.mark.parametrize("name", ETHERNET)
def test_the_parts_of_the_buffer_add_up_to_it(name):
    made = plan(preset(name))
    kept = sum(one.count * one.each_bytes for one in made.buffer.kept)
    whole = kept + made.buffer.shared_bytes + made.buffer.unused_bytes
    assert whole == made.buffer.whole_bytes
    assert made.pause.pool_bytes.whole() == made.buffer.shared_bytes
    assert 0 <= made.buffer.unused_bytes < 1024


def test_a_buffer_too_small_for_the_headroom_is_infeasible():
    cluster = preset("hgx_h100_roce")
    cluster = cluster.with_(topology=cluster.topology.with_(cable_m=2000.0))
    with pytest.raises(Infeasible, match=r"shorten topology\.cable_m"):
        plan(cluster)


def test_a_port_that_pauses_before_it_can_mark_is_infeasible():
    """A lossless switch with next to no shared buffer cannot warn anybody in time."""
    network = resolver.layout(preset("hgx_h100_roce"))
    xoff = plan(preset("hgx_h100_roce")).pause.xoff_bytes
    little = dataclasses.replace(xoff, value=40_000)
    with pytest.raises(Infeasible, match="no room to mark"):
        marking(find("roce"), network, little, switch_systems()["sonic"])


def test_the_watchdog_waits_longer_on_a_switch_with_more_ports():
    """SONiC multiplies 200 ms by 1 + (ports - 1) // 32."""
    ports = resolver.layout(preset("hgx_h100_roce")).radix
    made = plan(preset("hgx_h100_roce")).pause
    assert made.watchdog_detection_ms.whole() == 200 * (1 + (ports - 1) // 32)
    assert made.watchdog_poll_ms.whole() <= min(1000, made.watchdog_detection_ms.whole())


DEFAULTS = {
    "sonic": (800, 800, 800, 1.0), "nvue": (100, 300, 300, 1.0), "eos": (100, 200, 200, 1.0),
    "nxos": (100, 100, 1000, 0.07), "junos": (100, 200, 200, 1.0),
}  # fmt: skip
"""Poll, detection and restoration in ms and Pmax on 128 ports, as each vendor documents."""


@pytest.mark.parametrize("name", DEFAULTS)
def test_watchdog_and_pmax_are_those_of_the_platform(name):
    stop, marks = lossless(preset("hgx_h100_roce"), switch_systems()[name])
    found = (stop.watchdog_poll_ms, stop.watchdog_detection_ms, stop.watchdog_restoration_ms)
    assert (*(one.whole() for one in found), marks.pmax_ratio.number()) == DEFAULTS[name]


@pytest.mark.parametrize("name", DEFAULTS)
def test_marking_before_pausing_is_claimed_only_where_weft_sets_pool_and_alpha(name):
    stop, marks = lossless(preset("hgx_h100_roce"), switch_systems()[name])
    claimed = "marking is certain before anybody is paused" in marks.kmax_bytes.reason
    assert claimed == (name == "sonic")
    assert not claimed or marks.kmax_bytes.whole() < stop.xoff_bytes.whole()
    assert claimed or "not claimed" in marks.kmax_bytes.reason


@given(hosts=st.integers(1, 2000))
def test_no_two_addresses_are_the_same_and_all_lie_in_the_pool(hosts):
    made = plan(preset("hgx_h100_roce").with_(hosts=hosts)).underlay
    layout = resolver.layout(preset("hgx_h100_roce").with_(hosts=hosts))
    blocks = [made.leaf_block(leaf) for leaf in (0, layout.leaf // 2, layout.leaf - 1)]
    assert len({*blocks}) == len({0, layout.leaf // 2, layout.leaf - 1})
    near, far = made.link(layout.leaf - 1, layout.radix - 1)
    assert near in blocks[-1]
    assert far in blocks[-1]
    assert int(far) == int(near) + 1


def test_as_numbers_are_private_and_tiers_never_share_one():
    made = plan(preset("hgx_h100_roce").with_(hosts=1024)).underlay
    numbers = {made.asn(0, n, 0) for n in range(1024)}
    numbers |= {made.asn(1, 0, g) for g in range(64)} | {made.asn(2, 0, -1)}
    assert len(numbers) == 1024 + 64 + 1
    assert all(4_200_000_000 <= number <= 4_294_967_294 for number in numbers)


def test_features_say_what_a_target_must_know():
    assert plan(preset("hgx_h100_roce")).features == {Feature.PFC, Feature.IP}
    assert plan(preset("dgx_h100")).features == {Feature.SUBNET}
    assert plan(preset("aws_p5")).features == {Feature.PROVIDER}


@pytest.mark.parametrize("field", ["value", "reason"])
def test_planned_values_do_not_change(field):
    one = next(one for _, one in plan(preset("dgx_h100")).numbers())
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, field, "")


def test_reasons_are_one_line_each():
    for name in ("hgx_h100_roce", "dgx_h100", "h100_tcp_100g"):
        for path, one in plan(preset(name)).numbers():
            assert not re.search(r"[\r\n]", one.reason), path

"""No fabric that weft renders gives the linter anything to say; every planted fault does.

A fault is what people do: one number, one word or one line of a rendered file is changed.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache

import pytest

from weft.errors import WeftError
from weft.generate.plan import plan
from weft.generate.target import render, suitable, target_names
from weft.lint.lint import facts_of, find
from weft.lint.rule import Case, Severity
from weft.lint.text import Text
from weft.spec.load import preset

FABRICS = {
    "roce": lambda: preset("hgx_h100_roce", hosts=32),
    "infiniband": lambda: preset("dgx_a100", hosts=32),
    "tcp": lambda: preset("a100_tcp_100g", hosts=64),
    "ultra_ethernet": lambda: preset("hgx_h100_roce", hosts=32).with_(
        fabric=preset("hgx_h100_roce").fabric.with_(kind="ultra_ethernet")
    ),
    "roce_arista": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="arista_7060x6_64pe")
    ),
    "roce_cisco": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="cisco_n9364e_sg2")
    ),
    "efa": lambda: preset("aws_p5", hosts=32),
    "infiniband_large": lambda: preset("dgx_h100", hosts=512),
    "roce_adaptive": lambda: preset("hgx_h100_roce", hosts=256).with_(
        fabric=preset("hgx_h100_roce").fabric.with_(load_balancing="adaptive")
    ),
}
"""By name; a target joins by itself once it can write one of them."""


@cache
def texts(fabric):
    """Return every file of every target that can write a fabric."""
    planned = plan(FABRICS[fabric]())
    return {file.path: file.text for file in render(planned, suitable(planned)).files}


@cache
def _facts(name, content):
    """Read a file once: a fault changes one of very many."""
    return tuple(facts_of(Text(name=name, content=content))[1])


def findings(files):
    """Return what is worse than a remark."""
    facts = [fact for name, text in files.items() for fact in _facts(name, text)]
    return [one for one in find(Case(facts)) if one.severity is not Severity.INFO]


@dataclass(frozen=True)
class Fault:
    name: str
    fabric: str
    file: str
    old: str
    new: str
    rules: tuple[str, ...]
    count: int = 1


def _fault(name, fabric, file, old, new, *rules, count=1):
    return Fault(name, fabric, file, old, new, rules, count)


LEAF = "sonic/leaf-0000/config_db.json"
CONF, ENV = "nccl/nccl.conf", "nccl/nccl.env"
HOST = "linux_host/weft-rdma"
MASTER, STANDBY = "opensm/opensm.master.conf", "opensm/opensm.standby.conf"

JOB = [
    _fault("class of another fabric", "roce", CONF, r"TC=106", "TC=136",
           "qos_job_and_switch", "qos_job_and_host"),
    _fault("DSCP in place of the class", "roce", ENV, r'TC="106"', 'TC="26"',
           "nccl_traffic_class"),
    _fault("congestion on every packet", "roce", CONF, r"TC=106", "TC=107",
           "nccl_traffic_class"),
    _fault("class beyond a byte", "roce", CONF, r"TC=106", "TC=416", "nccl_value",
           "nccl_traffic_class"),
    _fault("RDMA off", "roce", CONF, r"\Z", "NCCL_IB_DISABLE=1\n", "nccl_rdma_off"),
    _fault("sockets forced", "infiniband", CONF, r"\Z", "NCCL_NET=Socket\n", "nccl_rdma_off"),
    _fault("algorithm forced", "roce", CONF, r"\Z", "NCCL_ALGO=Ring\n",
           "nccl_forced_algorithm"),
    _fault("protocol forced", "infiniband", ENV, r"\Z", "export NCCL_PROTO=Simple\n",
           "nccl_forced_algorithm"),
    _fault("GID index on InfiniBand", "infiniband", CONF, r"\Z", "NCCL_IB_GID_INDEX=3\n",
           "nccl_gid_on_infiniband"),
    _fault("GID index by hand", "roce", CONF, r"\Z", "NCCL_IB_GID_INDEX=3\n",
           "nccl_gid_by_hand"),
    _fault("RoCE v1", "roce", CONF, r"\Z", "NCCL_IB_ROCE_VERSION_NUM=1\n", "nccl_roce_version",
           "nccl_newer_variable"),
    _fault("no peer access", "roce", CONF, r"\Z", "NCCL_P2P_DISABLE=1\n",
           "nccl_peer_access_off"),
    _fault("no shared memory", "infiniband", CONF, r"\Z", "NCCL_SHM_DISABLE=1\n",
           "nccl_peer_access_off"),
    _fault("GPUDirect off", "roce", CONF, r"\Z", "NCCL_NET_GDR_LEVEL=LOC\n", "nccl_gpudirect"),
    _fault("logs left on", "roce", CONF, r"\Z", "NCCL_DEBUG=INFO\n", "nccl_debug_left_on"),
    _fault("meet over loopback", "roce", CONF, r"\Z", "NCCL_SOCKET_IFNAME=lo\n",
           "nccl_socket_interface"),
    _fault("meet over docker0", "infiniband", CONF, r"\Z", "NCCL_SOCKET_IFNAME==docker0\n",
           "nccl_socket_interface"),
    _fault("NVLS off", "roce", CONF, r"\Z", "NCCL_NVLS_ENABLE=0\nNCCL_MAX_NCHANNELS=2\n",
           "nccl_nvls", "nccl_channels"),
    _fault("two channels", "roce", CONF, r"\Z", "NCCL_MAX_NCHANNELS=2\n", "nccl_channels"),
    _fault("one rail left out", "roce", CONF, r"mlx5_6,mlx5_7", "mlx5_6",
           "nccl_adapter_count", "nccl_settings_differ"),
    _fault("a rail named twice", "roce", CONF, r"mlx5_6,mlx5_7", "mlx5_6,mlx5_6",
           "nccl_adapter_list"),
    _fault("= in the middle of the list", "infiniband", CONF, r",mlx5_1", ",=mlx5_1",
           "nccl_adapter_list"),
    _fault("a space in the list", "infiniband", ENV, r",mlx5_1", ", mlx5_1",
           "nccl_adapter_list"),
    _fault("a misspelt variable", "roce", CONF, r"QPS_PER_CONNECTION", "QPS_PER_CONN",
           "nccl_unknown_variable"),
    _fault("a removed variable", "infiniband", CONF, r"\Z", "NCCL_LL_THRESHOLD=0\n",
           "nccl_removed_variable"),
    _fault("a renamed variable", "roce", ENV, r"\Z", "export NCCL_ASYNC_ERROR_HANDLING=1\n",
           "nccl_renamed_variable"),
    _fault("a word for a number", "roce", CONF, r"CONNECTION=4", "CONNECTION=four",
           "nccl_value"),
    _fault("64 queue pairs", "roce", CONF, r"CONNECTION=4", "CONNECTION=64",
           "nccl_queue_pairs"),
    _fault("queue pairs on InfiniBand", "infiniband", CONF, r"\Z",
           "NCCL_IB_QPS_PER_CONNECTION=8\n", "nccl_queue_pairs"),
    _fault("time-out of seconds", "roce", CONF, r"\Z", "NCCL_IB_TIMEOUT=31\n", "nccl_timeout"),
    _fault("no retries", "infiniband", CONF, r"\Z", "NCCL_IB_RETRY_CNT=0\n", "nccl_timeout"),
    _fault("quotes in nccl.conf", "roce", CONF, r"TC=106", 'TC="106"', "nccl_conf_syntax"),
    _fault("spaces in nccl.conf", "infiniband", CONF, r"SL=1", "SL = 1", "nccl_conf_syntax"),
    _fault("conf and env differ", "roce", ENV, r'CONNECTION="4"', 'CONNECTION="8"',
           "nccl_settings_differ"),
    _fault("traffic class on InfiniBand", "infiniband", CONF, r"\Z", "NCCL_IB_TC=106\n",
           "nccl_traffic_class_unread"),
    _fault("SHARP on Ethernet", "roce", CONF, r"\Z", "NCCL_COLLNET_ENABLE=1\n",
           "nccl_in_network_reduction"),
    _fault("a lane that is none", "infiniband", CONF, r"SL=1", "SL=15", "nccl_service_level"),
    _fault("the wrong priority", "roce", CONF, r"\Z", "NCCL_IB_SL=5\n", "qos_job_and_host"),
]  # fmt: skip

HOSTS = [
    _fault("PFC on another priority", "roce", HOST, r"0,0,0,1,0,0,0,0", "0,0,0,0,1,0,0,0",
           "qos_host_and_switch", "qos_job_and_host"),
    _fault("PFC off on the NICs", "roce", HOST, r"0,0,0,1,0,0,0,0", "0,0,0,0,0,0,0,0",
           "pfc_off"),
    _fault("PFC on everything", "roce", HOST, r"0,0,0,1,0,0,0,0", "1,1,1,1,1,1,1,1",
           "pfc_many_priorities"),
    _fault("no PFC at all", "roce", HOST, r" --pfc \S+", "", "pfc_asymmetric"),
    _fault("trust of 802.1p", "roce", HOST, r"--trust dscp", "--trust pcp", "trust_mode"),
    _fault("DSCP in another priority", "roce", HOST, r"set,26,3", "set,26,5",
           "qos_host_and_switch", "qos_job_and_host"),
    _fault("CNPs in another priority", "roce", HOST, r"set,48,6", "set,48,3",
           "qos_host_and_switch", "qos_cnp_class"),
    _fault("CNPs with another DSCP", "roce", HOST, r"echo 48", "echo 46", "qos_cnp_class"),
    _fault("CNP priority", "roce", HOST, r"echo 6 ", "echo 5 ", "qos_cnp_class"),
    _fault("cma_roce_tos differs", "roce", HOST, r"-t 106", "-t 96", "qos_job_and_host"),
    _fault("sysfs class differs", "roce", HOST, r"echo 106", "echo 0", "qos_job_and_host",
           "qos_job_and_switch"),
    _fault("DCQCN on another priority", "roce", HOST, r"roce_np/enable/3", "roce_np/enable/4",
           "qos_congestion_priority"),
    _fault("DCQCN off", "roce", HOST, r'echo 1 >("\S+roce_rp/enable)', r"echo 0 >\1",
           "qos_congestion_priority"),
    _fault("DCQCN beyond its range", "roce", HOST, r"echo 1019", "echo 2048",
           "qos_congestion_values"),
    _fault("slow hyper increase", "roce", HOST, r"echo 50 ", "echo 2 ",
           "qos_congestion_values"),
    _fault("RoCE v1 on the hosts", "roce", HOST, r"-m 2", "-m 1", "nccl_roce_version"),
    _fault("host MTU 1500", "roce", HOST, r"mtu 9000", "mtu 1500", "mtu_small"),
    _fault("host MTU above the switch", "roce", HOST, r"mtu 9000", "mtu 9500", "mtu_range",
           "mtu_ends_differ"),
    _fault("pause of the link", "roce", HOST, r"rx off tx off", "rx on tx on",
           "pfc_with_link_pause"),
    _fault("strict reverse path", "roce", "linux_host/90-weft-rdma.conf", r"rp_filter = 2",
           "rp_filter = 1", "host_reverse_path"),
    _fault("no arp_ignore", "roce", "linux_host/90-weft-rdma.conf", r"arp_ignore = 1",
           "arp_ignore = 0", "host_reverse_path"),
    _fault("a limit of pinned memory", "infiniband", "linux_host/weft-rdma-limits.conf",
           r"hard memlock unlimited", "hard memlock 65536", "host_memlock"),
    _fault("one address twice", "roce", "linux_host/rails.tsv", r"172.16.0.3/31",
           "172.16.0.1/31", "address_duplicate"),
    _fault("a gateway of another link", "roce", "linux_host/rails.tsv", r"\t172.16.0.2\t",
           "\t172.16.0.4\t", "address_gateway"),
    _fault("a unit nobody starts", "roce", "linux_host/weft-rdma.service",
           r"\[Install\]\nWantedBy=\S+\n", "", "host_unit"),
]  # fmt: skip

SWITCHES = [
    _fault("Kmin above Kmax", "roce", LEAF, r'green_min_threshold": "\d+"',
           'green_min_threshold": "9000000"', "ecn_thresholds"),
    _fault("Kmin above XOFF", "roce", "sonic/leaf-0001/config_db.json",
           r'(green_min_threshold": )"\d+"', r'\1"929791"', "ecn_switches_differ",
           "ecn_above_pause"),
    _fault("Kmax far above XOFF", "roce", LEAF, r'(_max_threshold": )"\d+"', r'\1"9000000"',
           "ecn_above_pause", count=0),
    _fault("probability 0", "roce", LEAF, r'(drop_probability": )"\d+"', r'\1"0"',
           "ecn_thresholds", count=0),
    _fault("ECN off", "roce", LEAF, r"ecn_all", "ecn_none", "ecn_queue"),
    _fault("ECN on another queue", "roce", LEAF,
           r'("Ethernet0\|3": \{\s*"scheduler": "scheduler.rdma"),\s*"wred_profile": "\w+"',
           r"\1", "ecn_queue"),
    _fault("an unknown ECN profile", "roce", LEAF, r'("wred_profile": )"AI_LOSSLESS"',
           r'\1"AI_LOSLESS"', "reference_missing"),
    _fault("RoCE in class 0", "roce", LEAF, r'"26": "3"', '"26": "0"', "qos_job_and_switch",
           "qos_switches_differ"),
    _fault("class 3 through queue 4", "roce", LEAF,
           r'("TC_TO_QUEUE_MAP": \{\s*"AI": \{[^}]*"3": )"3"', r'\1"4"', "qos_class_and_queue"),
    _fault("class 8", "roce", LEAF, r'"26": "3"', '"26": "8"', "qos_label_range"),
    _fault("PFC stops another queue", "roce", LEAF,
           r'("MAP_PFC_PRIORITY_TO_QUEUE": \{\s*"AI": \{[^}]*"3": )"3"', r'\1"2"',
           "qos_class_and_queue"),
    _fault("PFC on another priority", "roce", LEAF, r'"pfc_enable": "3"', '"pfc_enable": "4"',
           "qos_switches_differ"),
    _fault("PFC off on one port", "roce", LEAF, r'"pfc_enable": "3"', '"pfc_enable": ""',
           "qos_switches_differ"),
    _fault("PFC on everything", "roce", LEAF, r'"pfc_enable": "3"',
           '"pfc_enable": "0,1,2,3,4,5,6,7"', "pfc_many_priorities", count=0),
    _fault("the watchdog on another queue", "roce", LEAF, r'"pfcwd_sw_enable": "3"',
           '"pfcwd_sw_enable": "4"', "watchdog_queues"),
    _fault("detection below polling", "roce", LEAF, r'("detection_time": )"\d+"', r'\1"100"',
           "watchdog_times"),
    _fault("the watchdog only forwards", "roce", LEAF, r'"action": "drop"',
           '"action": "forward"', "watchdog_off"),
    _fault("headroom for a short cable", "roce", LEAF, r'("xoff": )"\d+"', r'\1"20480"',
           "headroom_short"),
    _fault("a long cable", "roce", LEAF, r'"Ethernet0": "40m"', '"Ethernet0": "2000m"',
           "headroom_short"),
    _fault("no headroom", "roce", LEAF, r'\s*"xoff": "\d+",', "", "headroom_missing"),
    _fault("a lossy profile for the lossless group", "roce", LEAF,
           r'("Ethernet0\|3": \{\s*"profile": )"pg_lossless_profile"',
           r'\1"ingress_lossy_profile"', "headroom_missing"),
    _fault("egress alpha below ingress", "roce", LEAF,
           r'("egress_lossless_profile": \{[^}]*"dynamic_th": )"7"', r'\1"-1"', "buffer_alpha"),
    _fault("a pool larger than the chip", "roce", LEAF,
           r'("ingress_pool": \{[^}]*"size": )"\d+"', r'\1"900000000"', "buffer_pool"),
    _fault("a pool that is not there", "roce", LEAF,
           r'("pg_lossless_profile": \{\s*"pool": )"ingress_pool"', r'\1"ingres_pool"',
           "reference_missing"),
    _fault("MTU 1500 in the middle", "roce", "sonic/spine-0000/config_db.json",
           r'"mtu": "9216"', '"mtu": "1500"', "mtu_ends_differ", "mtu_small"),
    _fault("MTU beyond the chip", "roce", LEAF, r'"mtu": "9216"', '"mtu": "10000"',
           "mtu_range"),
    _fault("half the speed", "roce", LEAF, r'"speed": "400000"', '"speed": "200000"',
           "link_speed", "link_ends_differ"),
    _fault("no FEC", "roce", LEAF, r'"fec": "rs"', '"fec": "none"', "link_fec"),
    _fault("a port that is shut", "roce", LEAF, r'"admin_status": "up"',
           '"admin_status": "down"', "link_down"),
    _fault("a lane twice", "roce", LEAF, r'"lanes": "4,5,6,7"', '"lanes": "3,4,5,6"',
           "link_lanes"),
    _fault("a cable to another port", "roce", LEAF, r"(spine-0000 Ethernet)0\b", r"\g<1>4",
           "link_ends_differ"),
    _fault("the AS of a neighbour leaf", "roce", LEAF, r"4200100000", "4200100001",
           "bgp_asn", count=0),
    _fault("an AS that is not private", "roce", LEAF, r"4200100000", "3356", "bgp_asn",
           count=0),
    _fault("the router ID of another", "roce", LEAF, r'("router_id": )"100.64.0.1"',
           r'\1"100.64.0.2"', "address_duplicate"),
    _fault("one path", "roce", LEAF, r'("max_ebgp_paths": )"256"', r'\1"1"', "bgp_paths"),
    _fault("no extended next hop", "roce", LEAF, r'("capability_ext_nexthop": )"true"',
           r'\1"false"', "bgp_session"),
    _fault("IPv4 not activated", "roce", LEAF,
           r'(ipv4_unicast": \{\s*"admin_status": )"up"', r'\1"down"', "bgp_session"),
    _fault("a session less", "roce", LEAF,
           r'\s*"default\|Ethernet128": \{\s*"peer_group_name": "FABRIC"\s*\},', "",
           "bgp_session"),
    _fault("one loopback twice", "roce", LEAF, r"Loopback0\|100.64.0.1/32",
           "Loopback0|100.64.0.2/32", "address_duplicate"),
    _fault("a comma too many", "roce", LEAF, r"\}\s*\}\s*$", "},}\n", "broken_document"),
    _fault("a strict queue for RDMA", "roce", LEAF,
           r'("scheduler.rdma": \{\s*"type": )"DWRR"', r'\1"STRICT"', "scheduler_shares"),
    _fault("a twentieth for RDMA", "roce", LEAF,
           r'("scheduler.rdma": \{[^}]*"weight": )"50"', r'\1"5"', "scheduler_shares"),
    _fault("CNPs in turn", "roce", LEAF, r'("scheduler.cnp": \{\s*"type": )"STRICT"',
           r'\1"DWRR"', "qos_cnp_class"),
    _fault("CNPs in the lossless class", "roce", LEAF, r'"48": "6"', '"48": "3"',
           "qos_cnp_class"),
    _fault("TCP with an MTU of 1500", "tcp", LEAF, r'"mtu": "9216"', '"mtu": "1500"',
           "mtu_ends_differ"),
]  # fmt: skip

SUBNET = [
    _fault("two masters", "infiniband", STANDBY, r"sm_priority 14", "sm_priority 15",
           "ib_managers"),
    _fault("priority 16", "infiniband", MASTER, r"sm_priority 15", "sm_priority 16",
           "ib_managers"),
    _fault("a standby with another engine", "infiniband", STANDBY,
           r"routing_engine ftree,updn", "routing_engine minhop", "ib_managers_differ"),
    _fault("an engine that is none", "infiniband", MASTER, r"ftree,updn", "fattree",
           "ib_routing"),
    _fault("a misspelt option", "infiniband", MASTER, r"use_ucast_cache", "use_ucast_cach",
           "ib_option"),
    _fault("qos off", "infiniband", MASTER, r"qos TRUE", "qos FALSE", "nccl_service_level",
           "ib_managers_differ"),
    _fault("a lane that is not there", "infiniband", MASTER, r"qos_sl2vl 0,1",
           "qos_sl2vl 0,5", "ib_lanes", "nccl_service_level"),
    _fault("15 entries", "infiniband", MASTER, r"0,0,0,15", "0,0,15", "ib_lanes"),
    _fault("a weight of 999", "infiniband", MASTER, r"1:192", "1:999", "ib_lanes"),
    _fault("a lane without weight", "infiniband", MASTER, r"1:192", "1:0", "ib_lanes",
           count=0),
    _fault("hosts are limited members", "infiniband", "opensm/partitions.conf",
           r"defmember=full : ALL", "defmember=limited : ALL", "ib_partition"),
    _fault("no default partition", "infiniband", "opensm/partitions.conf",
           r"Default=0x7fff", "Jobs=0x0002", "ib_partition"),
    _fault("MTU of 2048", "infiniband", "opensm/partitions.conf", r"mtu=5", "mtu=4",
           "mtu_small"),
    _fault("no semicolon", "infiniband", "opensm/partitions.conf", r";", "", "broken_line"),
    _fault("service level 16", "infiniband", "opensm/qos-policy.conf", r"default : 0",
           "default : 16", "ib_lanes"),
]  # fmt: skip

SLURM = [
    _fault("a host under two leaves", "infiniband", "slurm/topology.conf",
           r"host-\[0020-0031\]", "host-[0019-0031]", "slurm_tree"),
    _fault("a child that is not there", "infiniband", "slurm/topology.conf",
           r"Switches=unit0001", "Switches=unit0009", "slurm_tree"),
    _fault("no root", "infiniband", "slurm/topology.conf", r"SwitchName=fabric.*\n", "",
           "slurm_tree"),
]  # fmt: skip

FAULTS = [*JOB, *HOSTS, *SWITCHES, *SUBNET, *SLURM]


def _texts(fabric):
    try:
        return texts(fabric)
    except WeftError as failure:
        pytest.skip(f"{fabric} cannot be planned: {failure}")


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_rendered_fabric_raises_no_warning(fabric):
    files = _texts(fabric)
    worse = findings(files)
    assert not worse, [(one.rule, one.at.file, one.at.line, one.message) for one in worse[:5]]
    assert any(_facts(name, text) for name, text in files.items())


def test_every_target_is_rendered_by_some_fabric():
    written = set()
    for make in FABRICS.values():
        try:
            written |= set(suitable(plan(make())))
        except WeftError:
            continue
    assert written == set(target_names()), "give FABRICS one that the target can write"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_by_the_right_rule(fault):
    files = dict(_texts(fault.fabric))
    names = [name for name in files if fnmatch(name, fault.file)]
    if not names and fault.file.partition("/")[0] not in target_names():
        pytest.skip(f"there is no target that writes {fault.file}")
    assert names, f"no file is called {fault.file}"
    changed, count = re.subn(fault.old, fault.new, files[names[0]], count=fault.count)
    assert count, f"{fault.old!r} is not in {names[0]}"
    assert changed != files[names[0]]
    shown = [one for one in findings(files | {names[0]: changed}) if one.rule in fault.rules]
    assert shown, f"none of {fault.rules} noticed"
    places = {place.file for one in shown for place in one.evidence}
    assert names[0] in places, "the finding does not show the file with the fault"


def test_at_least_sixty_faults_are_planted_over_all_targets():
    assert len(FAULTS) >= 60
    assert len({fault.file.partition("/")[0] for fault in FAULTS}) >= 5

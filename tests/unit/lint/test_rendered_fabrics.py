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
from weft.lint.lint import all_rules, facts_of, find, lint_texts
from weft.lint.rule import Case, Severity
from weft.lint.text import Text
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset

PCI = tuple(f"0000:{number:02x}:00.0" for number in range(0x1A, 0x1A + 8))


def _in_mode(mode):
    return preset("hgx_h100_roce", hosts=8).with_(
        kubernetes=Kubernetes(mode=mode, pci_addresses=PCI)
    )


FABRICS = {
    "roce": lambda: preset("hgx_h100_roce", hosts=32),
    "infiniband": lambda: preset("dgx_a100", hosts=32),
    "tcp": lambda: preset("a100_tcp_100g", hosts=64),
    "ultra_ethernet": lambda: preset("hgx_h100_roce", hosts=32).with_(
        fabric=preset("hgx_h100_roce").fabric.with_(kind="ultra_ethernet"),
        host=preset("hgx_h100_roce").host.with_(nic="pollara"),
    ),
    "roce_arista": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="arista_7060x6_64pe")
    ),
    "roce_cisco": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="cisco_n9364e_sg2")
    ),
    "roce_juniper": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="juniper_qfx5240_64od")
    ),
    "efa": lambda: preset("aws_p5", hosts=32),
    "frr": lambda: preset("a100_tcp_100g", hosts=160),
    "roce_functions": lambda: _in_mode("sriov_ethernet"),
    "roce_macvlan": lambda: _in_mode("macvlan_shared"),
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
    return {file.path: file.text for file in render(planned, ["all"]).files}


@cache
def _facts(name, content):
    """Read a file once: a fault changes one of very many."""
    return tuple(facts_of(Text(name=name, content=content))[1])


def findings(files, rules=()):
    """Return what is worse than a remark; of some rules alone, where they are named."""
    facts = [fact for name, text in files.items() for fact in _facts(name, text)]
    others = frozenset(name for name, _ in all_rules() if rules and name not in rules)
    return [one for one in find(Case(facts), others)[0] if one.severity is not Severity.INFO]


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
    _fault("logs left on", "roce", CONF, r"\Z", "NCCL_DEBUG=TRACE\n", "nccl_debug_left_on"),
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
    _fault("the hard limit left out", "infiniband", "linux_host/weft-rdma-limits.conf",
           r"\* hard memlock unlimited\n", "", "host_memlock"),
    _fault("nine priorities", "roce", HOST, r"0,0,0,1,0,0,0,0", "0,0,0,1,0,0,0,0,0",
           "broken_line"),
    _fault("the unit's commands in another section", "roce", "linux_host/weft-rdma.service",
           r"\[Service\]\n", "", "host_unit"),
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
    _fault("a cable longer than the others", "roce", LEAF, r'"Ethernet0": "40m"',
           '"Ethernet0": "300m"', "headroom_short"),
    _fault("no headroom", "roce", LEAF, r'\s*"xoff": "\d+",', "", "headroom_missing"),
    _fault("a lossy profile for the lossless group", "roce", LEAF,
           r'("Ethernet0\|3": \{\s*"profile": )"pg_lossless_profile"',
           r'\1"ingress_lossy_profile"', "headroom_missing"),
    _fault("egress alpha below ingress", "roce", LEAF,
           r'("egress_lossless_profile": \{[^}]*"dynamic_th": )"7"', r'\1"-1"', "buffer_alpha"),
    _fault("a pool larger than the chip", "roce", LEAF,
           r'("ingress_lossless_pool": \{[^}]*"size": )"\d+"', r'\1"900000000"', "buffer_pool"),
    _fault("a pool that is not there", "roce", LEAF,
           r'("pg_lossless_profile": \{\s*"pool": )"ingress_lossless_pool"', r'\1"ingres_pool"',
           "reference_missing"),
    _fault("MTU 1500 in the middle", "roce", "sonic/spine-0000/config_db.json",
           r'"mtu": "9216"', '"mtu": "1500"', "mtu_ends_differ", "mtu_small"),
    _fault("MTU beyond the chip", "roce", LEAF, r'"mtu": "9216"', '"mtu": "10000"',
           "mtu_range"),
    _fault("half the speed", "roce", LEAF, r'"speed": "400000"', '"speed": "200000"',
           "link_speed", "link_ends_differ"),
    _fault("no FEC", "roce", LEAF, r'"fec": "rs"', '"fec": "none"', "link_fec"),
    _fault("a port that is shut", "roce", LEAF, r'("mtu": "9216",\s*"admin_status": )"up"',
           r'\1"down"', "link_down"),
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
    _fault("one path", "roce", LEAF, r'("max_ebgp_paths": )"\d+"', r'\1"1"', "bgp_paths"),
    _fault("no extended next hop", "roce", LEAF, r'("capability_ext_nexthop": )"true"',
           r'\1"false"', "bgp_session"),
    _fault("IPv4 not activated", "roce", LEAF,
           r'(ipv4_unicast": \{[^}]*"admin_status": )"up"', r'\1"down"', "bgp_session"),
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

EOS, NXOS = "eos/leaf-0000/eos.conf", "nxos/leaf-0000/nxos.conf"
NVUE, FRR = "cumulus/leaf-0000/nvue.*", "frr/leaf-0000/frr.conf"

VENDORS = [
    _fault("EOS: Kmin above Kmax", "roce_arista", EOS, r"minimum-threshold \d+",
           "minimum-threshold 9000000", "ecn_thresholds"),
    _fault("EOS: another DSCP", "roce_arista", EOS, r"qos map dscp 26 ", "qos map dscp 24 ",
           "qos_job_and_switch", "qos_switches_differ"),
    _fault("EOS: another priority", "roce_arista", EOS, r"priority 3 no-drop",
           "priority 4 no-drop", "qos_host_and_switch", "qos_switches_differ"),
    _fault("EOS: PFC off", "roce_arista", EOS, r"   priority-flow-control on\n", "",
           "qos_switches_differ", "pfc_off"),
    _fault("EOS: no trust", "roce_arista", EOS, r"qos trust dscp", "qos trust cos",
           "trust_mode"),
    _fault("EOS: another queue", "roce_arista", EOS, r"traffic-class 3 to tx-queue 3",
           "traffic-class 3 to tx-queue 5", "qos_class_and_queue"),
    _fault("EOS: MTU 1500", "roce_arista", EOS, r"mtu 9214", "mtu 1500", "mtu_ends_differ"),
    _fault("EOS: no MTU", "roce_arista", EOS, r"   mtu 9214\n", "", "mtu_ends_differ"),
    _fault("EOS: half the speed", "roce_arista", EOS, r"speed 400g-4", "speed 200g-4",
           "link_speed"),
    _fault("EOS: FEC", "roce_arista", EOS, r"encoding reed-solomon", "encoding fire-code",
           "link_fec"),
    _fault("EOS: a port without a profile", "roce_arista", EOS, r"   service-profile AI\n", "",
           "qos_switches_differ", "trust_mode"),
    _fault("EOS: an unknown profile", "roce_arista", EOS, r"service-profile AI",
           "service-profile IA", "reference_missing"),
    _fault("EOS: the wrong AS", "roce_arista", EOS, r"remote-as 4200001000",
           "remote-as 4200001001", "bgp_asn"),
    _fault("EOS: one path", "roce_arista", EOS, r"maximum-paths \d+ ecmp \d+",
           "maximum-paths 1 ecmp 1", "bgp_paths"),
    _fault("EOS: not activated", "roce_arista", EOS, r"      neighbor FABRIC activate\n", "",
           "bgp_session"),
    _fault("EOS: no IPv6 next hop", "roce_arista", EOS, r"      neighbor FABRIC next-hop.*\n",
           "", "bgp_session"),
    _fault("EOS: a switched port", "roce_arista", EOS, r"   no switchport\n", "",
           "broken_line"),
    _fault("EOS: IPv4 is not forwarded over IPv6", "roce_arista", EOS,
           r"ip routing ipv6 interfaces", "ip routing", "bgp_session"),
    _fault("EOS: no watchdog", "roce_arista", EOS,
           r"(   priority-flow-control pause watchdog.*\n)+", "", "watchdog_off"),
    _fault("EOS: detection below polling", "roce_arista", EOS, r"timeout \S+ polling",
           "timeout 0.05 polling", "watchdog_times"),
    _fault("EOS: strict RDMA", "roce_arista", EOS,
           r"bandwidth percent 50\n      no priority\n      random",
           "priority strict\n      random",
           "scheduler_shares"),
    _fault("EOS: shut", "roce_arista", EOS, r"(interface Ethernet1/1\n)", r"\1   shutdown\n",
           "link_down"),
    _fault("EOS: LAG to a host", "roce_arista", EOS, r"(interface Ethernet1/1\n)",
           r"\1   channel-group 1 mode active\n", "bond_on_rail"),
    _fault("EOS: pause of the link", "roce_arista", EOS, r"(interface Ethernet1/1\n)",
           r"\1   flowcontrol receive on\n", "pfc_with_link_pause"),
    _fault("NX-OS: another DSCP", "roce_cisco", NXOS, r"match dscp 26", "match dscp 24",
           "qos_job_and_switch"),
    _fault("NX-OS: no BGP", "roce_cisco", NXOS, r"feature bgp\n", "", "reference_missing"),
    _fault("NX-OS: the class without jumbo frames", "roce_cisco", NXOS,
           r"    mtu 9216\n    pause", "    pause", "mtu_ends_differ"),
    _fault("NX-OS: no queuing policy", "roce_cisco", NXOS,
           r"  service-policy type queuing output AI-OUT\n", "", "ecn_queue"),
    _fault("NX-OS: a switched port", "roce_cisco", NXOS, r"  no switchport\n", "",
           "broken_line"),
    _fault("NX-OS: another CoS", "roce_cisco", NXOS, r"pfc-cos 3", "pfc-cos 4",
           "qos_class_and_queue", "qos_host_and_switch"),
    _fault("NX-OS: ECN word left out", "roce_cisco", NXOS, r"(?m) ecn$", "", "ecn_queue"),
    _fault("NX-OS: Kmin above Kmax", "roce_cisco", NXOS, r"minimum-threshold \d+",
           "minimum-threshold 9000000", "ecn_thresholds"),
    _fault("NX-OS: PFC off on a port", "roce_cisco", NXOS, r"priority-flow-control mode on",
           "priority-flow-control mode off", "qos_switches_differ"),
    _fault("NX-OS: MTU", "roce_cisco", NXOS, r"switchport\n  mtu 9216",
           "switchport\n  mtu 1500",
           "mtu_ends_differ"),
    _fault("NX-OS: an unknown policy", "roce_cisco", NXOS, r"qos input AI-IN",
           "qos input AI-INN", "reference_missing"),
    _fault("NX-OS: watchdog off", "roce_cisco", NXOS,
           r"(?m)^priority-flow-control watch-dog-interval on",
           "priority-flow-control watch-dog-interval off", "watchdog_off"),
    _fault("NX-OS: the wrong AS", "roce_cisco", NXOS, r"remote-as 4200001000",
           "remote-as 4200002000", "bgp_asn"),
    _fault("NX-OS: shut", "roce_cisco", NXOS, r"  no shutdown", "  shutdown", "link_down"),
    _fault("NX-OS: CNPs with RDMA", "roce_cisco", NXOS, r"set qos-group 7",
           "set qos-group 3", "qos_cnp_class"),
    _fault("NVUE: another DSCP", "roce", NVUE, r"dscp 26 switch-priority 3",
           "dscp 24 switch-priority 3", "qos_job_and_switch", "qos_switches_differ"),
    _fault("NVUE: Kmin above Kmax", "roce", NVUE, r"min-threshold \d+",
           "min-threshold 9000000", "ecn_thresholds"),
    _fault("NVUE: ECN off", "roce", NVUE, r"traffic-class 3 ecn enable",
           "traffic-class 3 ecn disable", "ecn_queue"),
    _fault("NVUE: another priority", "roce", NVUE, r"(pfc default-global switch-priority) 3",
           r"\1 5", "qos_host_and_switch", "qos_switches_differ"),
    _fault("NVUE: trust of PCP", "roce", NVUE, r"trust l3", "trust l2", "trust_mode"),
    _fault("NVUE: PFC sends nothing", "roce", NVUE, r"tx enable", "tx disable",
           "qos_switches_differ", "pfc_off"),
    _fault("NVUE: MTU", "roce", NVUE, r"link mtu 9216", "link mtu 1500", "mtu_ends_differ"),
    _fault("NVUE: another queue", "roce", NVUE, r"switch-priority 3 traffic-class 3",
           "switch-priority 3 traffic-class 4", "qos_class_and_queue"),
    _fault("NVUE: the AS of the next leaf", "roce", NVUE, r"autonomous-system 4200100000",
           "autonomous-system 23456", "bgp_asn"),
    _fault("NVUE: one path", "roce", NVUE, r"multipaths ebgp \d+", "multipaths ebgp 1",
           "bgp_paths"),
    _fault("FRR: no leaf announces", "tcp", FRR, r"  redistribute .*\n", "", "bgp_session"),
    _fault("FRR: a route map that is not there", "tcp", FRR, r"route-map OWN\n",
           "route-map OWNN\n", "reference_missing"),
    _fault("FRR: MTU", "tcp", "frr/leaf-0000/interfaces", r"mtu 9216", "mtu 1500",
           "mtu_small", "mtu_ends_differ"),
]  # fmt: skip

ROUTES = [
    _fault("SONiC: prefixes too long to match", "roce", LEAF, r"31\.\.32", "24..24",
           "bgp_filter"),
    _fault("SONiC: the wrong supernet", "roce", LEAF, r"OWN\|10\|172.16.0.0/12",
           "OWN|10|172.32.0.0/12", "bgp_filter"),
    _fault("SONiC: a list that is not there", "roce", LEAF, r'("match_prefix_set": )"OWN"',
           r'\1"OWNN"', "bgp_filter"),
    _fault("SONiC: an aggregate of another leaf", "roce", LEAF, r"\|172.16.0.0/24",
           "|172.16.9.0/24", "bgp_filter"),
    _fault("SONiC: hold below keepalive", "roce", LEAF, r'"holdtime": "9"', '"holdtime": "1"',
           "bgp_timers"),
    _fault("SONiC: internal between two AS", "roce", LEAF, r'"peer_type": "external"',
           '"peer_type": "internal"', "bgp_asn"),
    _fault("SONiC: a port without a map", "roce", LEAF, r'"tc_to_pg_map": "AI",\s*', "",
           "port_without_qos"),
    _fault("SONiC: a port without any map", "roce", LEAF,
           r'("PORT_QOS_MAP": \{\s*)"Ethernet0": \{[^}]*\},\s*', r"\1", "port_without_qos"),
    _fault("SONiC: a lossy buffer for the lossless queue", "roce", LEAF,
           r'("Ethernet0\|3": \{\s*"profile": )"egress_lossless_profile"',
           r'\1"egress_lossy_profile"', "port_without_qos"),
    _fault("SONiC: best effort in the lossless group", "roce", LEAF,
           r'("TC_TO_PRIORITY_GROUP_MAP": \{\s*"AI": \{[^}]*"0": )"0"', r'\1"3"',
           "lossy_in_lossless"),
    _fault("EOS: the wrong supernet", "roce_arista", EOS, r"permit 172.16.0.0/12",
           "permit 172.32.0.0/12", "bgp_filter"),
    _fault("EOS: the map denies", "roce_arista", EOS, r"route-map OWN permit",
           "route-map OWN deny", "bgp_filter"),
    _fault("EOS: an unknown map", "roce_arista", EOS, r"connected route-map OWN",
           "connected route-map OWM", "bgp_filter"),
    _fault("EOS: shares of 110 %", "roce_arista", EOS, r"bandwidth percent 50",
           "bandwidth percent 60", "scheduler_shares"),
    _fault("NX-OS: no length", "roce_cisco", NXOS, r"172.16.0.0/12 ge 31", "172.16.0.0/12",
           "bgp_filter"),
    _fault("NX-OS: an unknown list", "roce_cisco", NXOS, r"prefix-list OWN\n(?=interface)",
           "prefix-list OWNS\n", "bgp_filter"),
    _fault("NVUE: a neighbour without its group", "roce", "cumulus/leaf-0000/nvue.*",
           r".*neighbor swp17s0 peer-group FABRIC\n", "", "bgp_session"),
    _fault("NVUE: the wrong supernet", "roce", "cumulus/leaf-0000/nvue.*",
           r"match 172.16.0.0/12", "match 172.31.0.0/16", "bgp_filter"),
    _fault("FRR: the wrong supernet", "tcp", FRR, r"permit 172.16.0.0/12",
           "permit 172.32.0.0/12", "bgp_filter"),
    _fault("FRR: another aggregate", "tcp", FRR, r"aggregate-address 172.16.0.0/24",
           "aggregate-address 172.17.0.0/24", "bgp_filter"),
    _fault("FRR: keepalive and hold swapped", "ultra_ethernet", FRR, r"timers 3 9",
           "timers 9 3", "bgp_timers"),
]  # fmt: skip

JOBS = "kubernetes_jobs/train-mpijob.yaml"
POOLS, NETWORKS = "kubernetes/30-address-pools.yaml", "kubernetes/40-networks.yaml"
POLICY = "kubernetes/10-nic-cluster-policy.yaml"
PODS = [
    _fault("no IPC_LOCK", "roce", JOBS, r"- IPC_LOCK", "- NET_RAW", "pod_ipc_lock"),
    _fault("a resource that is not there", "roce", JOBS, r"hostdev_resource_rail_0",
           "hostdev_resource_rail_9", "pod_rdma_resource", count=0),
    _fault("a network that is not there", "roce", JOBS, r'"hostdev-network-rail-0,',
           '"hostdev-network-rail-x,', "pod_rdma_resource"),
    _fault("no shared memory", "roce", JOBS, r"medium: Memory", 'medium: ""',
           "pod_shared_memory"),
    _fault("slots", "roce", JOBS, r"slotsPerWorker: 8", "slotsPerWorker: 4",
           "launch_world_size"),
    _fault("ranks", "roce", JOBS, r"-np 256", "-np 128", "launch_world_size"),
    _fault("half a GPU", "roce", JOBS, r"nvidia.com/gpu: 8", "nvidia.com/gpu: 0.5",
           "pod_resource_request"),
    _fault("the job marks another class", "roce", JOBS, r'value: "106"', 'value: "104"',
           "nccl_settings_differ"),
    _fault("a wrong variable in the pod", "roce", JOBS, r"(?m)NCCL_IB_TC$", "NCCL_IB_TCC",
           "nccl_unknown_variable"),
    _fault("a resource renamed in the policy", "roce", "kubernetes/10-nic-cluster-policy.yaml",
           r'"hostdev_resource_rail_0"', '"hostdev_resource_0"', "pod_rdma_resource"),
    _fault("broken JSON in the policy", "roce", "kubernetes/10-nic-cluster-policy.yaml",
           r'"resourceList": \[', '"resourceList": ', "embedded_json"),
    _fault("a pool without a subnet", "infiniband", "kubernetes/30-address-pools.yaml",
           r"172.16.0.0/25", "172.16.0.0/99", "pool_addresses"),
    _fault("rails share a subnet", "infiniband", "kubernetes/30-address-pools.yaml",
           r"172.16.0.128/25", "172.16.0.0/25", "pool_addresses"),
    _fault("blocks of nothing", "infiniband", "kubernetes/30-address-pools.yaml",
           r"perNodeBlockSize: 2", "perNodeBlockSize: 0", "pool_addresses"),
    _fault("a network of another pool", "roce", "kubernetes/40-networks.yaml",
           r'"poolName": "rail-0"', '"poolName": "rail-00"', "pod_rdma_resource"),
    _fault("a network of another resource", "roce", "kubernetes/40-networks.yaml",
           r"resourceName: hostdev_resource_rail_1", "resourceName: hostdev_resource_rail_11",
           "pod_rdma_resource"),
    _fault("a network without devices", "roce", "kubernetes/40-networks.yaml",
           r"  resourceName: hostdev_resource_rail_0\n", "", "pod_rdma_resource"),
    _fault("a gateway of another link", "roce", "kubernetes/30-address-pools.yaml",
           r'gateway: "172.16.0.0"', 'gateway: "172.16.0.2"', "pool_addresses"),
    _fault("pods with MTU 1500", "roce", "kubernetes/40-networks.yaml", r'"mtu": 9000',
           '"mtu": 1500', "mtu_small"),
    _fault("a tab in YAML", "roce", "kubernetes/40-networks.yaml", r"\n  resourceName",
           "\n\tresourceName", "broken_document"),
    _fault("seven devices for eight networks", "roce", JOBS,
           r" *nvidia.com/hostdev_resource_rail_7: 1\n", "", "pod_network_count"),
    _fault("eight devices and seven networks", "roce", JOBS, r",hostdev-network-rail-7", "",
           "pod_network_count"),
    _fault("a misspelt annotation", "roce", JOBS, r"cncf.io/networks", "cncf.io/network",
           "pod_network_count"),
    _fault("a bootstrap over a rail", "roce", JOBS,
           r"(?s)(Worker:.*NCCL_SOCKET_IFNAME\n *value: )eth0", r"\1net1", "pod_socket_rail"),
    _fault("MPI over an interface that the launcher has not", "roce", JOBS,
           r"oob_tcp_if_include eth0", "oob_tcp_if_include net1", "pod_socket_rail"),
    _fault("two nodes with one prefix", "roce", POOLS,
           r'172.16.0.2(/31"\n    gateway: "172.16.0.)2', r"172.16.0.0\g<1>0",
           "pool_addresses"),
    _fault("a prefix that is not in the pool", "roce", POOLS,
           r'172.16.0.2(/31"\n    gateway: ")172.16', r"10.16.0.2\g<1>10.16",
           "pool_addresses"),
    _fault("a wider prefix", "roce", POOLS, r'prefix: "172.16.0.2/31"',
           'prefix: "172.16.0.2/30"', "pool_addresses"),
    _fault("a node twice in a pool", "roce", POOLS, r"nodeName: host-0001",
           "nodeName: host-0000", "pool_addresses"),
    _fault("a node that one pool has not", "roce", POOLS,
           r"  - nodeName: host-0003\n.*\n.*\n", "", "pool_addresses"),
    _fault("a gateway beyond the prefix", "roce", POOLS, r"gatewayIndex: 0",
           "gatewayIndex: 5", "pool_addresses"),
    _fault("a prefix that no address has", "roce", POOLS, r"NetworkPrefix: 31",
           "NetworkPrefix: 33", "pool_addresses"),
    _fault("two rails of one pool", "roce", NETWORKS, r'"poolName": "rail-1"',
           '"poolName": "rail-0"', "pool_addresses"),
    _fault("another type of pool", "roce", NETWORKS, r'"cidrpool"', '"ippool"',
           "pool_addresses"),
    _fault("a pool in another namespace", "roce", POOLS, r"namespace: nvidia-network-operator",
           "namespace: default", "network_differs"),
    _fault("a pool without a route", "roce", POOLS, r"  routes:\n  - dst.*\n", "",
           "network_differs"),
    _fault("a rail with another MTU", "roce", NETWORKS, r'"mtu": 9000', '"mtu": 4200',
           "network_differs"),
    _fault("a rail with strict reverse path", "roce", NETWORKS, r'rp_filter": "2"',
           'rp_filter": "1"', "network_differs"),
    _fault("a rail in another namespace", "roce", NETWORKS, r"networkNamespace: default",
           "networkNamespace: training", "network_differs"),
    _fault("no comma between plug-ins", "roce", NETWORKS, r'\{"type": "sbr"\},',
           '{"type": "sbr"}', "embedded_json"),
    _fault("limited memory under containerd", "roce", "kubernetes/weft-memlock.conf",
           r"infinity", "65536", "host_memlock"),
]  # fmt: skip

HOSTFILE, MPI, TORCH = "launch/hostfile", "launch/mpirun.sh", "launch/torchrun.sh"
JOBSET, RAILS = "kubernetes_jobs/train-jobset.yaml", "linux_host/rails.tsv"
MEMLOCK = "kubernetes/weft-memlock.conf"

LAUNCHES = [
    _fault("a rank too few", "roce", MPI, r"-np 256", "-np 255", "launch_hosts"),
    _fault("half the ranks of a host", "roce", MPI, r"ppr:8", "ppr:4", "launch_hosts"),
    _fault("a host twice in the list", "roce", HOSTFILE, r"host-0003", "host-0004",
           "launch_hosts"),
    _fault("a host with half its slots", "roce", HOSTFILE, r"host-0003 slots=8",
           "host-0003 slots=4", "launch_hosts"),
    _fault("a host too few for torchrun", "roce", TORCH, r"nnodes=32", "nnodes=31",
           "launch_hosts"),
    _fault("a host that nobody knows", "roce", TORCH, r"\$\{MEET:-host-0000\}", "host-9999",
           "launch_hosts"),
    _fault("an unknown rendezvous", "roce", TORCH, r"backend=c10d", "backend=c10",
           "launch_rendezvous"),
    _fault("a port that is none", "roce", JOBSET, r"port=29500", "port=99500",
           "launch_rendezvous"),
    _fault("pods without ranks", "roce", JOBSET, r" *--node-rank=.*\n", "",
           "launch_rendezvous"),
    _fault("a master that is not there", "roce", JOBSET, r"train-node-0-0", "train-nodes-0-0",
           "launch_address"),
    _fault("31 pods at once of 32", "roce", JOBSET, r"parallelism: 32", "parallelism: 31",
           "launch_world_size"),
    _fault("4 ranks a worker", "roce", JOBS, r"-N 8", "-N 4", "launch_world_size"),
    _fault("mpirun forwards no class", "roce", JOBS, r" *-x NCCL_IB_TC \\\n", "",
           "launch_variables_left_behind"),
    _fault("two rails of one table", "roce", RAILS, r"\t102", "\t101", "host_rails"),
    _fault("a host without its fourth rail", "roce", RAILS, r"host-0000\tmlx5_3.*\n", "",
           "host_rails"),
    _fault("a NIC that is not set up", "roce", HOST, r"mlx5_6 mlx5_7;", "mlx5_6;",
           "host_rails"),
    _fault("no word of trust", "roce", HOST, r"--trust dscp ", "", "trust_mode"),
    _fault("a sysctl that is none", "roce", "linux_host/90-weft-rdma.conf", r"rp_filter",
           "rpfilter", "host_sysctl_name"),
    _fault("a limit that systemd does not know", "roce", MEMLOCK, r"LimitMEMLOCK",
           "LimitMEMLOK", "host_unit"),
    _fault("a limit in no section", "roce", MEMLOCK, r"\[Service\]\n", "", "host_unit"),
    _fault("half the devices of EFA", "efa", JOBS, r"efa: 32", "efa: 16", "pod_efa"),
    _fault("a misspelt EFA", "efa", JOBS, r"amazonaws.com/efa", "amazonaws.com/efas",
           "pod_efa"),
    _fault("a length of its own", "roce", LEAF, r"Ethernet4\|172.16.0.2/31",
           "Ethernet4|172.16.0.2/30", "address_gateway"),
    _fault("an address on a port without cable", "roce", LEAF, r"Ethernet4\|172.16.0.2/31",
           "Ethernet5|172.16.0.2/31", "address_gateway"),
    _fault("two cables to one NIC", "roce_arista", EOS, r"description host-0001",
           "description host-0002", "link_peer_twice"),
    _fault("an algorithm that the tuner does not know", "roce", "nccl_tuner/tuner.csv",
           r"tree,ll128", "trees,ll128", "broken_line"),
    _fault("NVUE: no session on a cabled port", "roce", "cumulus/leaf-0000/nvue.*",
           r"(?m)^.*neighbor swp17s0 .*\n", "", "bgp_session", count=0),
]  # fmt: skip

SCRIPT, UNIT, SYSCTL = HOST, "linux_host/weft-rdma.service", "linux_host/90-weft-rdma.conf"
FORWARDING = "frr/90-weft-forwarding.conf"
OVERLAY = "ufm/mlnxsm-overlay.conf"
L8K = "l8k/cluster-config.yaml"

LATER = [
    _fault("one seed at both tiers", "roce", LEAF, r'"ToRRouter"', '"LeafRouter"',
           "ecmp_hash"),
    _fault("NX-OS: the seed of a spine", "roce_cisco", "nxos/leaf-0000/nxos.conf",
           r"universal-id 1\b", "universal-id 9", "ecmp_hash"),
    _fault("no rule to the tables of the rails", "roce", SCRIPT, r" *ip rule add .*\n", "",
           "host_routes"),
    _fault("a rule to another table", "roce", SCRIPT, r'(ip rule add .*) table "\$table"',
           r"\1 table 100", "host_routes"),
    _fault("a route in another table", "roce",
           SCRIPT, r'(ip route replace 172.*) table "\$table"',
           r"\1 table 100", "host_routes"),
    _fault("a route in no table", "roce", SCRIPT, r'(ip route replace 172.*) table "\$table"',
           r"\1", "host_routes"),
    _fault("routes to other addresses", "roce", SCRIPT, r"replace 172.16.0.0/12",
           "replace 172.32.0.0/12",
           "host_routes"),
    _fault("a route without gateway", "roce", SCRIPT, r' via "\$gateway"', "", "host_routes"),
    _fault("bits after the length", "roce", SCRIPT, r"replace 172.16.0.0/12",
           "replace 172.16.1.0/12",
           "host_routes"),
    _fault("a rule by where packets go", "roce", SCRIPT, r"ip rule add from", "ip rule add to",
           "host_routes"),
    _fault("a rail shut down", "roce", SCRIPT, r"mtu 9000 up", "mtu 9000 down", "link_down"),
    _fault("a misspelt NIC", "roce", SCRIPT, r"mlx5_3 ", "mlx6_3 ", "host_rails"),
    _fault("a rail in the main table", "roce", RAILS, r"(host-0003\tmlx5_1.*\t)102",
           r"\g<1>254",
           "host_rails"),
    _fault("two rails swapped", "roce", RAILS,
           r"(host-0003\tmlx5_1\t)(\S+\t\S+)(\t\d+\nhost-0003\tmlx5_2\t)(\S+\t\S+)",
           r"\1\4\3\2",
           "address_gateway"),
    _fault("arp_announce 3", "roce", SYSCTL, r"announce = 2", "announce = 3",
           "host_sysctl_name"),
    _fault("net.ipv5", "roce", SYSCTL, r"net.ipv4", "net.ipv5", "host_sysctl_name"),
    _fault("a type that systemd does not know", "roce", UNIT, r"oneshot", "oneshoot",
           "host_unit"),
    _fault("a path from nowhere", "roce", UNIT, r"=/usr/local", "=usr/local", "host_unit"),
    _fault("a key that systemd does not know", "roce", UNIT, r"ExecStart", "ExecStarts",
           "host_unit"),
    _fault("a script of another name", "roce", UNIT, r"sbin/weft-rdma", "sbin/weft-rmda",
           "host_unit"),
    _fault("a unit that starts nothing", "roce", UNIT, r"ExecStart=.*\n", "", "host_unit"),
    _fault("a target that is none", "roce", UNIT, r"multi-user.target", "multiuser.target",
           "host_unit"),
    _fault("a limit of nothing", "roce", "linux_host/weft-rdma-limits.conf", r"memlock",
           "memlok",
           "host_memlock"),
    _fault("set and not exported", "roce", ENV, r"export NCCL_IB_TC", "NCCL_IB_TC",
           "nccl_not_exported"),
    _fault("GIDs of the other family", "roce", CONF, r"\Z", "NCCL_IB_ADDR_FAMILY=AF_INET6\n",
           "nccl_gid_selection"),
    _fault("GIDs of another range", "roce", CONF, r"\Z", "NCCL_IB_ADDR_RANGE=10.0.0.0/8\n",
           "nccl_gid_selection"),
    _fault("a partition on Ethernet", "roce", CONF, r"\Z", "NCCL_IB_PKEY=5\n",
           "nccl_partition_key"),
    _fault("meet on localhost by default", "roce", "launch/torchrun.sh", r":-host-0000",
           ":-localhost",
           "launch_rendezvous"),
    _fault("loopback left in", "roce", "launch/mpirun.sh", r"exclude lo,sppp,", "exclude ",
           "launch_mpi"),
    _fault("a core for each rank", "roce", "launch/mpirun.sh", r"--bind-to none",
           "--bind-to core",
           "launch_mpi"),
    _fault("headroom that is not reserved", "roce", LEAF,
           r'("pg_lossless_profile": \{[^}]*"size": ")\d+', r"\g<1>19456", "buffer_profile"),
    _fault("a lossless group of an egress pool", "roce", LEAF,
           r'("pg_lossless_profile": \{\s*"pool": ")ingress_lossless_pool',
           r"\1egress_lossless_pool",
           "buffer_profile"),
    _fault("a small pool for lossless queues", "roce", LEAF,
           r'("egress_lossless_pool": \{[^}]*"size": ")\d+', r"\g<1>12120268",
           "buffer_profile"),
    _fault("a port without MTU", "roce", LEAF, r'\s*"mtu": "9216",', "", "port_unlike_others"),
    _fault("a port without FEC", "roce", LEAF, r'\s*"fec": "rs",', "", "port_unlike_others"),
    _fault("a port that nobody brings up", "roce", LEAF, r'\s*"admin_status": "up",', "",
           "link_down"),
    _fault("flows by addresses alone", "roce", LEAF, r',\s*"L4_SRC_PORT"', "", "ecmp_hash"),
    _fault("green packets not marked", "roce", LEAF, r'"wred_green_enable": "true"',
           '"wred_green_enable": "false"', "ecn_queue"),
    _fault("a queue not watched", "roce", LEAF, r',\s*"pfcwd_sw_enable": "3"', "",
           "watchdog_off"),
    _fault("the profile of another switch", "roce", LEAF, r"Mellanox-SN5600-O128", "ACS-SN4600",
           "switch_model"),
    _fault("BGP that nobody reads", "roce", LEAF, r'framework_config": "true"',
           'framework_config": "false"', "broken_line"),
    _fault("an uplink without IPv6", "roce_adaptive", LEAF,
           r'("Ethernet508": )\{\s*"ipv6_use_link_local_only": "enable"\s*\}', r"\1{}",
           "bgp_session"),
    _fault("EOS: late marks", "roce_arista", EOS, r"weight 0", "weight 15", "ecn_averaging"),
    _fault("EOS: a port without speed", "roce_arista", EOS, r"   speed 400g-4\n", "",
           "port_unlike_others"),
    _fault("NX-OS: a port not brought up", "roce_cisco", NXOS, r"  no shutdown\n", "",
           "port_unlike_others"),
    _fault("NX-OS: cages not split", "roce_cisco", NXOS, r"interface breakout.*\n", "",
           "port_split"),
    _fault("NX-OS: a port without watchdog", "roce_cisco", NXOS,
           r"(interface Ethernet1/1/1\n(?:  .*\n)*?)  priority-flow-control watch-dog.* on\n",
           r"\1", "watchdog_off"),
    _fault("NX-OS: flows by addresses alone", "roce_cisco", NXOS, r"feature bgp\n",
           "feature bgp\nip load-sharing address source-destination\n", "ecmp_hash"),
    _fault("NVUE: lossy beside PFC", "roce", NVUE, r"roce mode lossless", "roce mode lossy",
           "broken_line"),
    _fault("NVUE: cages not split", "roce", NVUE, r".* link breakout 2x\n", "", "port_split"),
    _fault("NVUE: nothing announced", "tcp", NVUE,
           r"redistribute connected state enabled", "redistribute connected state disabled",
           "bgp_session"),
    _fault("FRR: no AS of the peers", "frr", FRR, r".*remote-as external\n", "", "bgp_session"),
    _fault("FRR: 33 bits", "frr", FRR, r"ge 32", "ge 33", "bgp_filter"),
    _fault("FRR: a prefix of 100 bits", "frr", FRR, r"100.64.0.0/10", "100.64.0.0/100",
           "bgp_filter"),
    _fault("FRR: shorter than the prefix", "frr", FRR, r"ge 31", "ge 3", "bgp_filter"),
    _fault("NX-OS: nothing applied", "roce_cisco", NXOS, r"system qos\n", "",
           "qos_host_and_switch", "pfc_off"),
    _fault("FRR: BGP not started", "frr", "frr/daemons", r"bgpd=yes", "bgpd=no",
           "bgp_daemon_off"),
    _fault("FRR: no forwarding", "frr", FORWARDING, r"ip_forward = 1", "ip_forward = 0",
           "ecmp_hash"),
    _fault("FRR: the kernel's own hash", "frr", FORWARDING, r".*ipv4.fib_multipath.*\n", "",
           "ecmp_hash"),
    _fault("FRR: a port that is not started", "frr", "frr/leaf-0000/interfaces", r"auto swp1\n",
           "",
           "link_down"),
    _fault("FRR: a port without MTU", "frr", "frr/leaf-0000/interfaces",
           r"(iface swp1 .*\n)    mtu 9216\n", r"\1", "port_unlike_others"),
    _fault("Slurm: a host in no leaf", "infiniband", "slurm/topology.conf",
           r"host-\[0020-0031\]", "host-[0021-0031]", "slurm_tree"),
    _fault("Slurm: a range turned round", "infiniband", "slurm/topology.conf",
           r"host-\[0020-0031\]", "host-[0031-0020]", "broken_line"),
    _fault("an MTU that has no code", "infiniband", "opensm/partitions.conf", r"mtu=5", "mtu=6",
           "ib_partition"),
    _fault("a key of 0", "infiniband", "opensm/partitions.conf", r"0x7fff", "0x0",
           "ib_partition"),
    _fault("no host in the default partition", "infiniband", "opensm/partitions.conf",
           r": ALL, ", ": ", "ib_partition"),
    _fault("a limited subnet manager", "infiniband", "opensm/partitions.conf", r"SELF=full",
           "SELF=limited", "ib_partition"),
    _fault("a policy that does not end", "infiniband", "opensm/qos-policy.conf",
           r"end-qos-ulps", "", "broken_line"),
    _fault("adaptive routing of another level", "infiniband", OVERLAY, r"0xffff", "0x0001",
           "ib_adaptive_routing"),
    _fault("adaptive routing not on", "infiniband", OVERLAY, r"cap TRUE", "cap FALSE",
           "ib_adaptive_routing"),
    _fault("an engine of static routes", "infiniband", OVERLAY, r"ar_updn", "minhop",
           "ib_adaptive_routing"),
    _fault("one device for two rails", "infiniband", L8K, r"rdmaDevice: mlx5_1",
           "rdmaDevice: mlx5_0",
           "broken_line"),
    _fault("a rail without RDMA", "roce", POLICY,
           r'("hostdev_resource_rail_3"(?s:.*?)),\s*"isRdma": true', r"\1",
           "offer_unlike_others"),
    _fault("a rail of another maker", "roce", POLICY,
           r'("hostdev_resource_rail_3"(?s:.*?))15b3', r"\g<1>15b4", "offer_unlike_others"),
    _fault("a part of another release", "roce", POLICY, r"v26.7.0", "v25.4.0",
           "operator_parts"),
    _fault("no Multus", "roce", POLICY, r"    multus:\n(?:      .*\n)*", "",
           "operator_parts"),
    _fault("no pools", "roce", POLICY, r"  nvIpam:\n(?:    .*\n)*", "", "operator_parts"),
    _fault("a rail without source routing", "roce", NETWORKS, r' *\{"type": "sbr"\},\n', "",
           "offer_unlike_others"),
    _fault("a pool of the other kind", "roce", NETWORKS, r', "poolType": "cidrpool"', "",
           "pool_addresses", "reference_missing"),
    _fault("bits after the length of a pool", "roce", POOLS, r'cidr: "172.16.0.0',
           'cidr: "172.16.1.0', "pool_addresses"),
    _fault("a node with another prefix", "roce", POOLS, r"172.16.0.2/31", "172.16.0.2/32",
           "pool_addresses"),
    _fault("functions for a virtual machine", "roce_functions", NETWORKS,
           r"deviceType: netdevice", "deviceType: vfio-pci", "offer_unlike_others"),
    _fault("functions without RDMA", "roce_functions", NETWORKS, r"  isRdma: true\n", "",
           "offer_unlike_others"),
    _fault("functions of another link", "roce_functions", NETWORKS, r"linkType: ETH",
           "linkType: IB", "offer_unlike_others"),
    _fault("functions of any NIC", "roce_functions", NETWORKS,
           r'    rootDevices:\n    - ".*"\n', "", "offer_unlike_others"),
    _fault("two rails on one NIC", "roce_macvlan", NETWORKS, r"master: eth_r1",
           "master: eth_r0",
           "network_master"),
    _fault("a gateway outside its subnet", "infiniband", L8K, r'gateway: "172.16.0.1"',
           'gateway: "172.17.0.1"', "pool_addresses"),
]  # fmt: skip

FAULTS = [
    *JOB, *HOSTS, *SWITCHES, *SUBNET, *SLURM, *VENDORS, *ROUTES, *PODS, *LAUNCHES, *LATER
]  # fmt: skip


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
    shown = findings(files | {names[0]: changed}, fault.rules)
    assert shown, f"none of {fault.rules} noticed"
    places = {place.file for one in shown for place in one.evidence}
    assert names[0] in places, "the finding does not show the file with the fault"


def test_at_least_sixty_faults_are_planted_over_all_targets():
    assert len(FAULTS) >= 60
    assert len({fault.file.partition("/")[0] for fault in FAULTS}) >= 5


@pytest.mark.parametrize("fabric", ["tcp", "ultra_ethernet", "roce", "infiniband"])
def test_a_folder_that_weft_rendered_names_its_fabric_and_is_read_whole(fabric):
    linted = lint_texts(Text(name=name, content=text) for name, text in texts(fabric).items())
    assert linted.fabric == fabric
    assert linted.unread == ()


def test_a_fabric_is_named_by_files_that_weft_rendered_alone():
    note = "# environment of NCCL of x, by weft\n# fabric: {}\n"
    for content, fabric in (
        (note.format("tcp"), "tcp"),
        (note.format("ultra_ethernet"), "ultra_ethernet"),
        (note.format("magic"), ""),
        (note.format("tcp").replace(", by weft", ""), ""),
        (note.format("tcp") + "\n# fabric: ultra_ethernet\n", "tcp"),
    ):
        assert lint_texts([Text(name="nccl.env", content=content)]).fabric == fabric


def test_two_files_of_different_fabrics_leave_the_fabric_open():
    note = "# environment of NCCL of x, by weft\n# fabric: {}\n"
    files = [Text(name=f"{kind}.env", content=note.format(kind))
             for kind in ("tcp", "ultra_ethernet")]  # fmt: skip
    assert lint_texts(files).fabric == ""


def test_what_only_looks_like_a_file_of_weft_is_not_read():
    for name, content in (
        ("00-values.yaml", "# Helm values of x\nnfd:\n  enabled: true\n"),
        ("inventory.yml", "# Ansible: inventory of x\nall:\n  hosts: {}\n"),
        ("ufm.md", "# UFM for x\n\nsomething else\n"),
    ):
        assert [one.name for one in lint_texts([Text(name=name, content=content)]).unread]

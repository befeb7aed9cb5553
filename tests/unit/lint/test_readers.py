"""Formats that no rendered fabric has, to the same facts as all others."""

import io
import tarfile

import pytest

from weft import plugins
from weft.lint import readers
from weft.lint.facts import (
    Address,
    Bond,
    Container,
    Mapped,
    Mark,
    Marking,
    Option,
    Pause,
    PciDevice,
    Port,
    TreeSwitch,
    Trust,
    Variable,
    Watchdog,
    Workload,
)
from weft.lint.hostlist import expand
from weft.lint.lines import line_readers
from weft.lint.lint import facts_of, lint, lint_texts
from weft.lint.reader import all_readers
from weft.lint.text import Text


def _facts(name, content, kind):
    _, found = facts_of(Text(name=name, content=content))
    return [one for one in found if isinstance(one, kind)]


NVUE = """\
- header:
    model: SN5600
- set:
    system:
      hostname: leaf01
    interface:
      swp1-2:
        link:
          mtu: 9216
          speed: 400G
    qos:
      roce:
        enable: on
        mode: lossless
"""
COMPOSE = """\
services:
  train:
    image: train
    ipc: host
    shm_size: 16gb
    ulimits:
      memlock: -1
    devices: ["/dev/infiniband:/dev/infiniband"]
    environment:
      - NCCL_IB_HCA==mlx5_0
    deploy:
      resources:
        reservations:
          devices:
            - capabilities: [gpu]
"""
NETPLAN = """\
network:
  ethernets:
    eth1:
      mtu: 9000
      addresses: [10.0.0.1/31]
  bonds:
    bond0:
      interfaces: [eth2, eth3]
"""
ANSIBLE = """\
- hosts: gpu
  tasks:
    - name: quality of service
      ansible.builtin.shell: |
        mlnx_qos -i eth1 --trust dscp --pfc 0,0,0,1,0,0,0,0
        cma_roce_tos -d mlx5_0 -t 106
    - name: reverse path
      ansible.posix.sysctl:
        name: net.ipv4.conf.all.rp_filter
        value: "2"
"""
TREE = """\
- topology: ai
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: leaf[0-1]
      - switch: leaf0
        nodes: gpu[01-04]
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: workers
    replicas: 4
    template:
      spec:
        template:
          spec:
            hostIPC: true
            containers:
            - name: worker
              image: train
              env: [{name: NCCL_DEBUG, value: WARN}]
              resources: {limits: {nvidia.com/gpu: 8}}
"""
EOS = """\
hostname l1
qos map dscp 24 26 to traffic-class 3
interface Ethernet1
   qos trust dscp
"""
XML = """\
<system version="1"><cpu numaid="1"><pci busid="a"><pci busid="b"><gpu dev="0"/></pci></pci>
</cpu></system>
"""
QOS = """\
DCBX mode: OS controlled
Priority trust state: pcp
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   0   1   0   0   0
"""
CASES = [
    ("startup.yaml", NVUE, Port, {"name": "swp2", "mtu_bytes": 9216, "speed_gbit": 400.0}),
    ("startup.yaml", NVUE, Pause, {"device": "leaf01", "priorities": (3,)}),
    ("startup.yaml", NVUE, Marking, {"ecn": True, "kmin_bytes": 150_000}),
    ("startup.yaml", NVUE, Mapped, {"source": 26, "target": 3}),
    ("nv.sh", "nv set system hostname l1\nnv set interface swp3 link mtu 9000\n", Port,
     {"device": "l1", "name": "swp3", "mtu_bytes": 9000}),
    ("docker-compose.yaml", COMPOSE, Container,
     {"gpus": True, "host_ipc": True, "memlock": "-1", "devices": ("/dev/infiniband",)}),
    ("docker-compose.yaml", COMPOSE, Variable, {"name": "NCCL_IB_HCA", "value": "=mlx5_0"}),
    ("Dockerfile", "FROM x\nENV NCCL_DEBUG=INFO \\\n    NCCL_ALGO=Ring\n", Variable,
     {"name": "NCCL_ALGO", "value": "Ring", "everywhere": True}),
    ("Dockerfile", "FROM x\nENV NCCL_DEBUG INFO\n", Variable, {"value": "INFO"}),
    ("50-rails.yaml", NETPLAN, Port, {"name": "eth1", "mtu_bytes": 9000}),
    ("50-rails.yaml", NETPLAN, Bond, {"members": ("eth2", "eth3")}),
    ("50-rails.yaml", NETPLAN, Address, {"address": "10.0.0.1/31"}),
    ("site.yaml", ANSIBLE, Pause, {"priorities": (3,), "ports": ("eth1",)}),
    ("site.yaml", ANSIBLE, Mark, {"traffic_class": 106}),
    ("site.yaml", ANSIBLE, Option, {"name": "net.ipv4.conf.all.rp_filter", "value": "2"}),
    ("topology.yaml", TREE, TreeSwitch, {"name": "spine", "switches": ("leaf0", "leaf1")}),
    ("jobset.yaml", JOBSET, Workload, {"role": "workers", "replicas": 4, "host_ipc": True}),
    ("jobset.yaml", JOBSET, Container, {"limits": (("nvidia.com/gpu", "8"),)}),
    ("modules-load.d/rdma.conf", "nvidia-peermem\n", Option,
     {"program": "modules", "name": "nvidia_peermem"}),
    ("nics.sh", "#!/bin/sh\nmlnx_qos -i eth1 --dscp2prio set,26,3\n", Mapped,
     {"source": 26, "target": 3, "ports": ("eth1",)}),
    ("nics.sh", "#!/bin/sh\ndcb pfc set dev eth1 prio-pfc all:off 3:on\n", Pause,
     {"priorities": (3,), "ports": ("eth1",)}),
    ("nics.sh", "#!/bin/sh\ndcb app replace dev eth1 dscp-prio 26:3 48:6\n", Mapped,
     {"source": 48, "target": 6, "ports": ("eth1",)}),
    ("nics.sh", "#!/bin/sh\ndcb app replace dev eth1 dscp-prio 26:3 48:6\n", Trust,
     {"mode": "dscp", "ports": ("eth1",)}),
    ("run.sh", "#!/bin/sh\nmpirun -x NCCL_IB_TC=106 -x PATH ./a\n", Variable,
     {"name": "NCCL_IB_TC", "value": "106"}),
    ("run.sh", "#!/bin/sh\nNCCL_DEBUG=WARN srun --export=ALL,NCCL_IB_SL=1 ./a\n", Variable,
     {"name": "NCCL_IB_SL", "value": "1"}),
    ("leaf.conf", EOS, Trust, {"mode": "dscp", "ports": ("Ethernet1",)}),
    ("n9k.cfg", "hostname n\nsystem qos\npriority-flow-control watch-dog-interval off\n",
     Watchdog, {"on": False}),
    ("mlnx_qos.txt", QOS, Pause, {"priorities": (4,)}),
    ("mlnx_qos.txt", QOS, Trust, {"mode": "pcp"}),
    ("ip.txt", "2: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n",
     Port, {"name": "eth1", "mtu_bytes": 1500}),
    ("topo.xml", XML, PciDevice, {"numa": "1", "switch": "a"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "kind", "wanted"), CASES)
def test_a_format_is_read_to_facts(name, content, kind, wanted):
    found = _facts(name, content, kind)
    assert found, f"no {kind.__name__}"
    fitting = [
        one for one in found if all(getattr(one, key) == value for key, value in wanted.items())
    ]
    assert fitting, found[0]
    assert fitting[0].at.evidence().text


def test_every_reader_says_which_format_it_reads():
    assert set(all_readers()) == {*plugins.names(readers), *line_readers()}
    assert len({reader.title for reader in all_readers().values()}) == len(all_readers())


def test_a_list_of_hosts_is_bounded():
    assert len(expand("a[0-999999999]")) <= 200_001
    assert expand("r[1-2]n[08-10]") == ("r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10")


def test_a_key_that_stands_twice_is_shown_where_it_stands_again():
    result = lint_texts([Text(name="a.yaml", content="a: 1\nb: 2\na: 3\n")])
    assert [(one.rule, one.at.line) for one in result.findings] == [("broken_document", 3)]


def test_the_place_in_json_is_the_line_of_the_value():
    text = (
        '{\n "PORT": {\n  "Ethernet0": {"mtu": "1500"},\n  "Ethernet4": {"mtu": "9216"}\n },\n'
    )
    text += ' "DEVICE_METADATA": {}\n}\n'
    result = lint_texts([Text(name="config_db.json", content=text)])
    found = [one for one in result.findings if one.rule == "mtu_small"]
    assert [(one.at.line, one.at.column) for one in found] == [(3, 3)]


def test_an_archive_is_read_in_place(tmp_path):
    inside = b"NCCL_ALGO=Ring\n"
    with tarfile.open(tmp_path / "bundle.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("../../etc/nccl.conf")
        member.size = len(inside)
        archive.addfile(member, io.BytesIO(inside))
    result = lint([tmp_path / "bundle.tar.gz"])
    assert [one.rule for one in result.findings] == ["nccl_forced_algorithm"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle.tar.gz"]
    (tmp_path / "broken.tar.gz").write_bytes(b"no archive")
    assert lint([tmp_path / "broken.tar.gz"]).unread


def test_templates_are_left_alone():
    text = "a: {{ .Values.a }}\n{% if b %}\nc: 1\n{% endif %}\n"
    assert not lint_texts([Text(name="chart.yaml", content=text)]).findings

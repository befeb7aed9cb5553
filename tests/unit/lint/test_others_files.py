"""Healthy configurations that weft did not write: habits of others raise no error."""

import json

import pytest

from weft.lint.lint import facts_of, find
from weft.lint.rule import Case, Severity
from weft.lint.text import Text

OVERLAY_LEAF = """frr version 10.1
frr defaults datacenter
hostname leaf7
service integrated-vtysh-config
!
interface lo
 ip address 192.0.2.7/32
exit
!
interface swp51
 ip address 198.51.100.1/31
exit
!
router bgp 65107
 bgp router-id 192.0.2.7
 timers bgp 10 30
 bgp bestpath as-path multipath-relax
 neighbor UP peer-group
 neighbor UP remote-as external
 neighbor UP timers connect 5
 neighbor swp51 interface peer-group UP
 !
 address-family ipv4 unicast
  redistribute connected route-map LOOPS
  maximum-paths 32
 exit-address-family
exit
!
ip prefix-list LOOPS seq 10 permit 192.0.2.0/24 eq 32
!
route-map LOOPS permit 10
 match ip address prefix-list LOOPS
exit
"""
SESSIONS = """feature bgp
hostname n9k-3
interface Ethernet1/1
  no switchport
  mtu 9216
  ip address 198.51.100.4/31
  no shutdown
router bgp 65003
  router-id 192.0.2.3
  template peer-session SPINES
    remote-as 65000
    timers 10 30
  address-family ipv4 unicast
    maximum-paths 16
    redistribute direct route-map ALL
  neighbor 198.51.100.5
    inherit peer-session SPINES
    address-family ipv4 unicast
  neighbor 198.51.100.9
    remote-as 65000
    address-family ipv4 unicast
route-map ALL permit 10
"""
INJECTED = """apiVersion: v1
kind: Pod
metadata:
  name: trainer
  annotations:
    k8s.v1.cni.cncf.io/networks: '[{"name": "fast", "interface": "net1"}]'
spec:
  containers:
  - name: main
    image: trainer
    env:
    - {name: NCCL_SOCKET_IFNAME, value: net1}
    securityContext: {capabilities: {add: [IPC_LOCK]}}
    resources:
      limits: {nvidia.com/gpu: 8}
    volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes:
  - name: shm
    emptyDir: {medium: Memory, sizeLimit: 64Gi}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: fast
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/resourceName: openshift.io/fast}
spec:
  config: '{"cniVersion": "1.0.0", "type": "sriov", "ipam": {"type": "whereabouts"}}'
"""
HOOKED = INJECTED.replace("k8s.v1.cni.cncf.io/networks", "example.org/networks")
ELASTIC = """apiVersion: v1
kind: Service
metadata: {name: meet}
spec:
  clusterIP: None
  selector: {app: sets}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: sets}
spec:
  serviceName: meet
  replicas: 4
  selector: {matchLabels: {app: sets}}
  template:
    metadata: {labels: {app: sets}}
    spec:
      containers:
      - name: main
        image: trainer
        command: [/bin/bash, -c]
        args:
        - |
          exec torchrun --nnodes=2:4 --nproc-per-node=8 --rdzv-id=7 --rdzv-backend=c10d \\
            --rdzv-endpoint=sets-0.meet.default.svc.cluster.local:29400 train.py
        resources:
          limits: {nvidia.com/gpu: 8}
        volumeMounts: [{name: shm, mountPath: /dev/shm}]
      volumes:
      - name: shm
        emptyDir: {medium: Memory, sizeLimit: 64Gi}
"""
RAILS = "\n---\n".join(
    f"""apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {{name: {name}, namespace: default}}
spec:
  config: '{{"cniVersion": "1.0.0", "type": "macvlan", "master": "{name}", "mtu": {mtu}}}'"""
    for name, mtu in [*((f"rail{n}", 9000) for n in range(8)), ("storage", 1500)]
)
FEWER = "#!/bin/sh\nmpirun -np 16 --hostfile hosts -x NCCL_DEBUG=WARN ./all_reduce_perf -g 1\n"
HOSTS = "".join(f"gpu{n} slots=8\n" for n in range(4))


def _sonic():
    """Two classes with PFC, and the cable lengths that SONiC guesses, each with its profile."""
    ports = {f"Ethernet{4 * n}": "300m" if n > 5 else "5m" for n in range(8)}
    same = {str(n): str(n) for n in range(8)}
    profile = {"pool": "ingress_lossless_pool", "xon": "19456", "dynamic_th": "0"}
    return json.dumps(
        {
            "DEVICE_METADATA": {"localhost": {"hostname": "tor-1", "hwsku": "ACS-MSN4700"}},
            "PORT": {
                name: {"speed": "400000", "mtu": "9100", "fec": "rs", "admin_status": "up"}
                for name in ports
            },
            "CABLE_LENGTH": {"AZURE": ports},
            "TC_TO_QUEUE_MAP": {"AZURE": same},
            "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": same},
            "TC_TO_PRIORITY_GROUP_MAP": {
                "AZURE": {str(n): str(n) if n in {3, 4} else "0" for n in range(8)}
            },
            "DSCP_TO_TC_MAP": {
                "AZURE": {str(n): {3: "3", 4: "4"}.get(n, "1") for n in range(64)}
            },
            "PORT_QOS_MAP": {
                name: {
                    "dscp_to_tc_map": "AZURE", "tc_to_queue_map": "AZURE",
                    "tc_to_pg_map": "AZURE", "pfc_to_queue_map": "AZURE",
                    "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4",
                }
                for name in ports
            },
            "WRED_PROFILE": {
                "AZURE": {"ecn": "ecn_all", "wred_green_enable": "true",
                          "green_min_threshold": "250000", "green_max_threshold": "1000000",
                          "green_drop_probability": "5"}
            },
            "QUEUE": {f"{name}|3-4": {"wred_profile": "AZURE"} for name in ports},
            "BUFFER_POOL": {
                "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic",
                                          "size": "52166656"}
            },
            "BUFFER_PROFILE": {
                "pg_lossless_400000_5m_profile": profile | {"xoff": "38912", "size": "58368"},
                "pg_lossless_400000_300m_profile": profile
                | {"xoff": "373760", "size": "393216"},
            },
            "BUFFER_PG": {
                f"{name}|3-4": {"profile": f"pg_lossless_400000_{length}_profile"}
                for name, length in ports.items()
            },
        },
        indent=1,
    )  # fmt: skip


HEALTHY = {
    "a leaf that announces loopbacks alone": {"leaf7/frr.conf": OVERLAY_LEAF},
    "NX-OS with peer sessions": {"n9k-3/running.conf": SESSIONS},
    "devices that a webhook adds": {"pod.yaml": INJECTED},
    "networks that a webhook adds": {"pod.yaml": HOOKED},
    "an elastic StatefulSet": {"elastic.yaml": ELASTIC},
    "rails and a network of storage": {"networks.yaml": RAILS},
    "a test of some of the hosts": {"hosts": HOSTS, "two.sh": FEWER},
    "SONiC with its own guesses of cables": {"tor-1/config_db.json": _sonic()},
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_configuration_of_others_raises_no_error(name):
    read = [facts_of(Text(name=file, content=text)) for file, text in HEALTHY[name].items()]
    assert all(readers for readers, _ in read), "nobody reads it: silence would prove nothing"
    found, _ = find(Case([fact for _, facts in read for fact in facts]))
    errors = [one for one in found if one.severity is Severity.ERROR]
    assert not errors, [(one.rule, one.at.line, one.message) for one in errors]

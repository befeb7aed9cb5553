"""What guides for practitioners set, and what weft says of it.

The settings are those that the founding articles give (K: InfiniBand vs Ethernet for AI on
Kubernetes; L: InfiniBand vs Ethernet for AI), written down anew.
"""

import pytest

from weft.lint.lint import lint_texts
from weft.lint.rule import Severity
from weft.lint.text import Text


def _rules(**files):
    texts = [Text(name=name.replace("__", "."), content=text) for name, text in files.items()]
    found = lint_texts(texts).findings
    return {one.rule for one in found if one.severity is not Severity.INFO}, {
        one.rule for one in found
    }


def _pod(
    env, resources="rdma/rdma_shared_device_a: 1\n            nvidia.com/gpu: 8", extra=""
):
    rows = "".join(
        f'        - name: {key}\n          value: "{value}"\n' for key, value in env.items()
    )
    return f"""apiVersion: v1
kind: Pod
metadata:
  name: training
  annotations:
    k8s.v1.cni.cncf.io/networks: rdma-net
spec:
  containers:
    - name: trainer
      image: trainer
      env:
{rows}      resources:
          limits:
            {resources}
{extra}"""


def test_k_sets_a_distance_by_number_and_names_adapters_by_prefix():
    """NCCL_NET_GDR_LEVEL 5 forces GPUDirect between sockets as well."""
    env = {"NCCL_IB_DISABLE": "0", "NCCL_IB_HCA": "mlx5", "NCCL_NET_GDR_LEVEL": "5"}
    worse, _ = _rules(pod__yaml=_pod(env))
    assert "nccl_gpudirect" in worse
    assert {"pod_ipc_lock", "pod_shared_memory"} <= worse


def test_k_sets_the_gid_index_on_infiniband_too():
    env = {"NCCL_IB_HCA": "=mlx5_0", "NCCL_IB_GID_INDEX": "3", "NCCL_ALGO": "Ring"}
    network = """apiVersion: mellanox.com/v1alpha1
kind: IPoIBNetwork
metadata:
  name: rdma-net
spec:
  networkNamespace: default
  master: ib0
"""
    worse, _ = _rules(pod__yaml=_pod(env), network__yaml=network)
    assert {"nccl_gid_on_infiniband", "nccl_forced_algorithm"} <= worse


def test_k_marks_nothing_on_roce_and_guesses_the_gid():
    env = {"NCCL_IB_HCA": "=mlx5_0", "NCCL_IB_GID_INDEX": "3", "NCCL_DEBUG": "INFO"}
    network = """apiVersion: mellanox.com/v1alpha1
kind: MacvlanNetwork
metadata:
  name: rdma-net
spec:
  master: eth0
  mtu: 1500
"""
    worse, every = _rules(pod__yaml=_pod(env), network__yaml=network)
    assert {"nccl_gid_by_hand", "mtu_small"} <= worse
    assert "nccl_debug_left_on" in every


def test_k_tunes_sockets_beyond_what_nccl_takes():
    env = {"NCCL_IB_DISABLE": "1", "NCCL_SOCKET_NTHREADS": "16", "NCCL_NSOCKS_PERTHREAD": "8"}
    worse, _ = _rules(pod__yaml=_pod(env, "nvidia.com/gpu: 1"))
    assert {"nccl_socket_threads", "nccl_rdma_off"} <= worse


def test_k_isolates_jobs_by_limited_members():
    """P_Keys as guides give them: two limited members cannot talk to one another."""
    worse, _ = _rules(
        partitions__conf="Default=0x7fff, ipoib : ALL=limited, SELF=full ;\n"
        "ai=0x8001, ipoib : 0x1=limited, 0x2=limited ;\n",
        opensm__conf="sm_priority 15\nrouting_engine ar_updn\n",
    )
    assert {"ib_partition", "ib_routing"} <= worse


def test_k_turns_pfc_on_and_leaves_out_the_watchdog_and_ecn():
    leaf = """{"DEVICE_METADATA": {"localhost": {"hostname": "leaf"}},
 "PORT": {"Ethernet0": {"mtu": "9216", "speed": "100000"}},
 "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "AI", "pfc_enable": "3"}},
 "DSCP_TO_TC_MAP": {"AI": {"26": "3"}},
 "QUEUE": {"Ethernet0|3": {"scheduler": "s"}}, "SCHEDULER": {"s": {"type": "DWRR"}}}
"""
    worse, _ = _rules(config_db__json=leaf)
    assert {"watchdog_off", "ecn_queue"} <= worse


def test_l_names_adapters_and_the_index_of_another_fabric():
    script = """#!/bin/bash
export NCCL_IB_DISABLE=0
export NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3
export NCCL_IB_GID_INDEX=3
export NCCL_NET_GDR_LEVEL=5
export NCCL_DEBUG=INFO
torchrun --nnodes=4 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=$HOST:29500 a.py
"""
    worse, every = _rules(job__sh=script)
    assert {"nccl_gpudirect", "nccl_adapter_list"} <= worse
    assert "nccl_debug_left_on" in every
    assert "nccl_gid_by_hand" in every


@pytest.mark.parametrize(
    ("practice", "rule", "files"),
    [
        ("GPUDirect RDMA on", "nccl_gpudirect", {"nccl__conf": "NCCL_NET_GDR_LEVEL=LOC\n"}),
        ("jumbo frames", "mtu_small", {"up__sh": "#!/bin/sh\nip link set dev eth1 mtu 1500\n"}),
        ("several adapters", "nccl_adapter_count", {
            "nccl__conf": "NCCL_IB_HCA==mlx5_0\n",
            "rails__tsv": "#host\tdevice\taddress\tgateway\ttable\n"
            "h0\tmlx5_0\t10.0.0.1/31\t10.0.0.0\t101\nh0\tmlx5_1\t10.0.0.3/31\t10.0.0.2\t102\n",
        }),
        ("no TCP where there is RDMA", "nccl_rdma_off", {
            "nccl__conf": "NCCL_IB_DISABLE=1\nNCCL_IB_HCA==mlx5_0\n"}),
    ],
)  # fmt: skip
def test_the_best_practices_of_k_are_checks(practice, rule, files):
    worse, _ = _rules(**files)
    assert rule in worse, practice

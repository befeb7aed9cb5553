"""What outputs say together: the same cause in other spellings, and its harmless twin."""

import pytest

from weft.doctor.diagnose import diagnose, find
from weft.doctor.ranking import Verdict
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

_LINK = "{bus}  LnkCap: Speed 16GT/s, Width x16   LnkSta: Speed 16GT/s, Width x{width}\n"
_FIELDS = (
    "c1:00.0: LnkCap: Port #0, Speed 32GT/s, Width x16, ASPM not supported\n"
    "c1:00.0: LnkSta: Speed 32GT/s, Width x4 (downgraded)\n"
)
_REFUSED = (
    "h7:50:61 [2] NCCL WARN NET/IB : Got completion with error 4, opcode 0, len 4096, "
    "vendor err 81\n"
)
_UNLIKE = (
    "h8:70:70 [1] NCCL WARN Mismatched collective detected, please check your collective "
    "calls at and around rank 3\n"
)
_REDIRECTING = (
    "3a:00.0 PCI bridge: Broadcom PEX890xx (rev b0)\n"
    "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir- UpstreamFwd+\n"
)
_TABLE = (
    "DEV\tPORT\tINDEX\tGID\n"
    "{name}\t1\t0\tfe80:0000:0000:0000:0a1b:2cff:fe3d:4e5f\tv2\tens1\n"
    "{name}\t1\t5\t2001:0db8:0007:0001:0a1b:2cff:fe3d:4e5f\tv2\tens1\n"
)
_LOST = (
    "E0102 09:00:00.000001 7 net.cc:11] transport retry counter exceeded on the queue pair\n"
)
_PAIR = (
    "NCCL INFO NCCL_IB_HCA set to mlx5_4,mlx5_5,mlx5_6\n"
    "NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_5:1, "
    "curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.20.1.4, "
    "remote GID ::ffff:10.20.2.5\n"
)
_ADDRESSED = (
    "DEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n"
    "mlx5_4\t1\t3\t0000:0000:0000:0000:0000:ffff:{first}\t\tv2\teth4\n"
    "mlx5_5\t1\t3\t0000:0000:0000:0000:0000:ffff:0a14:0104\t\tv2\teth5\n"
    "mlx5_6\t1\t3\t0000:0000:0000:0000:0000:ffff:0a14:0204\t\tv2\teth6\n"
)
_WITHOUT = (
    "w1:9:9 [0] NCCL INFO NET/IB : No device found.\n"
    "w1:9:9 [0] NCCL INFO NET/Socket : Using [0]eth0:192.0.2.11<0>\n"
)
_WITH = "w2:8:8 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE ; OOB eth0:192.0.2.12<0>\n"
_OFFERED = (
    "r1:3:3 [0] NCCL INFO NET/Socket : Using [0]eth1:192.0.2.21<0> "
    "[1]cali5c0ffee:fe80::4c1:b0ff:fe0d:1%cali5c0ffee<0>\n"
    "r1:3:3 [0] NCCL INFO Using network Socket\n"
)
_TIMED_OUT = (
    "r1:3:9 [0] NCCL WARN Connect to fe80::9c1:b0ff:fe0d:2%9<40011> failed : "
    "Connection timed out\n"
)
_SHORT = (
    "Warning  FailedScheduling  4m  default-scheduler  0/3 nodes are available: "
    "3 Insufficient nvidia.com/roce_pool.\n"
)
_NODE = (
    "Name:   gpu-{number}\nCapacity:\n  nvidia.com/roce_pool:  2\n"
    "Allocatable:\n  nvidia.com/roce_pool:  2\n"
    "Non-terminated Pods:   ({count} in total)\n"
    "  Namespace   Name   CPU Requests  CPU Limits  Age\n"
    "  kube-system   node-proxy-{number}   100m (0%)   0 (0%)   3d\n"
    "  {space}   agent-{number}   0 (0%)   0 (0%)   3d\n"
    "Allocated resources:\n  Resource   Requests   Limits\n"
    "  nvidia.com/roce_pool   2   2\n"
)
_UCX = (
    "[1700000000.000100] [h3:77:0]  ib_log.c:200  UCX  ERROR mlx5_1: ibv_create_qp() failed: "
    "Cannot allocate memory\n"
)
_OSU = (
    "# OSU MPI Latency Test v7.1\n# Size          Latency (us)\n8                       0.41\n"
)


def _node(number, *, count=2, space="network-operator"):
    return _NODE.format(number=number, count=count, space=space)


NAMED = {
    "both fields of a PCI link on one line": (
        "pcie-link-degraded",
        (
            _LINK.format(bus="0001:41:00.0", width=16)
            + _LINK.format(bus="0003:41:00.0", width=8),
        ),
    ),
    "a PCI link beside its address, field by field": (
        "pcie-link-degraded",
        (_FIELDS,),
    ),
    "sizes that do not fit after a refused transfer": (
        "pcie-acs-enabled",
        (_REFUSED + _UNLIKE, _REDIRECTING),
    ),
    "sizes that do not fit, in later words too": (
        "pcie-acs-enabled",
        (
            _REFUSED
            + "h8:70:70 [1] NCCL WARN Message truncated : received 4096 bytes instead of 512\n"
            + _UNLIKE,
            _REDIRECTING,
        ),
    ),
    "sizes that do not fit after a refused transfer, and nothing of the bridges": (
        "gdr-access-blocked",
        (_REFUSED + _UNLIKE,),
    ),
    "ranks that differ without any transfer refused": (
        "app-collective-mismatch",
        (_UNLIKE, _REDIRECTING),
    ),
    "a link-local GID in use on an IPv6 network": (
        "gid-index-wrong",
        (
            "mlx5_3 port 1 using GID index 0\n" + _LOST,
            _TABLE.format(name="mlx5_3"),
        ),
    ),
    "a link-local GID in use, in another program's words": (
        "gid-index-wrong",
        (
            "[net] selected sgid_index=0 for device rocep9s0\n" + _LOST,
            _TABLE.format(name="rocep9s0"),
        ),
    ),
    "a list of adapters with one that nobody addressed": (
        "hca-selection-wrong",
        (_PAIR, _ADDRESSED.format(first="a9fe:0707")),
    ),
    "a prefix that takes in one that nobody addressed": (
        "hca-selection-wrong",
        (
            _PAIR.replace("mlx5_4,mlx5_5,mlx5_6", "mlx5"),
            _ADDRESSED.format(first="a9fe:c801"),
        ),
    ),
    "rails that are all addressed": (
        "rail-isolated",
        (
            _PAIR + _PAIR.replace("1.4", "2.9").replace("2.5", "1.8"),
            _ADDRESSED.format(first="0a14:0004"),
        ),
    ),
    "old versions, one with adapters and one without": (
        "net-backend-mismatch",
        (_WITHOUT, _WITH),
    ),
    "one version that says and one that only lists": (
        "net-backend-mismatch",
        (_WITHOUT, _WITH + "w2:8:8 [0] NCCL INFO Using network IB\n"),
    ),
    "a pod's link-local interface offered to other hosts": (
        "bootstrap-wrong-interface",
        (_OFFERED + _TIMED_OUT,),
    ),
    "a container's interface offered, no route": (
        "bootstrap-wrong-interface",
        (
            _OFFERED.replace("cali5c0ffee", "vethab12cd")
            + _TIMED_OUT.replace("Connection timed out", "No route to host"),
        ),
    ),
    "a resource that is booked and that no pod could hold": (
        "k8s-rdma-resource-stale",
        (_SHORT, _node(1)),
    ),
    "the same on each of two nodes": (
        "k8s-rdma-resource-stale",
        (_SHORT, _node(1), _node(2, space="calico-system")),
    ),
    "a resource booked beside a tenant's pod": (
        "k8s-rdma-resource-exhausted",
        (_SHORT, _node(1, space="team-a")),
    ),
    "a tenant's pod on one of two nodes": (
        "k8s-rdma-resource-exhausted",
        (_SHORT, _node(1), _node(2, space="team-a")),
    ),
    "a list of pods that was cut short": (
        "k8s-rdma-resource-exhausted",
        (_SHORT, _node(1, count=9)),
    ),
    "a transport that failed, and no result below it": (
        "memlock-limit",
        (_OSU + _UCX,),
    ),
}
SOUND = {
    "a PCI link that trained as it can": (_LINK.format(bus="0001:41:00.0", width=16),),
    "a transport that failed and was not needed": (_UCX + _OSU,),
    "a transport that was not needed for bandwidth": (
        _UCX.replace("create_qp", "reg_mr")
        + "# OSU MPI Bandwidth Test v7.1\n# Size      Bandwidth (MB/s)\n64          212.5\n",
    ),
    "a link-local GID that nothing failed at": (
        "mlx5_3 port 1 using GID index 0\n",
        _TABLE.format(name="mlx5_3"),
    ),
    "an adapter without an address in a list that works": (
        _PAIR.partition("\n")[0] + "\n",
        _ADDRESSED.format(first="a9fe:0707"),
    ),
    "old versions that all found adapters": (
        _WITH,
        _WITH.replace("w2:8:8", "w3:8:8")
        + "w3:8:8 [0] NCCL INFO NET/Socket : Using [0]eth0:192.0.2.13<0>\n",
    ),
    "a pod's interface among those offered": (_OFFERED,),
}


def _said(*texts):
    read = [read_text(text, f"{number}.txt") for number, text in enumerate(texts)]
    facts = tuple(fact for found, _ in read for fact in found)
    return diagnose(Observation(facts, tuple(file for _, file in read)))


@pytest.mark.parametrize(("cause", "texts"), NAMED.values(), ids=NAMED)
def test_the_outputs_together_name_the_cause(cause, texts):
    assert _said(*texts).causes[:1] == (cause,)


@pytest.mark.parametrize("texts", SOUND.values(), ids=SOUND)
def test_the_same_outputs_without_the_deciding_line_accuse_nobody(texts):
    said = _said(*texts)
    assert said.verdict is not Verdict.FINDINGS
    assert not [one for one in said.findings if one.finding.severity is Severity.ERROR]


def test_a_mismatch_seen_before_any_transfer_stands_beside_a_refused_one():
    compared = (
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running "
        "collective: CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, "
        "TensorShape=[8]), but Rank 0 is running collective: CollectiveFingerPrint("
        "SequenceNumber=3, OpType=BROADCAST, TensorShape=[8]).\n"
    )
    causes = [one.finding.cause for one in _said(_REFUSED + compared, _REDIRECTING).findings]
    assert {"app-collective-mismatch", "pcie-acs-enabled"} <= set(causes)


def _joined(host, rank, network, communicator):
    head = f"{host}:{40 + rank}:{50 + rank} [0] NCCL INFO"
    return (
        f"{head} Using network {network}\n"
        f"{head} ncclCommInitRank comm 0x55d0{rank} rank {rank} nranks 2 cudaDev 0 busId 1a000 "
        f"commId {communicator} - Init COMPLETE\n"
    )


@pytest.mark.parametrize(
    ("communicator", "differ"), [("0x51", True), ("0x77", False)], ids=["one job", "two jobs"]
)
def test_ranks_that_never_meet_may_use_other_networks(communicator, differ):
    """The log of a sound job beside another one is no mismatch: both are whole."""
    if differ:
        texts = [_joined("a1", 0, "IB", "0x51") + _joined("a2", 1, "Socket", communicator)]
    else:
        texts = [
            "".join(_joined(f"a{rank}", rank, "IB", "0x51") for rank in (0, 1)),
            "".join(_joined(f"b{rank}", rank, "Socket", communicator) for rank in (0, 1)),
        ]
    facts = [fact for n, text in enumerate(texts) for fact in read_text(text, f"{n}.log")[0]]
    causes = {one.cause for one in find(facts)}
    assert ("net-backend-mismatch" in causes) is differ


def _found(*texts):
    return [one.finding for one in _said(*texts).findings]


_FAR_END = (
    "ash2:33:72 [0] transport/net_ib.cc:801 NCCL WARN NET/IB : Got completion with error 10, "
    "opcode 0, len 0, vendor err 136\n"
)


def test_what_the_far_end_says_of_a_refused_access_is_no_death_of_a_peer():
    assert "peer-process-died" in {one.cause for one in _found(_FAR_END)}
    assert {one.cause for one in _found(_REFUSED, _FAR_END)} == {"gdr-access-blocked"}


_BENCHMARK_FAILS = " Completion with error at client\n Failed status 11: wr_id 0 syndrom 0x89\n"
_COLLECTIVES_WORK = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 31.86\n"
_ON_ONE_HOST = (
    "w1:12:50 [0] NCCL INFO comm 0x56 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0\n"
)


def test_a_benchmark_that_fails_where_collectives_pass_between_hosts_is_no_error():
    def severities(*texts):
        return {str(one.severity) for one in _found(*texts)}

    assert severities(_BENCHMARK_FAILS) == {"error"}
    assert severities(_BENCHMARK_FAILS, _COLLECTIVES_WORK) == {"warning"}
    assert severities(_BENCHMARK_FAILS, _COLLECTIVES_WORK, _ON_ONE_HOST) == {"error"}
    assert "error" in severities(_BENCHMARK_FAILS, _COLLECTIVES_WORK, _REFUSED)

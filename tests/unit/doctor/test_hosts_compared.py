"""What two outputs decide together: an index and two tables, a card and its slot."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text


def _found(*texts):
    facts, files = [], []
    for number, text in enumerate(texts):
        told, read = read_text(text, f"out_{'abc'[number]}.txt")
        facts += told
        files.append(read)
    seen = Observation(facts=tuple(facts), files=tuple(files))
    return [one.finding for one in diagnose(seen).findings]


def _errors(*texts):
    return [one.cause for one in _found(*texts) if one.severity is Severity.ERROR]


TABLE = """mlx5_2  1  3  0000:0000:0000:0000:0000:ffff:0a64:0{}01 10.100.{}.1   v2      eth2
mlx5_2  1  5  0000:0000:0000:0000:0000:ffff:0a64:0{}01 10.100.{}.1   v2      eth3
"""
PINNED = """NCCL_IB_GID_INDEX=3
b:4:77 [0] transport/net_ib.cc:1590 NCCL WARN NET/IB: Got completion from peer \
10.1.0.1<50114> with status=12 opcode=0 len=0 vendor err 129 (Send) \
localGid ::ffff:10.100.{}.1 remoteGids::ffff:10.100.2.1 hca mlx5_2
"""


def test_an_index_that_names_other_networks_on_two_hosts_is_wrong():
    found = _found(TABLE.format(2, 2, 4, 4), TABLE.format(4, 4, 2, 2), PINNED.format(4))
    assert found[0].cause == "gid-index-wrong"
    assert "index 5" in found[0].message


SLOT = """3a:01.0 PCI bridge: Intel Corporation Root Port (prog-if 00 [Normal decode])
	Bus: primary=3a, secondary=3b, subordinate=3b, sec-latency=0
		LnkCap:	Port #1, Speed {}GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s, Width x16
3b:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (downgraded), Width x16
"""


@pytest.mark.parametrize(("slot", "causes"), [(16, []), (32, ["pcie-link-degraded"])])
def test_a_card_is_not_faster_than_its_slot(slot, causes):
    assert _errors(SLOT.format(slot)) == causes


AGED = """$ uptime -p
up {}
$ perfquery -C mlx5_2
# Port counters: Lid 41 port 1 (CapMask: 0x5A00)
SymbolErrorCounter:..............1823
LinkDownedCounter:...............40
"""


@pytest.mark.parametrize(("age", "causes"), [
    ("2 hours, 4 minutes", ["ib-link-errors"]), ("2 years, 14 weeks", []),
])  # fmt: skip
def test_errors_count_by_the_hours_in_which_they_came(age, causes):
    assert _errors(AGED.format(age)) == causes


def test_losses_of_a_link_count_by_the_hours_in_which_they_came():
    lost = AGED.replace("SymbolErrorCounter:..............1823\n", "")
    assert [one.cause for one in _found(lost.format("2 hours, 4 minutes"))] == ["ib-link-flap"]
    assert _found(lost.format("2 years, 14 weeks")) == []


NAMED = """{}$ getent hosts gpu-head
127.0.1.1       gpu-head
"""
REFUSED = """[W socket.cpp:601] [c10d] The client socket has failed to connect to \
[gpu-head]:29500 (errno: 111 - Connection refused).
"""


def test_only_another_host_is_misled_by_a_loopback_name():
    assert _errors(NAMED.format("gpu-worker"), REFUSED) == ["bootstrap-wrong-interface"]
    own = _found(NAMED.format("gpu-head"), REFUSED)
    assert "bootstrap-wrong-interface" not in [one.cause for one in own[:1]]


_ALONE = """{host}:100:100 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>
{host}:100:110 [0] NCCL INFO comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1000 commId 0x{of} - \
Init COMPLETE
{host}:101:111 [1] NCCL INFO comm 0x56 rank 1 nranks 2 cudaDev 1 busId 2000 commId 0x{of} - \
Init COMPLETE
"""
_OF_TWO = """{host}:100:100 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>
{host}:100:110 [0] NCCL INFO comm 0x55 rank {rank} nranks 4 cudaDev 0 busId 1000 commId 0xa1 - \
Init START
"""


def test_jobs_of_one_host_each_may_have_the_address_of_a_bridge():
    assert not _errors(_ALONE.format(host="n1", of="a1"), _ALONE.format(host="n2", of="b2"))
    together = _errors(_OF_TWO.format(host="n1", rank=0), _OF_TWO.format(host="n2", rank=1))
    assert together == ["bootstrap-wrong-interface"]


_TRIED = """[n1][[1,1],0][btl_tcp_endpoint.c:625:mca_btl_tcp_endpoint_complete_connect] \
connect() to 10.{}.0.2 failed: No route to host (113)
"""
_MEASURED = """# OSU MPI Latency Test v7.0
# Size          Latency (us)
1                       1.51
2                       1.52
"""


def test_networks_without_a_way_do_not_matter_where_mpi_found_another():
    tried = _TRIED.format(8) + _TRIED.format(9)
    assert _errors(tried) == ["bootstrap-wrong-interface"]
    assert not _errors(tried + _MEASURED)


_NO_PORT = """libfabric:771:1730000000::psm2:core:psmx2_update_hfi_info():427<info> \
hfi1 units: total 0, active 0; hfi1 contexts: total 0, free 0
libfabric:771:1730000000::psm2:core:psmx2_getinfo():536<info> no PSM2 device is active.
"""
_BY_PLACE = """CA 'ibp12s0'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 31
\t\tSM lid: 1
\t\tLink layer: InfiniBand
"""


def test_an_adapter_called_by_its_place_need_not_be_one_of_omni_path():
    assert not _errors(_NO_PORT, _BY_PLACE)


_CHANNELS = """{host}:1:1 [0] NCCL INFO NCCL_MIN_NCHANNELS set by environment to {count}.
{host}:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.{count}<0>
"""


def test_unlike_settings_are_no_error_while_nobody_waits():
    found = _found(_CHANNELS.format(host="n1", count=8), _CHANNELS.format(host="n2", count=16))
    assert [(one.cause, one.severity) for one in found] == [
        ("nccl-version-or-env-mismatch", Severity.WARNING)
    ]


_BEYOND = """n1:1:1 [0] graph/xml.cc:469 NCCL WARN Could not find real path of \
/sys/class/pci_bus/10000:e1/../../10000:e1:00.0
"""


def test_a_tree_that_was_not_followed_is_no_error_where_the_rings_stand():
    assert _errors(_BEYOND) == ["topology-misdetected"]
    assert not _errors(_BEYOND + "n1:1:1 [0] NCCL INFO Connected all rings\n")


@pytest.mark.parametrize(
    ("words", "causes"),
    [
        ("mpirun -np 4 --host n1:2,n2:2 ./train", ["nccl-version-or-env-mismatch"]),
        ("mpirun -np 4 --host n1:2,n2:2 -x NCCL_ALGO ./train", []),
        ("mpiexec -n 4 -ppn 2 -hosts n1,n2 ./train", []),
        ("mpirun -np 4 ./train", []),
    ],
)
def test_mpirun_of_open_mpi_keeps_variables_to_its_own_host(words, causes):
    found = _found(f"NCCL_ALGO=Ring {words}\n")
    assert [one.cause for one in found if one.rule == "ranks_differ"] == causes


_REPEATED = """r12-n3:~$ rdma statistic show link bnxt_re1/1 -p | grep -E 'retrans|naks'; date
\tto_retransmits {0}
\tseq_err_naks_rcvd {0}
Mon Jun 30 08:01:10 UTC 2025
"""


def test_what_was_lost_since_the_start_is_no_error_by_itself():
    once = [one for one in _found(_REPEATED.format(4410220)) if one.rule == "packet_loss"]
    assert [one.severity for one in once] == [Severity.WARNING]

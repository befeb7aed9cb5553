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

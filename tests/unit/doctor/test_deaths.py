"""The kernel tells of every death on a host; which of them is the job's is another matter."""

import pytest

from weft.doctor.diagnose import find
from weft.observe.reading import read_text

KILLED = "Out of memory: Killed process {pid} ({name}) total-vm:9122kB, anon-rss:8812kB"
ERROR = (
    "2026-11-20 10:00:00 node1:4100:4180 [0] NCCL WARN NET/IB : Got completion from peer "
    "10.9.0.5<41022> with error 12, opcode 1, len 4096, vendor err 129 (Recv)\n"
)
GONE = (
    "node1:4100:4180 [0] NCCL WARN Call to recv from 10.9.0.5<41022> failed : "
    "Connection closed by remote peer\n"
)
RANK = (
    "node1:4100:4180 [0] NCCL INFO comm 0x5 rank 0 nranks 8 cudaDev 0 busId 18000 commId "
    "0x7 - Init COMPLETE\n"
)


def _found(text):
    facts, _ = read_text(text, "all.txt")
    return [one for one in find(facts) if one.rule == "peer_died"]


def _dmesg(day="20", hour="09:59", pid=40112, name="python3"):
    killed = KILLED.format(pid=pid, name=name)
    return f"2026-11-{day}T{hour}:30.000000+00:00 node2 kernel: {killed}\n"


def test_a_death_with_nothing_else_wrong_is_a_suspect_only():
    [only] = _found(_dmesg())
    assert not only.decided
    assert only.confidence_ratio < 0.3


def test_a_death_before_the_errors_of_the_job_is_their_cause():
    [only] = _found(_dmesg() + ERROR)
    assert only.decided


@pytest.mark.parametrize("old", [{"day": "19"}, {"hour": "08:10"}])
def test_a_death_long_before_the_first_error_is_not_its_cause(old):
    assert not any(one.decided for one in _found(_dmesg(**old) + ERROR))


@pytest.mark.parametrize("name", ["systemd-journal", "kubelet", "node_exporter"])
def test_a_service_that_died_ends_no_job(name):
    assert not any(one.decided for one in _found(_dmesg(name=name) + ERROR))


def test_a_death_is_the_cause_where_the_job_lost_its_peer():
    assert _found(_dmesg() + GONE)[0].decided


def test_a_rank_that_died_is_known_by_its_number():
    assert _found(RANK + _dmesg(pid=4100))[0].decided
    assert not _found(RANK + _dmesg(pid=4101))[0].decided

import json
from pathlib import Path

import pytest

from weft.doctor.diagnose import all_rules, diagnose, find
from weft.doctor.ranking import Verdict
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

SAMPLES = Path(__file__).parents[2] / "samples" / "rules"
CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
LOG = """node1:41:99 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.9.0.4<0>
node1:41:99 [0] NCCL WARN NET/IB : Got completion from peer 10.9.0.5<4102> with error 12, \
opcode 0, len 0, vendor err 129 (Recv)
node1:41:99 [0] NCCL WARN NET/IB : Got completion from peer 10.9.0.5<4102> with error 5, \
opcode 0, len 0, vendor err 249 (Recv)
"""


def _said(*texts):
    read = [read_text(text, f"{number}.txt") for number, text in enumerate(texts)]
    facts = tuple(fact for found, _ in read for fact in found)
    return diagnose(Observation(facts, tuple(file for _, file in read)))


def test_status_12_alone_is_undecided_and_asks():
    said = _said(LOG)
    assert said.verdict is Verdict.UNDECIDED
    (finding, *rest) = (one.finding for one in said.findings)
    assert {one.severity for one in rest} <= {Severity.INFO}
    assert "peer-process-died" in finding.causes
    assert all("?" in question for question in finding.missing)


def test_flushed_completions_after_a_retry_are_not_told_again():
    assert not any("flushed" in one.finding.message for one in _said(LOG).findings)


def test_a_death_in_another_log_takes_the_errors_under_it():
    killed = "[8121.1] Out of memory: Killed process 41 (python3) total-vm:9kB, anon-rss:8kB\n"
    said = _said(LOG, killed)
    assert said.verdict is Verdict.FINDINGS
    assert said.causes[0] == "peer-process-died"
    assert said.findings[0].consequences


def test_the_same_completions_on_a_port_that_is_down_belong_to_the_port():
    down = "link mlx5_0/1 state DOWN physical_state POLLING netdev ens1f0np0\n"
    assert _said(LOG, down).causes[0] == "port-down"


def _retry(host, peer):
    return (
        f"{host}:41:99 [0] NCCL WARN NET/IB : Got completion from peer {peer}<4102> with "
        "error 12, opcode 0, len 0, vendor err 129 (Recv)\n"
    )


def test_two_hosts_that_blame_one_another_are_both_alive():
    said = _said(_retry("a", "10.9.0.2") + _retry("b", "10.9.0.1"))
    assert said.causes[0] == "fabric-path-unreachable"


def test_a_host_that_all_others_blame_is_suspected_to_be_dead():
    said = _said(_retry("a", "10.9.0.3") + _retry("b", "10.9.0.3"))
    assert said.causes[0] == "peer-process-died"


def test_the_rank_that_waits_in_no_list_is_named():
    shape = "n:1:9 [0] NCCL INFO comm 0x1 rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0\n"
    waits = "".join(
        f"[rank{rank}]:[E1103 10:11:12.131415 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog "
        f"caught collective operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE, "
        f"NumelIn=9, NumelOut=9, Timeout(ms)=600000) ran for 600011 milliseconds before "
        f"timing out.\n"
        for rank in (0, 1, 3)
    )
    finding = _said(shape + waits).findings[0].finding
    assert finding.cause == "peer-process-died"
    assert "rank 2" in finding.advice


def test_nothing_understood_is_no_all_clear():
    assert _said("a letter to a friend\n").verdict is Verdict.UNDECIDED


def test_an_empty_bundle_is_quiet(tmp_path):
    said = diagnose([tmp_path])
    assert said.verdict is Verdict.QUIET
    assert said.causes == ()


def test_every_finding_names_its_rule_and_tells_what_to_do():
    names = {name for name, _ in all_rules()}
    for folder in sorted(SAMPLES.glob("*/fires")):
        for one in diagnose([folder]).findings:
            assert one.finding.rule in names
            assert one.finding.advice
            assert one.finding.message


def test_no_rule_raises_whatever_part_of_a_sample_is_left():
    for path in sorted(SAMPLES.rglob("*.*")):
        lines = path.read_text().splitlines()
        for kept in range(0, len(lines) + 1, max(1, len(lines) // 4)):
            find(read_text("\n".join(lines[:kept]), path.name)[0])


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
def test_the_corpus_is_diagnosed_as_well_as_promised():
    from weft.accuracy.doctor import score  # noqa: PLC0415 - only here

    found = score(CORPUS)
    assert found.false_alarms == 0
    assert found.first_ratio >= 0.9
    assert found.top3_ratio >= 0.97


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
def test_sound_cases_of_the_corpus_stay_quiet_in_every_part():
    """Cut anywhere, a sound log is still sound: a missing rest must not make an error."""
    from weft.doctor.rule import Facts, Severity  # noqa: PLC0415 - only here

    for case in sorted(CORPUS.glob("*/case.json")):
        stated = json.loads(case.read_text())
        if not stated["healthy"]:
            continue
        for name in stated["files"]:
            lines = (case.parent / name).read_text().splitlines()
            for kept in range(0, len(lines), max(1, len(lines) // 8)):
                facts, _ = read_text("\n".join(lines[:kept]), name)
                seen = Facts(facts)
                for rule_name, rule in all_rules():
                    errors = [f for f in rule.check(seen) if f.severity is Severity.ERROR]
                    if name == "modprobe.txt":
                        continue  # a refusal alone is an error; the other file absolves it
                    assert not errors, (case.parent.name, name, kept, rule_name)


def test_bridges_of_a_quoted_text_are_called_by_no_quotes():
    flags = "ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl-"
    said = _said(f'"{flags}",\n"\\t\\t{flags}",\n')
    (found,) = [one.finding for one in said.findings]
    assert (found.cause, found.subject) == ("pcie-acs-enabled", "")


def test_a_bridge_that_stands_before_its_flags_is_named_once():
    flags = "ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl-"
    said = _said(f"0000:15:01.0: {flags}\n0000:15:01.0: {flags}\n")
    (found,) = [one.finding for one in said.findings]
    assert found.subject == "0000:15:01.0"

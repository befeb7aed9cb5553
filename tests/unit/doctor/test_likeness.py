"""What outputs hint at that rules do not know: causes of the cases that read alike."""

import math
import os
import subprocess
import sys

import pytest

from weft.doctor.casebook import SOUND, Case, Casebook, words_of
from weft.doctor.diagnose import diagnose
from weft.doctor.ranking import Verdict
from weft.doctor.rule import Severity
from weft.observe.complaints import troubles
from weft.observe.observation import Observation
from weft.observe.reading import read_text


def _diagnosed(text):
    facts, file = read_text(text, "site.log")
    return diagnose(Observation(tuple(facts), (file,)))


def _case(cause, text):
    return Case(causes=(cause,), tool="tool", shows=text, files=(("out.txt", text),))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("widget: pinning of 4096 pages refused: over RLIMIT_MEMLOCK", "memlock-limit"),
        ("opening /dev/infiniband/uverbs3: denied by policy", "container-rdma-permission"),
        ("collmgr: no aggregation tree is left for sharp job 7", "sharp-unavailable"),
        ("fabtool: imex daemon has no quorum of the nodes", "imex-domain-missing"),
        ("widget 3: port 1 holds a limited pkey only: 0x7fff", "ib-pkey-membership"),
    ],
)
def test_what_reads_like_known_cases_hints_at_their_cause_and_asks(text, cause):
    diagnosis = _diagnosed(text)
    assert diagnosis.causes[0] == cause
    finding = diagnosis.findings[0].finding
    assert not finding.decided
    assert finding.missing
    assert text in {line.text for line in finding.evidence}


@pytest.mark.parametrize(
    "text",
    [
        "a letter to a friend",
        "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n",
    ],
)
def test_what_is_sound_or_like_nothing_hints_at_nothing(text):
    assert not _diagnosed(text).findings


def test_a_hint_is_no_more_than_a_remark_where_a_rule_speaks():
    said = _diagnosed(
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n"
        "site-check: SHARP tree allocation failed\n"
    )
    first, *rest = (one.finding for one in said.findings)
    assert first.cause == "gpu-xid-off-the-bus"
    assert {one.severity for one in rest} <= {Severity.INFO}


def test_a_likely_hint_leaves_the_verdict_open():
    assert _diagnosed("widget 3: limited pkey only\n").verdict is Verdict.UNDECIDED


def test_the_votes_of_the_nearest_are_those_of_the_cosine_of_their_words():
    book = Casebook(
        [_case("a", "red green"), _case("b", "red blue"), _case(SOUND, "grey pale")]
    )
    first, second = book.alike(["red green stone"])[:2]
    assert (first.cause, second.cause) == ("a", "b")
    assert math.isclose(sum(one.share_ratio for one in book.alike(["red green stone"])), 1)
    whole = book.alike(["red green"])[0]
    assert math.isclose(whole.nearest_ratio, 1)
    assert first.nearest_ratio < 1  # a word that no case has takes from the likeness


def test_a_word_that_every_cause_has_tells_nothing():
    told = Casebook([_case("a", "common red"), _case("b", "common blue")])
    (likeness,) = [one for one in told.alike(["common red"]) if one.cause == "a"]
    assert likeness.words["red"] > 5 * likeness.words["common"]


def test_a_case_left_out_does_not_vote():
    one, two = _case("a", "red green"), _case("b", "red blue")
    book = Casebook([one, two, _case(SOUND, "grey")])
    assert [found.cause for found in book.alike(["red green"], without=one)] == ["b"]


def test_words_are_told_from_numbers_and_names():
    assert words_of("4096 errno=12 10.0.0.1 mlx5_0:1") == {"errno", "12", "mlx5"}


def test_lines_that_differ_in_numbers_are_one_complaint():
    _, file = read_text("widget 7 failed\nwidget 8 failed\n", "site.log")
    assert [one.evidence.line for one in file.complaints] == [1]


def test_a_line_without_trouble_has_none():
    assert troubles("Using network IB") == ()


def test_a_text_reads_alike_to_the_last_digit_in_every_run():
    """Words are kept in sets, whose order changes from run to run; sums must not show it."""
    text = "fabtool: node 7 lost quorum of its imex domain; adapter mlx5_3 timed out, port down"
    code = (
        "from weft.doctor.casebook import casebook\n"
        f"found = casebook().alike([{text!r}])\n"
        f"print([(one.cause, one.share_ratio, one.weight({text!r})) for one in found])"
    )
    said = {
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, **seed})
        for seed in ({"PYTHONHASHSEED": str(number)} for number in range(4))
    }
    assert len(said) == 1

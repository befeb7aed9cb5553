"""What a module says of itself is evidence for errors of its link, and a suspicion alone."""

from pathlib import Path

from weft.doctor.diagnose import diagnose, find
from weft.doctor.ranking import Verdict
from weft.observe.bundle import observe
from weft.observe.reading import read_text

SAMPLES = Path(__file__).parents[2] / "samples" / "rules"
DARK = """$ ip -br link show ens1
ens1  DOWN  a0:88:c2:01:02:03 <NO-CARRIER,BROADCAST,MULTICAST,UP>
$ ethtool -m ens1
	Identifier                                : 0x11 (QSFP28)
	Laser rx power low alarm   (Channel 1)    : On
"""


def test_alone_it_is_a_suspicion_that_decides_nothing():
    found = diagnose(observe(SAMPLES / "module_levels" / "fires" / "mlxlink.txt"))
    [only] = found.findings
    assert not only.finding.decided
    assert "lane 3" in only.finding.message
    assert found.verdict is Verdict.QUIET


def test_it_stands_under_the_errors_of_links_where_there_are_some():
    files = [SAMPLES / "module_levels" / "fires" / "mlxlink.txt",
             *(SAMPLES / "link_errors" / "fires").glob("*.txt")]  # fmt: skip
    first = diagnose(observe(*files)).findings[0]
    assert first.finding.cause == "ib-link-errors"
    assert [one.rule for one in first.consequences] == ["module_levels"]


def test_no_light_where_there_is_no_link_says_nothing():
    facts, _ = read_text(DARK, "dark.txt")
    assert not [one for one in find(facts) if one.rule == "module_levels"]

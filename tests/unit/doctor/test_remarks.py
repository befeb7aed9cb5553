"""What somebody says below an error."""

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

LOST = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n"


def _first(text):
    facts, file = read_text(text, "dmesg.txt")
    return diagnose(Observation(tuple(facts), (file,))).findings[0].finding


def test_an_error_that_was_meant_is_a_warning_and_says_so():
    found = _first(LOST + "I pulled the card for the test, on purpose\n")
    assert found.cause == "gpu-xid-off-the-bus"
    assert found.severity is Severity.WARNING
    assert "on purpose" in found.message


def test_a_remark_above_an_error_says_nothing_of_it():
    assert _first("done on purpose\n" + LOST).severity is Severity.ERROR

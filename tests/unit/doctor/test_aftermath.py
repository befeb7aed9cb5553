"""What recovered, and what somebody meant to do, is no alarm."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

_REFUSED = (
    "[W socket.cpp:600] [c10d] The client socket has failed to connect to [t0]:29500 "
    "(errno: 111 - Connection refused).\n"
)
_LOST = "NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus.\n"


def _alarms(text: str) -> list[str]:
    facts, _ = read_text(text, "out.txt")
    found = diagnose(Observation(facts=tuple(facts))).findings
    return [one.finding.cause for one in found if one.finding.severity is Severity.ERROR]


@pytest.mark.parametrize("after", [
    "[I socket.cpp:811] [c10d] The client socket has connected to [t0]:29500 on [t1]:44100.",
    "step 10 | loss 8.1 | 3.2 s/it",
    " 4096      1000             120.11             119.80             3.655",
])  # fmt: skip
def test_a_connection_that_was_made_at_last_is_no_alarm(after):
    assert _alarms(_REFUSED)
    assert not _alarms(_REFUSED + after)


def test_work_before_a_failure_does_not_excuse_it():
    assert _alarms("step 10 | loss 8.1 | 3.2 s/it\n" + _REFUSED)


def test_a_remark_below_a_fault_takes_the_alarm_out_of_it():
    assert _alarms(_LOST)
    assert not _alarms(_LOST + "RMA done, the node is back in production")
    assert _alarms("RMA done, the node is back in production\n" + _LOST)

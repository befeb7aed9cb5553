import json

import pytest

from weft.accuracy.doctor import canonical, score
from weft.errors import Unreadable

THROTTLED = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
SOUND = "node1:41:99 [0] NCCL INFO Using network IB\n"


def _case(folder, name, text, **stated):
    (folder / name).mkdir()
    (folder / name / "out.txt").write_text(text)
    case = {
        "id": name,
        "healthy": False,
        "certainty": "measured",
        "files": ["out.txt"],
    } | stated
    (folder / name / "case.json").write_text(json.dumps(case))


def test_a_right_cause_counts_and_a_quiet_healthy_case_raises_no_alarm(tmp_path):
    _case(tmp_path, "1", THROTTLED, cause_class="gpu-xid-off-the-bus")
    _case(tmp_path, "2", SOUND, cause_class="healthy", healthy=True)
    found = score(tmp_path)
    assert (found.first_ratio, found.top3_ratio, found.false_alarms) == (1.0, 1.0, 0)
    assert (found.faulty, found.quiet) == (1, 1)
    assert found.cases[0].evidence == ("out.txt:1",)
    assert found.cases[0].severity == "error"


def test_a_wrong_cause_and_a_false_alarm_are_counted(tmp_path):
    _case(tmp_path, "1", THROTTLED, cause_class="ib-port-down")
    _case(tmp_path, "2", SOUND, cause_class="ib-port-down")
    _case(tmp_path, "3", THROTTLED, cause_class="healthy", healthy=True)
    found = score(tmp_path)
    assert (found.first_ratio, found.top3_ratio, found.false_alarms) == (0.0, 0.0, 1)
    assert {(one.expected, one.found) for one in found.confusion} == {
        ("ib-port-down", "gpu-xid-off-the-bus"),
        ("ib-port-down", "-"),
    }


def test_a_case_that_asks_for_more_is_not_counted_as_decided(tmp_path):
    _case(tmp_path, "1", SOUND, cause_class="peer-process-died",
          expect="ask for the other rank's log")  # fmt: skip
    _case(tmp_path, "2", THROTTLED, cause_class="gpu-xid-off-the-bus")
    found = score(tmp_path)
    assert (found.decided, found.first_ratio, found.first_ratio_all) == (1, 1.0, 0.5)


def test_one_class_has_one_spelling():
    assert canonical("port-down") == canonical("ib-port-down")


def test_a_folder_without_cases_is_an_error(tmp_path):
    with pytest.raises(Unreadable, match="holds no case"):
        score(tmp_path)

"""What the operating system refuses a program is named, whatever the program calls itself."""

from pathlib import Path

import pytest

from weft.doctor import predicates
from weft.doctor.cause import causes
from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict
from weft.readers.engine import engine

TEXTS = {
    "Permission denied": "system-permission",
    "Operation not permitted": "system-permission",
    "Cannot allocate memory": "system-no-memory",
    "Too many open files": "system-too-many-files",
    "Stale file handle": "system-storage",
    "Connection refused": "system-refused",
    "No route to host": "system-unreachable",
    "Address already in use": "system-address-taken",
    "Inappropriate ioctl for device": "system-unsupported",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("program", ["frobnicated[812]: error:", "widget-agent: fatal:"])
def test_an_error_of_the_system_is_a_problem(tmp_path: Path, text: str, program: str) -> None:
    (tmp_path / "log").write_text(f"Mar 03 10:11:12 n7 {program} open of x failed: {text}\n")
    result = diagnose([tmp_path])
    assert result.verdict is Verdict.PROBLEM
    assert result.findings[0].cause == TEXTS[text]
    assert "n7" in result.findings[0].title


def test_an_error_that_a_row_knows_is_not_told_twice(tmp_path: Path) -> None:
    line = "n7:1:2 [0] NCCL WARN socketStartConnect: Connect to 10.0.0.5<39871> failed : "
    (tmp_path / "log").write_text(f"{line}No route to host\n")
    causes = [one.cause for one in diagnose([tmp_path]).findings]
    assert causes
    assert not any(one.startswith("system-") for one in causes)


NOT_UNDERSTOOD = {"nccl.warning_unread", "nccl.internal", "ibdiagnet.error_unread"}
"""Rows for texts of a tool that no other row knows."""


def test_every_error_that_is_read_speaks_for_a_cause_or_follows_from_one() -> None:
    known = set(NOT_UNDERSTOOD)
    for cause in causes():
        known |= {clue.event for clue in cause.clues}
        known |= set(cause.explains)
    errors = {row.code for row in engine().messages if row.severity == "error"}
    asked = "".join(path.read_text() for path in Path(predicates.__path__[0]).glob("*.py"))
    assert {code for code in errors - known if f'"{code}"' not in asked} <= {""}

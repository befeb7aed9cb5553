"""What a program that nobody knows says is wrong is shown, and what it tells is not."""

from pathlib import Path

import pytest

from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict
from weft.readers.engine import OTHERWISE, engine

LINES = [
    pytest.param(line, id=row.code)
    for row in engine().messages
    if row.tool == OTHERWISE and row.code.startswith("said.")
    for line in row.examples
]
FRONTS = ("", "Mar 02 11:00:01 n7 ", "2026-03-02T11:00:01Z ")


def read(folder: Path, line: str) -> Diagnosis:
    log = folder / "service.log"
    log.write_text(f"{line}\n", encoding="utf-8")
    return diagnose([log])


@pytest.mark.parametrize("line", LINES)
def test_what_a_program_says_is_wrong_is_quoted(tmp_path, line):
    for front in FRONTS:
        found = read(tmp_path, front + line)
        assert found.verdict is not Verdict.NONE
        assert line.partition(": ")[2] in found.findings[0].told


@pytest.mark.parametrize("line", LINES)
def test_what_a_program_tells_for_information_is_no_trouble(tmp_path, line):
    for level in ("INFO ", "level=debug ", "[notice] ", "[   12.500000] "):
        assert not read(tmp_path, level + line).findings
    assert not read(tmp_path, f"{line}, using the default instead").findings


@pytest.mark.parametrize("line", LINES)
def test_a_legend_is_no_trouble(tmp_path, line):
    assert not read(tmp_path, f"F - {line}").findings

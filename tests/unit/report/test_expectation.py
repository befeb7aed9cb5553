"""`weft expect` writes what the readers of nccl-tests' output can read."""

import re

import pytest

from weft import report
from weft.traffic.collective import Operation

from .conftest import an_expectation

ROW = re.compile(
    r"^\s+(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>\w+)\s+(?P<redop>\w+)\s+(?P<root>-?\d+)"
    r"\s+(?P<time>[\d.e+]+)\s+(?P<algbw>[\d.]+)\s+(?P<busbw>[\d.]+)\s+(?P<wrong>N/A)"
    r"\s+(?P<time2>[\d.e+]+)\s+(?P<algbw2>[\d.]+)\s+(?P<busbw2>[\d.]+)\s+N/A$"
)


def _rows(text):
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [ROW.match(line) for line in lines]


def test_every_line_is_a_row_of_nccl_tests_or_a_comment(expectation):
    rows = _rows(report.show(expectation))
    assert all(rows)
    assert [int(row["size"]) for row in rows] == [2**power for power in range(3, 34)]


def test_the_columns_stand_under_their_titles(expectation):
    lines = report.show(expectation).splitlines()
    title = next(line for line in lines if "#wrong" in line)
    row = next(line for line in lines if line and not line.startswith("#"))
    for word in ("size", "count", "type", "redop", "root", "time", "algbw", "busbw"):
        end = title.index(word) + len(word)
        assert row[end - 1] != " "
        assert row[end : end + 1] in (" ", "")


def test_the_numbers_are_those_of_the_result(expectation):
    """busbw = size / time * 2 (n - 1) / n, in GB/s with two decimals."""
    for row, point in zip(_rows(report.show(expectation)), expectation.points, strict=True):
        assert float(row["time"]) == pytest.approx(point.time_s.value * 1e6, abs=0.06)
        assert float(row["busbw"]) == pytest.approx(point.busbw_bytes_per_s / 1e9, abs=0.006)


@pytest.mark.parametrize(
    ("operation", "redop", "root", "elements"),
    [
        (Operation.ALL_REDUCE, "sum", -1, 2**31),
        (Operation.ALL_GATHER, "none", -1, 2**26),
        (Operation.REDUCE_SCATTER, "sum", -1, 2**26),
        (Operation.BROADCAST, "none", 0, 2**31),
    ],
)
def test_the_operation_decides_reduction_root_and_count(operation, redop, root, elements):
    """The count column of a split operation is that of one of the 32 ranks."""
    last = _rows(report.show(an_expectation(operation)))[-1]
    assert (last["redop"], int(last["root"]), int(last["count"])) == (redop, root, elements)


def test_the_last_line_of_nccl_tests_is_there(expectation):
    mean = expectation.mean_busbw_bytes_per_s / 1e9
    assert f"# Avg bus bandwidth    : {mean:g} " in report.show(expectation).splitlines()


def test_band_choice_assumptions_and_provenance_are_comments(expectation):
    text = report.show(expectation)
    assert "# assumes: flows spread evenly" in text
    assert "Tree LL, 16 channels; latency" in text
    assert "weft 1.2.3" in text

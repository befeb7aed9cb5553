"""Rows of benchmarks: every sample gives what is expected, cut anywhere it fails nowhere."""

import dataclasses
import json
from pathlib import Path

import pytest

from weft.readers.benchmarks import measured
from weft.readers.read import read_text

SAMPLES = Path(__file__).parents[2] / "samples" / "benchmarks"
CASES = sorted(SAMPLES.glob("*/*/input.txt"))
TABLE = "1048576 262144 float sum -1 110.5 9.49 4.74 0 111.5 9.40 4.70 0"


def _told(row):
    fields = dataclasses.fields(row)
    said = {one.name: getattr(row, one.name) for one in fields if one.name != "file"}
    defaults = {one.name: one.default for one in fields}
    return json.loads(json.dumps({n: v for n, v in said.items() if v != defaults[n]}))


@pytest.mark.parametrize("path", CASES, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_a_sample_states_what_is_expected(path):
    told = [_told(row) for row in measured(read_text(path.read_text(), "run.txt"))]
    expected = path.with_name("expected.json")
    if not expected.exists():
        lines = ",\n ".join(json.dumps(row) for row in told)
        expected.write_text(f"[{lines}]\n")
        pytest.fail(f"wrote {expected}; read it, then commit it")
    assert told == json.loads(expected.read_text())


@pytest.mark.parametrize("path", CASES, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_a_sample_may_be_cut_at_any_byte(path):
    raw = path.read_bytes()
    whole = len(measured(read_text(raw.decode(), "run.txt")))
    for end in range(0, len(raw), 13):
        seen = read_text(raw[:end].decode(errors="replace"), "run.txt")
        assert not seen.files[0].notes
        found = len(measured(seen))
        assert found <= whole or "iperf3" in path.parts  # connections, until their sum is there


@pytest.mark.parametrize(
    "label", ["", "0: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "> ", "\x1b[32m"]
)
def test_what_a_launcher_writes_before_a_line_is_left_out(label):
    row = f"     {TABLE}"
    document = json.dumps({
        "weft_bench": 1, "benchmark": "torch.distributed", "operation": "all_gather",
        "ranks": 2, "results": [{"size_bytes": 64, "times_s": [1.0, 2.0, 4.0]},
                                {"size_bytes": 512, "times_s": [8.0]}],
    })  # fmt: skip
    found = measured(read_text(f"{label}{row}\nnote\n{label}{document}\n", "run.txt"))
    assert [one.time_s for one in found] == pytest.approx([110.5e-6, 111.5e-6, 2.0, 8.0])
    assert [one.size_bytes for one in found[2:]] == [64, 512]
    assert {one.operation for one in found[2:]} == {"all_gather"}


def test_documents_one_after_another_are_each_read():
    """As the clients of a load write them, each over several lines."""
    one = {"start": {"version": "iperf 3.12", "test_start": {"num_streams": 4}},
           "end": {"sum_received": {"bytes": 1000, "bits_per_second": 8e9}}}  # fmt: skip
    text = "\n".join(json.dumps(one, indent=1) for _ in range(3))
    found = measured(read_text(f"begun\n{text}\nend\n", "load.txt"))
    assert [row.rate_bytes_per_s for row in found] == pytest.approx([1e9] * 3)
    assert {row.streams for row in found} == {4}
    assert len({row.line for row in found}) == 3


def test_a_brace_that_begins_no_document_hides_no_line():
    text = f"{{ not json\n# nThread 1 nGpus 1 minBytes 8\n {TABLE}\n"
    assert len(measured(read_text(text, "run.txt"))) == 2


@pytest.mark.parametrize(
    ("row", "times_us"),
    [
        ("1048576 262144 float sum 110.5 9.49 4.74 0e+00", [110.5]),
        ("1048576 262144 float sum 12345 9.49 4.74 1e-07 12346 9.40 4.70 0e+00",
         [12345, 12346]),
        ("1048576 262144 float none -1 12345 9.49 4.74 0 12346 9.40 4.70 0", [12345, 12346]),
        ("1048576 262144 float none 0 12345 9.49 4.74 12346 9.40 4.70", [12345, 12346]),
        ("1048576 262144 float 12345 9.49 4.74", [12345]),
        ("1048576 262144 bfloat16 sum -1 110.5 9.49 4.74 N/A 111.5 9.40 4.70 N/A",
         [110.5, 111.5]),
    ],
)  # fmt: skip
def test_columns_of_every_release_are_told_apart(row, times_us):
    found = measured(read_text(f"  {row}\n", "run.txt"))
    assert [one.time_s for one in found] == pytest.approx([1e-6 * one for one in times_us])
    assert {one.busbw_bytes_per_s for one in found} <= {4.74e9, 4.70e9}

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.calibrate.calibration import read_file
from weft.calibrate.reader import readings
from weft.errors import SpecError, Unreadable
from weft.readers.read import read_text
from weft.traffic.collective import Operation

SAMPLES = Path(__file__).parents[2] / "samples" / "calibrate"


def test_nccl_tests_text_is_read_past_log_lines_between_its_rows():
    file, found = read_file(SAMPLES / "two_hosts.txt")
    assert file.readings == 3
    assert {(r.ranks, r.hosts) for r in found} == {(4, 2)}
    assert [r.size_bytes for r in found] == [8, 2**20, 2**30]
    assert [r.time_s for r in found] == pytest.approx([28.1e-6, 110.5e-6, 18050e-6])


def test_all_reduce_is_told_by_its_factor_where_nothing_names_it():
    """busbw / algbw = 2 (n - 1) / n = 1.5 for four ranks."""
    _, found = read_file(SAMPLES / "two_hosts.txt")
    assert {r.operation for r in found} == {Operation.ALL_REDUCE}


def test_an_operation_that_nothing_tells_is_asked_for(tmp_path):
    text = (SAMPLES / "two_hosts.txt").read_text()
    text = text.replace("89.23", "44.61").replace("89.43", "44.71").replace("sum", "none")
    text = text.replace("14.23", "7.12").replace("14.31", "7.16")
    unnamed = tmp_path / "run.txt"
    unnamed.write_text(text)
    with pytest.raises(SpecError, match="put it into the file's name"):
        read_file(unnamed)
    named = tmp_path / "alltoall.txt"
    named.write_text(text)
    assert read_file(named)[1][0].operation is Operation.ALL_TO_ALL


def test_older_text_without_root_and_in_place_columns_is_read(tmp_path):
    path = tmp_path / "reduce_scatter.txt"
    path.write_text(
        "#  Rank  0 Pid 1 on a device 0\n#  Rank  1 Pid 2 on b device 0\n"
        "#  size  count  type  redop  time  algbw  busbw  error\n"
        "  1048576  262144  float  sum  110.5  9.49  4.74  0e+00\n"
    )
    (found,) = read_file(path)[1]
    assert found.time_s == pytest.approx(110.5e-6)


def test_json_is_read_out_of_place():
    _, (found,) = read_file(SAMPLES / "all_gather.json")
    assert found.operation is Operation.ALL_GATHER
    assert (found.ranks, found.hosts, found.time_s) == (2, 2, pytest.approx(11500e-6))


def test_json_takes_the_median_of_single_iterations_where_it_has_them(tmp_path):
    text = (SAMPLES / "all_gather.json").read_text()
    path = tmp_path / "all_gather.json"
    path.write_text(text.replace('"time": "11500.0"', '"time": "11500.0", "p50_us": "11200"'))
    assert read_file(path)[1][0].time_s == pytest.approx(11200e-6)


def test_perftest_bandwidth_is_converted():
    _, found = read_file(SAMPLES / "write_bw.txt")
    assert found[0].bytes_per_s == pytest.approx(49.0425e9)
    assert (found[0].verb, found[0].depth, found[0].queue_pairs) == ("write", 128, 1)


def test_perftest_latency_is_the_typical_one():
    _, (found,) = read_file(SAMPLES / "write_lat.txt")
    assert found.time_s == pytest.approx(1.87e-6)


def test_megabytes_of_perftest_are_binary(tmp_path):
    text = (SAMPLES / "write_bw.txt").read_text().replace("Gb/sec", "MB/sec")
    path = tmp_path / "bw.txt"
    path.write_text(text)
    assert read_file(path)[1][0].bytes_per_s == pytest.approx(392.34 * 2**20)


def test_what_no_reader_knows_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    with pytest.raises(SpecError, match="not output of a benchmark"):
        read_file(path)
    with pytest.raises(Unreadable):
        read_file(tmp_path / "missing")


def test_output_cut_before_its_rows_is_refused(tmp_path):
    text = (SAMPLES / "two_hosts.txt").read_text()
    path = tmp_path / "all_reduce_cut.txt"
    path.write_text(text[: text.index("           8  ")])
    with pytest.raises(SpecError, match="cut short"):
        read_file(path)


@given(st.text())
def test_no_text_stops_a_reader_but_with_an_error_of_ours(text):
    for path in SAMPLES.iterdir():
        sample = path.read_text()
        broken = sample[: len(sample) // 2] + text + sample[len(sample) // 2 :]
        with suppress(SpecError):
            assert all(one.size_bytes > 0 for one in readings(read_text(broken, "x"), "x"))

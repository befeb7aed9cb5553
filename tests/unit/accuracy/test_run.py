import csv

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.accuracy import run, score, tables
from weft.accuracy.kind import Kind, LeftOut, Score

FILES = {
    "nccl_runs": 4, "nccl_points": 40, "nccl_summary": 6, "ep_alltoall": 6, "topology": 4,
    "perftest_runs": 8, "perftest_points": 40, "train_runs": 6, "fabric_behaviour": 6,
    "train_runs_vtrain_single": 2, "failures": 8, "mlperf_all": 2,
}  # fmt: skip
WORDS = st.sampled_from(
    ["", "0", "-1", "1e400", "nan", "inf", "16", "1e9", "3-5", "H100", "all_reduce", "NVLink",
     "8x400G", "RoCE", "½", "a,b", '"', "\n", "TP=0", "1 GiB", "GB/s", "full", "²"]
)  # fmt: skip
CELLS = WORDS | st.text(max_size=6)


def toy(rows):
    for row in rows["topology"]:
        if row["gpus"] == "boom":
            raise KeyError(row["row_id"])
        yield Score(
            kind="toy", row=row["row_id"], site="s", labels={}, quantity="count",
            measured=float(row["gpus"]), predicted=8.0, low=8.0, high=8.0,
        )  # fmt: skip


TOY = Kind(title="Toy", files=("topology",), score=toy)


def toy_rows(*gpus, notes=""):
    rows = [{"row_id": f"p{n}", "gpus": g, "notes": notes} for n, g in enumerate(gpus)]
    return {"topology": rows}


def test_one_malformed_row_costs_one_row():
    found = run.run("toy", TOY, toy_rows("8", "boom", "16"))
    assert [type(one) for one in found] == [Score, LeftOut, Score]
    assert found[1].reason == "cannot be read: 'p1'"


def test_a_measurement_that_is_not_above_zero_is_left_out():
    found = run.run("toy", TOY, toy_rows("0", "nan", "-3", "inf", "4"))
    assert [isinstance(one, Score) for one in found] == [False] * 4 + [True]


def test_a_measurement_that_another_row_has_is_counted_once():
    (found,) = run.run("toy", TOY, toy_rows("8", notes="Same logs as v3.0 (resubmitted)"))
    assert isinstance(found, LeftOut)
    assert "counted once" in found.reason


def test_a_kind_without_its_files_has_no_rows(tmp_path):
    found = score(tmp_path)
    assert {"collective_from_64MiB", "collective_below_64MiB", "training_step", "topology"} <= {
        group.kind for group in found.groups
    }
    assert all(group.rows == 0 for group in found.groups)
    assert found.worst == found.as_shipped == found.left_out == ()


def test_every_kind_has_one_group_and_the_rest_is_breakdown(tmp_path):
    _subset(tmp_path, {"topology": 4, "nccl_runs": 4, "nccl_points": 60})
    found = score(tmp_path)
    kinds = [group.kind for group in found.groups]
    assert len(kinds) == len(set(kinds))
    assert any(group.rows for group in found.groups)
    assert all(not group.labels for group in found.groups)
    assert all(part.labels for part in found.breakdown)


def test_the_same_folder_gives_the_same_scoreboard(tmp_path):
    _subset(tmp_path, {"topology": 4, "nccl_runs": 3, "nccl_points": 30})
    assert score(tmp_path) == score(tmp_path)


def test_worst_rows_name_their_source(tmp_path):
    _subset(tmp_path, {"nccl_runs": 3, "nccl_points": 60})
    found = score(tmp_path)
    assert found.worst
    assert all(one.source for one in found.worst)


@pytest.mark.slow
@settings(
    max_examples=25, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(data=st.data())
def test_no_cell_can_stop_the_others_from_being_scored(tmp_path, data):
    for name, count in FILES.items():
        head, *rows = _records(name)[: count + 1]
        places = st.tuples(st.integers(0, len(rows) - 1), st.integers(0, len(head) - 1), CELLS)
        for row, column, cell in data.draw(st.lists(places, max_size=len(rows))):
            rows[row] = [*rows[row][:column], cell, *rows[row][column + 1 :]]
        _write(tmp_path / f"{name}.csv", [head, *rows])
    found = score(tmp_path)
    for one in found.scores:
        assert one.measured > 0
        assert one.low <= one.high


def _records(name):
    with (tables.SHIPPED / f"{name}.csv").open(newline="") as stream:
        return list(csv.reader(stream))


def _write(path, records):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(records)


def _subset(folder, counts):
    for name, count in counts.items():
        _write(folder / f"{name}.csv", _records(name)[: count + 1])


def test_kinds_whose_fit_has_seen_rows_are_scored_both_ways(tmp_path):
    _subset(tmp_path, {"nccl_runs": 4, "nccl_points": 100, "topology": 3})
    found = score(tmp_path)
    both = {group.kind: group for group in found.as_shipped}
    held_out = {group.kind: group for group in found.groups}
    assert "topology" not in both
    large = "collective_from_64MiB"
    assert both[large].rows == held_out[large].rows > 0
    assert both[large].median_abs_error_ratio != held_out[large].median_abs_error_ratio


def test_files_that_no_kind_reads_are_named(tmp_path):
    (tmp_path / "weather.csv").write_text("day,rain\nmonday,3\n")
    assert score(tmp_path).unread == ("weather",)

"""The history keeps runs as they were and compares like with like only."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from weft import report
from weft.bench import store
from weft.bench.history import change_point, history, newest
from weft.bench.run import BenchRun
from weft.bench.sweep import Timing
from weft.errors import Unreadable
from weft.report.chart import picture

RUN = BenchRun(
    tool="nccl-tests", operation="all_reduce", launcher="mpirun", hosts=("a", "b"), ranks=16,
    ranks_per_host=8, versions=("NCCL 2.27.3",), options=(), began="2026-11-21T10:00:00Z",
    timings=tuple(
        Timing(size_bytes=2.0**p, time_s=1e-5 + 2**p / 1e10, noise_ratio=0.01)
        for p in (10, 20, 30)
    ),
    what="collective", commands=("mpirun x",), output="rows\n",
)  # fmt: skip


def slower(run, ratio):
    return replace(
        run, timings=tuple(replace(one, time_s=one.time_s * ratio) for one in run.timings)
    )


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'state' / 'history.sqlite3'}"


def test_a_run_comes_back_as_it_was_kept(url):
    kept = store.keep(RUN, url)
    assert kept.id == 1
    assert store.load(url).runs == (kept,)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("update runs set hosts = 'a, b' where id = 2", "is left out"),
        ("update runs set versions = '{\"a\": 1}' where id = 2", "must be a list of texts"),
        ("update timings set time_s = 'soon' where run = 2", "time_s is 'soon'"),
        ("update timings set time_s = -1 where run = 2", "must be a number above 0"),
        (
            "update timings set size_bytes = 9e999 where run = 2 and size_bytes = 1024",
            "size_bytes is inf",
        ),
        ("delete from timings where run = 2", "no timings"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_and_the_others_stay(url, change, reason):
    for _ in range(3):
        store.keep(RUN, url)
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute(change)
    found = history(url)
    assert [run for one in found.series for run in one.runs] == [1, 3]
    assert len(found.unreadable) == 1
    assert found.unreadable[0].startswith("run 2 is left out: ")
    assert reason in found.unreadable[0]


def test_only_runs_that_are_alike_are_compared(url):
    for run in (
        RUN,
        replace(RUN, hosts=("b", "a")),
        replace(RUN, versions=("NCCL 2.28.3",)),
        replace(RUN, hosts=("a", "c")),
        replace(RUN, timings=RUN.timings[:2]),
        replace(RUN, options=("NCCL_ALGO=Ring",)),
    ):
        store.keep(run, url)
    found = history(url)
    assert sorted(len(one.runs) for one in found.series) == [1, 1, 1, 1, 2]


def test_a_slower_newest_run_is_a_regression_and_noise_is_none(url):
    draw = random.Random(4)  # noqa: S311 - noise
    for _ in range(8):
        store.keep(slower(RUN, draw.gauss(1, 0.01)), url)
    assert history(url).regressions == 0
    store.keep(slower(RUN, 1.25), url)
    (found,) = history(url).series
    assert found.regression
    assert found.newest_slower_ratio == pytest.approx(0.25, abs=0.02)


def test_a_change_is_dated_to_its_first_run(url):
    draw = random.Random(5)  # noqa: S311 - noise
    for place in range(14):
        ratio = 1.0 if place < 8 else 1.2
        store.keep(slower(RUN, ratio * draw.gauss(1, 0.01)), url)
    (found,) = history(url).series
    assert found.change is not None
    assert found.change.run == 9
    assert found.change.slower_ratio == pytest.approx(0.2, abs=0.02)
    assert found.change.probability < 0.01


def test_series_without_a_change_are_called_changed_as_rarely_as_stated():
    """At a level of 1 % more than four of 60 series of pure noise have p < 0.1 %."""
    draw = random.Random(6)  # noqa: S311 - noise
    found = [
        change_point([draw.gauss(0, 1) for _ in range(12)]) for _ in range(60)
    ]  # fmt: skip
    assert sum(one is not None for one in found) <= 4


def test_newest_is_within_its_interval_as_often_as_stated():
    draw = random.Random(7)  # noqa: S311 - noise
    wrong = 0
    for _ in range(2000):
        gap, limit = newest([draw.gauss(0, 0.1) for _ in range(8)])
        wrong += gap > limit
    assert wrong / 2000 == pytest.approx(0.01, abs=0.007)


def test_the_place_is_that_of_the_variable_or_of_the_user():
    assert store.default_url({"WEFT_HISTORY": "postgresql://db/x"}) == "postgresql://db/x"
    url = store.default_url({"XDG_STATE_HOME": "/s"})
    assert url == "sqlite:////s/weft/history.sqlite3"


def test_a_history_that_cannot_be_read_is_said_without_the_password():
    with pytest.raises(Unreadable) as failure:
        store.load("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(failure.value)
    with pytest.raises(Unreadable, match="run history"):
        store.load("sqlite:////proc/none/x.sqlite3")


def test_a_history_that_is_no_url_is_told_what_one_is():
    with pytest.raises(Unreadable, match="sqlite:///FILE"):
        store.load("runs.db")


def test_a_regression_is_drawn_above_its_limit_with_the_next_command(url):
    for ratio in (1.0, 1.01, 0.99, 1.0, 1.3):
        store.keep(slower(RUN, ratio), url)
    found = history(url)
    page = report.view_of(type(found)).page(found)
    (drawing,) = page.drawings
    assert [row["regression"] for row in drawing.rows] == [False] * 4 + [True]
    assert drawing.rows[-2]["slower"] < drawing.marks["limit"] < drawing.rows[-1]["slower"]
    assert "--good 1-4" in report.show(found, "text")
    assert picture(drawing, "svg").startswith(b"<svg")

"""The training step against published runs: errors, bands, and trends in the right order."""

import csv
import statistics
from collections import defaultdict
from importlib.resources import files

import pytest

from weft.accuracy.kind import LeftOut, Score, all_kinds, as_shipped

pytestmark = pytest.mark.published
DATA = files("weft.accuracy") / "data"


def scores(name):
    kind = all_kinds()[name]
    (name,) = kind.files
    with (DATA / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, list(kind.score({name: rows}))


@pytest.fixture(scope="module")
def runs():
    rows, found = scores("training_step")
    texts = {row["row_id"]: row for row in rows}
    return texts, [one for one in found if isinstance(one, Score)]


def test_every_row_is_scored_or_left_out_with_a_reason():
    rows, found = scores("training_step")
    assert [one.row for one in found] == [row["row_id"] for row in rows]
    assert all(one.reason for one in found if isinstance(one, LeftOut))
    assert sum(isinstance(one, Score) for one in found) > 1150


def test_errors_without_the_family_of_a_row_stay_where_they_are(runs):
    """The aim is 10 % at the median and 25 % at the 90th percentile."""
    errors = sorted(abs(one.error_ratio) for one in runs[1] if one.healthy)
    assert statistics.median(errors) < 0.10
    assert errors[int(0.9 * len(errors))] < 0.25


def test_figures_that_their_source_doubts_are_few_and_move_little(runs):
    doubted = [one for one in runs[1] if not one.healthy]
    assert 0 < len(doubted) < 0.07 * len(runs[1])
    errors = sorted(abs(one.error_ratio) for one in runs[1])
    assert statistics.median(errors) < 0.11
    assert errors[int(0.9 * len(errors))] < 0.29


def test_bands_hold_about_four_fifths(runs):
    inside = statistics.mean(one.inside for one in runs[1])
    assert 0.72 < inside < 0.88


def test_the_single_host_grid_is_close():
    found = [one for one in scores("training_step_single_host")[1] if isinstance(one, Score)]
    assert len(found) == 1440
    assert statistics.median(abs(one.error_ratio) for one in found) < 0.16
    with as_shipped():
        known = [
            one for one in scores("training_step_single_host")[1] if isinstance(one, Score)
        ]
    assert statistics.median(abs(one.error_ratio) for one in known) < 0.08


def pairs_in_order(groups):
    """Count pairs of a group that the prediction puts in the measured order, and all pairs."""
    right = total = 0
    for group in groups:
        for i, one in enumerate(group):
            for other in group[i + 1 :]:
                gap = one.measured / other.measured
                if 0.9 < gap < 1.1:
                    continue  # As close as one measurement repeated.
                total += 1
                right += (one.measured < other.measured) == (one.predicted < other.predicted)
    return right, total


def grouped(runs, families, key):
    texts, found = runs
    groups = defaultdict(list)
    for one in found:
        row = texts[one.row]
        if row["family"].startswith(families):
            groups[tuple(row[column] for column in key)].append(one)
    return groups.values()


def test_strong_scaling_comes_out_in_order(runs):
    """Same model, table, precision and batch on growing numbers of GPUs."""
    key = ("family", "model", "precision", "framework", "global_batch", "seq_len")
    right, total = pairs_in_order(
        grouped(runs, ("mlperf-v3", "nvidia-dgxc", "nvidia-dle"), key)
    )
    assert total > 30
    assert right / total > 0.9


def test_vtrain_s_layouts_are_ranked(runs):
    """One model on one cluster, layouts differ: which is faster?"""
    right, total = pairs_in_order(grouped(runs, ("vtrain-multi",), ("model", "gpus")))
    assert total > 300
    assert right / total > 0.84


@pytest.mark.parametrize(
    ("slower", "faster"),
    [
        ("t01126", "t01127"),  # Korthikanti 22B: full against selective recomputation.
        ("t01128", "t01129"),
        ("t01132", "t01133"),
        ("t00235", "t00236"),  # TorchTitan 70B: asynchronous tensor parallelism.
        ("t00229", "t00230"),  # TorchTitan 405B: 1F1B against interleaved.
    ],
)
def test_what_a_setting_gains_has_the_right_sign(runs, slower, faster):
    by_row = {one.row: one for one in runs[1]}
    assert by_row[slower].predicted > by_row[faster].predicted


def test_one_gpu_is_inside_its_bands_without_its_own_rows():
    """Five steps of PyTorch 2.11 on one H100; the aim is that all are inside."""
    _, found = scores("training_step_one_gpu")
    assert len(found) == 5
    assert all(one.inside for one in found)
    assert max(abs(one.error_ratio) for one in found) < 0.15


def test_what_compiling_gains_is_close(runs):
    """One table of TorchTitan, 8 and 128 GPUs; and one GPU, two models."""
    by_row = {one.row: one for one in runs[1]} | {
        one.row: one for one in scores("training_step_one_gpu")[1]
    }
    for eager, compiled in (
        ("t00217", "t00218"), ("t00220", "t00221"), ("g00001", "g00002"), ("g00003", "g00004"),
    ):  # fmt: skip
        gained = by_row[eager].measured / by_row[compiled].measured
        assert by_row[eager].predicted / by_row[compiled].predicted == pytest.approx(
            gained, rel=0.04
        )

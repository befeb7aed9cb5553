import pytest

from weft.accuracy import scoreboard as board
from weft.accuracy.kind import LeftOut, Score


def score(measured=100.0, predicted=100.0, *, site="a", healthy=True, row="r", **labels):
    return Score(
        kind="toy", row=row, site=site, labels=labels, quantity="time_s", measured=measured,
        predicted=predicted, low=0.9 * predicted, high=1.1 * predicted, healthy=healthy,
    )  # fmt: skip


def test_errors_of_a_group_are_those_of_its_rows():
    """Errors are 0, +10 %, -20 % and +40 %: median of sizes 15 %, of signed ones 5 %."""
    found = board.group("toy", [score(predicted=p) for p in (100, 110, 80, 140)])
    assert found.rows == 4
    assert found.median_abs_error_ratio == pytest.approx(0.15)
    assert found.bias_ratio == pytest.approx(0.05)
    assert found.p90_abs_error_ratio == pytest.approx(0.2 + 0.7 * 0.2)
    assert found.inside_band_ratio == 0.5
    assert found.median_factor == pytest.approx((1.1 + 1.25) / 2)


def test_a_group_without_rows_has_no_errors():
    found = board.group("toy", [], left_out=3)
    assert (found.rows, found.left_out) == (0, 3)
    assert found.median_abs_error_ratio is None
    assert found.inside_band_ratio is None


def test_a_site_with_many_rows_counts_once_among_sites():
    many = [score(predicted=150, site="big") for _ in range(9)]
    few = [score(predicted=110, site="b"), score(predicted=90, site="c")]
    found = board.group("toy", many + few)
    assert found.median_abs_error_ratio == pytest.approx(0.5)
    assert found.median_abs_error_by_site_ratio == pytest.approx(0.1)
    assert found.sites == 3


def test_broken_systems_and_single_hosts_do_not_count_in_the_whole():
    scores = [
        score(predicted=100, scale="two_hosts", health="reference"),
        score(predicted=500, healthy=False, scale="two_hosts", health="broken"),
        score(predicted=300, scale="one_host", health="reference"),
    ]
    whole = board.whole("toy", scores, [LeftOut(kind="toy", row="x", reason="no NIC")])
    assert (whole.rows, whole.apart, whole.left_out) == (1, 2, 1)
    assert whole.median_abs_error_ratio == 0
    labels = [dict(part.labels) for part in board.parts("toy", scores, ("scale",))]
    assert labels == [{"scale": "two_hosts"}, {"health": "broken"}, {"scale": "one_host"}]


def test_reasons_are_counted_and_have_examples():
    left = [LeftOut(kind="toy", row=f"r{n}", reason="no NIC") for n in range(5)]
    (found,) = board.reasons(left)
    assert (found.rows, found.examples) == (5, ("r0", "r1", "r2"))


def test_the_worst_rows_come_first_whichever_way_they_are_off():
    rows = [score(predicted=p, row=str(p)) for p in (100, 130, 20, 110)]
    found = board.worst(rows, lambda s: f"source of {s.row}")
    assert [one.score.row for one in found] == ["20", "130", "110"]
    assert found[0].source == "source of 20"

"""Every system counts once, and aims are held against that."""

import pytest

from weft.accuracy import tables
from weft.accuracy.aims import AIMS, COVERAGE, LARGE, missed, outcomes
from weft.accuracy.by_system import ALL, WITHIN, by_system
from weft.accuracy.calibrated import COLLECTIVES, SCALES, SIZES, calibrated
from weft.accuracy.kind import Score
from weft.accuracy.nested import check
from weft.engines.analytic.collective import constants


def score(site, predicted, *, inside=True, domain=WITHIN, scale="two_hosts"):
    low, high = (0.0, 1000.0) if inside else (predicted, predicted)
    return Score(
        kind=LARGE, row="r", site=site, labels={"domain": domain, "scale": scale},
        quantity="busbw_bytes_per_s", measured=100.0, predicted=predicted, low=low, high=high,
    )  # fmt: skip


def test_a_system_of_a_hundred_rows_counts_as_much_as_one_of_one():
    scores = [score("many", 150.0, inside=False)] * 100 + [
        score("few", 110.0),
        score("b", 120.0),
    ]
    whole = next(one for one in by_system(scores) if one.part == ALL)
    assert (whole.systems, whole.rows) == (3, 102)
    assert whole.median_abs_error_ratio == pytest.approx(0.2)
    assert whole.inside_band_ratio == pytest.approx(2 / 3)
    assert whole.inside_band_error_ratio == pytest.approx((2 / 9 / 3) ** 0.5)


def test_rows_outside_of_what_was_measured_are_reported_apart():
    scores = [score("a", 110.0), score("b", 160.0, domain="extrapolated")]
    parts = {one.part: one for one in by_system(scores)}
    assert parts[WITHIN].median_abs_error_ratio == pytest.approx(0.1)
    assert parts["extrapolated"].median_abs_error_ratio == pytest.approx(0.6)


def test_a_missed_aim_says_by_how_much():
    found = list(outcomes(by_system([score("a", 150.0, inside=False)])))
    by_figure = {one.aim.figure: one for one in missed(found) if one.aim.part == ALL}
    assert by_figure[COVERAGE].missed_by == pytest.approx(0.75)
    assert by_figure["median error"].missed_by == pytest.approx(0.38)


def test_aims_are_for_figures_that_are_worked_out():
    assert len({(aim.kind, aim.part, aim.figure) for aim in AIMS}) == len(AIMS)


def test_the_committed_folds_are_those_of_this_model():
    nested = check(tables.read(tables.SHIPPED))
    assert nested.changed == ()
    assert nested.families > 20


def test_a_fold_of_other_constants_is_noticed(monkeypatch):
    changed = constants.shipped()
    slow = {**changed.values, "base.hopper": 9.0, "net.ring.infiniband": 0.5}
    monkeypatch.setattr(
        constants, "without_family", lambda _: constants.Fitted(slow, changed.spread)
    )
    assert check(tables.read(tables.SHIPPED)).changed


def test_one_sweep_of_a_system_predicts_its_other_sizes_well():
    found = {one.part: one for one in calibrated(tables.read(tables.SHIPPED))}
    assert set(found) == {SIZES, COLLECTIVES, SCALES}
    assert found[SIZES].median_abs_error_ratio < 0.10
    assert 0.7 <= found[SIZES].inside_band_ratio <= 0.95

"""A year of faults: draws against the closed form of a Poisson process."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from weft.advise.whatif import Harm
from weft.advise.year import DRAWS, HOURS, STOCK_RATIO, poisson_quantile, year
from weft.results import Estimate

STOP_S = 600.0


def _harm(monthly, slower=None, usd=100.0, name="nic_link_down"):
    return Harm(
        title=name, faults=(name,), parts=128, step_s=None, slower_ratio=slower,
        usd=Estimate(usd, usd, usd), monthly=monthly,
    )  # fmt: skip


@given(st.floats(0, 3000))
def test_the_quantile_is_that_of_scipy(mean):
    exact = poisson.ppf(STOCK_RATIO, mean) if mean else 0
    assert poisson_quantile(mean, STOCK_RATIO) == pytest.approx(
        exact, abs=0 if mean < 600 else 1
    )


@given(st.floats(0.01, 50), st.floats(1, 1000))
def test_the_mean_of_the_draws_is_that_of_the_closed_form(monthly, usd):
    """Expected faults 12 r, money 12 r c, share 12 r t / year; within the error of draws."""
    found = year([_harm(monthly, usd=usd)], STOP_S)
    expected = 12 * monthly
    error = 6 / math.sqrt(expected * DRAWS)
    assert found.faults.value == pytest.approx(expected, rel=error)
    assert found.usd.value == pytest.approx(expected * usd, rel=error)
    lost = expected * STOP_S / 3600 / HOURS
    assert found.lost_ratio.value == pytest.approx(lost, rel=error)
    assert found.faults.low <= found.faults.value <= found.faults.high


def test_a_slow_fault_costs_its_share_of_a_day():
    found = year([_harm(1.0, slower=2.0)], STOP_S)
    assert found.lost_ratio.value == pytest.approx(found.faults.value * 12 / HOURS)


def test_more_faults_cost_more_and_ask_for_more_spares():
    few, many = (year([_harm(rate)], STOP_S) for rate in (0.5, 5.0))
    assert few.usd.value < many.usd.value
    assert few.spares[0].held < many.spares[0].held


def test_a_longer_lead_time_asks_for_more_spares_and_costs_no_more():
    soon, late = (year([_harm(2.0)], STOP_S, lead_weeks=weeks) for weeks in (1, 26))
    assert soon.spares[0].held < late.spares[0].held
    assert soon.usd == late.usd


def test_the_same_seed_draws_the_same_year_and_another_is_near():
    harms = [_harm(3.0), _harm(0.2, slower=1.1, name="leaf_down")]
    assert year(harms, STOP_S, seed=1) == year(harms, STOP_S, seed=1)
    first, second = (year(harms, STOP_S, seed=seed).usd for seed in (1, 2))
    assert first.value == pytest.approx(second.value, rel=0.02)


def test_faults_without_a_rate_and_pairs_do_not_count():
    pair = _harm(4.0)
    object.__setattr__(pair, "faults", ("nic_link_down", "leaf_down"))
    found = year([_harm(None), pair], STOP_S)
    assert found.spares == ()
    assert found.usd == Estimate(0.0, 0.0, 0.0)

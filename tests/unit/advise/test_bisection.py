"""Properties of the searches, over thresholds that hypothesis picks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.advise.break_even import crossing
from weft.advise.need import farthest

THRESHOLDS = st.floats(min_value=1.01, max_value=999.0)


@given(THRESHOLDS)
def test_the_smallest_that_reaches_reaches_and_a_little_less_does_not(threshold):
    found = farthest(lambda x: x >= threshold, 1000.0, 1.0, halvings=20)
    assert found >= threshold
    assert found == pytest.approx(threshold, rel=1e-4)


@given(THRESHOLDS)
def test_the_largest_that_reaches_reaches_and_a_little_more_does_not(threshold):
    found = farthest(lambda x: x <= threshold, 1.0, 1000.0, halvings=20)
    assert found <= threshold
    assert found == pytest.approx(threshold, rel=1e-4)


@given(THRESHOLDS, st.booleans())
def test_a_crossing_lies_where_the_lines_meet(threshold, logarithmic):
    """x against a constant: they meet at the constant, whichever way the range is halved."""
    found = crossing(
        lambda x: {"rising": x, "flat": threshold},
        1.0,
        1000.0,
        logarithmic=logarithmic,
        steps=30,
    )
    assert found.winner == "flat"
    assert found.at == pytest.approx(threshold, rel=1e-4)


@given(st.integers(min_value=0, max_value=12))
def test_each_halving_asks_once_and_no_more(steps):
    asked = []

    def costs(x):
        asked.append(x)
        return {"rising": x, "flat": 5.0}

    crossing(costs, 1.0, 9.0, logarithmic=False, steps=steps)
    assert len(asked) == steps + 2

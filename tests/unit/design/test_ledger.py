"""How ranges add up."""

import pytest

from weft.catalogue import find
from weft.design.ledger import EMPTY, spread, stated, with_assumption, with_device
from weft.sources import Sourced


def number(value, low, high, confidence=2):
    return Sourced(value, low, high, ("a",), confidence)


def test_independent_ranges_add_by_root_sum_of_squares():
    """High of a + b = a + b + sqrt(3**2 + 4**2)."""
    ledger = EMPTY.add("a", number(10, 7, 13), {}).add("b", number(20, 16, 24), {})
    total = ledger.estimate((("a", 1), ("b", 1)))
    assert (total.value, total.low, total.high) == (30, 25, 35)


def test_what_rests_on_one_number_moves_together():
    """High of 2a + 3a = 5 * 13, not less."""
    ledger = EMPTY.add("a", number(10, 7, 13), {})
    total = ledger.estimate((("a", 2), ("a", 3)))
    assert (total.low, total.high) == (35, 65)


def test_a_number_that_lowers_the_result_still_widens_the_band_on_both_sides():
    result = spread(lambda x: {"y": 100 / x["a"]}, {"a": number(10, 5, 20)})["y"]
    assert (result.value, result.low, result.high) == (10, 5, 20)


def test_what_the_user_wrote_has_no_band():
    result = spread(lambda x: {"y": x["a"]}, {"a": stated(7.0, "prices.pue")})["y"]
    assert result.low == result.value == result.high


def test_weak_numbers_are_named_with_their_range():
    ledger = EMPTY.add("a", number(10, 7, 13, 1), {}).add("b", number(1, 1, 1, 3), {})
    assert ledger.weak() == ("a: 10 (7 to 13), low confidence",)


def test_an_estimate_of_nothing_is_zero():
    assert EMPTY.estimate(()).value == pytest.approx(0)


def test_weak_numbers_are_named_in_words_with_their_unit():
    """Two numbers called fabric_engineers, of two fabrics, are otherwise one riddle."""
    ledger = with_assumption(EMPTY, "engineer", None, "")
    ledger = with_device(ledger, "power of x", number(25, 20, 30, 1), find("nics", "connectx7"))
    pay, power = ledger.weak()
    assert pay.startswith("Fully loaded cost of an engineer: 250,000 USD/year (180,000 to ")
    assert power == "power of x: 25 W (20 to 30), low confidence"

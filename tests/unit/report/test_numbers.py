"""Numbers in reports: three significant figures, a unit, a band; nothing is lost but digits."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.report import numbers
from weft.results import Estimate
from weft.units import SECONDS

SIZES = st.floats(min_value=1e-12, max_value=1e15)
PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "B": 1e9}


@given(SIZES)
def test_figures_keep_a_number_to_half_a_per_cent(value):
    assert float(numbers.figures(value)) == pytest.approx(value, rel=0.0051)


@given(SIZES)
def test_figures_are_three_and_have_no_exponent_between_a_ten_thousandth_and_a_billion(value):
    shown = numbers.figures(value)
    digits = re.sub(r"e.*|[.]", "", shown).lstrip("0")
    assert len(digits.rstrip("0")) <= 3
    if 1e-4 < value < 1e9:
        assert "e" not in shown


@given(SIZES)
def test_a_count_and_its_prefix_give_the_number_back(value):
    number, prefix = re.fullmatch(r"([\d.e+-]+)([kMGT]?)", numbers.count(value)).groups()
    assert float(number) * PREFIXES[prefix] == pytest.approx(value, rel=0.0051)


@given(st.floats(min_value=0.01, max_value=1e12))
def test_money_and_its_letter_give_the_amount_back(usd):
    number, letter = re.fullmatch(r"\$([\d.]+)([kMB]?)", numbers.money(usd)).groups()
    assert float(number) * PREFIXES[letter] == pytest.approx(usd, rel=0.0051)


@given(st.floats(min_value=1e-9, max_value=1e8))
def test_a_duration_and_its_unit_give_the_time_back(time_s):
    number, unit = numbers.seconds(time_s).split()
    assert float(number) * SECONDS[unit] == pytest.approx(time_s, rel=0.0051)


@given(SIZES, st.floats(0.1, 1.0), st.floats(1.0, 10.0))
def test_a_band_shows_value_low_and_high_in_one_unit(value, below, above):
    shown = numbers.band(Estimate(value, value * below, value * above), "s")
    numbers_shown = [float(n) for n in re.findall(r"[\d.]+(?:e[+-]\d+)?", shown)]
    assert numbers_shown == pytest.approx([value, value * below, value * above], rel=0.0051)
    assert shown.endswith("] s")


def test_infinity_is_no_number_in_a_report():
    assert numbers.figures(float("inf")) == "-"


def test_a_negative_number_keeps_its_sign():
    assert numbers.figures(-0.0712) == "-0.0712"
    assert numbers.signed_percent(0.0) == "0 %"

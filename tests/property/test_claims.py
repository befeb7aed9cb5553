"""What must hold for the outcome of any claim."""

from hypothesis import given
from hypothesis import strategies as st

from weft.advise.claim import (
    Claim,
    Claimed,
    Finding,
    Outcome,
    concluded,
    judge,
    overall,
    rounded,
)
from weft.results import Estimate

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
ESTIMATES = (
    st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted).map(lambda x: Estimate(x[1], x[0], x[2]))
)
RANGES = st.tuples(NUMBERS, NUMBERS).map(sorted).map(lambda x: Claimed(low=x[0], high=x[1]))
OUTCOMES = st.sampled_from([Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN, Outcome.UNTESTED])


@given(ESTIMATES, RANGES, NUMBERS)
def test_holds_and_fails_are_true_of_every_number_of_the_band(found, claimed, at):
    outcome = judge(found, claimed)
    at = min(max(at, found.low), found.high)
    inside = claimed.low <= at <= claimed.high
    assert inside or outcome is not Outcome.HOLDS
    assert not inside or outcome is not Outcome.FAILS


@given(ESTIMATES, RANGES)
def test_undecided_bands_cross_an_end_of_the_range(found, claimed):
    if judge(found, claimed) is Outcome.OPEN:
        ends = (claimed.low, claimed.high)
        assert any(found.low <= end <= found.high for end in ends)


@given(ESTIMATES, RANGES, st.floats(1.0, 10.0))
def test_a_wider_band_never_turns_one_decision_into_the_other(found, claimed, factor):
    wider = Estimate(
        found.value,
        found.value - (found.value - found.low) * factor,
        found.value + (found.high - found.value) * factor,
    )
    assert {judge(found, claimed), judge(wider, claimed)} != {Outcome.HOLDS, Outcome.FAILS}


@given(ESTIMATES)
def test_rounding_keeps_the_order_and_is_done_once(found):
    once = rounded(found)
    assert once.low <= once.value <= once.high
    assert rounded(once) == once


@given(st.lists(OUTCOMES, min_size=1, max_size=6))
def test_a_claim_says_no_more_than_its_statements(outcomes):
    whole, tried = overall(outcomes), set(outcomes) - {Outcome.UNTESTED}
    assert (whole is Outcome.UNTESTED) == (not tried)
    assert (whole is Outcome.HOLDS) == (tried == {Outcome.HOLDS})
    assert (whole is Outcome.FAILS) == (tried == {Outcome.FAILS})
    assert (whole is Outcome.WHEN) == (Outcome.HOLDS in tried and len(tried) > 1)


@given(st.lists(st.tuples(ESTIMATES, RANGES), min_size=1, max_size=5))
def test_a_condition_names_the_cases_that_the_outcome_is_about(rows):
    findings = tuple(
        Finding(
            label=f"case {place}", quantity="q", unit="x", claimed=claimed, found=found,
            outcome=judge(found, claimed), evidence="",
        )
        for place, (found, claimed) in enumerate(rows)
    )  # fmt: skip
    claim = Claim(name="c", point="D1", articles=("K",), text="t", statements=())
    made = concluded(claim, findings)
    wanted = Outcome.HOLDS if made.outcome is Outcome.WHEN else made.outcome
    named = [one for one in findings if one.outcome is wanted]
    assert made.condition == (
        "" if len(named) == len(findings) else "; ".join(one.label for one in named)
    )

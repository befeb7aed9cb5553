"""The comparison as a whole, on the fake."""

import pytest

from weft.advise.compare import DEFAULT, Word, compare, compared
from weft.advise.spread import spread
from weft.errors import Infeasible, SpecError, UnknownName


def test_the_table_has_the_six_fabrics_in_the_order_asked(comparison):
    assert tuple(line.name for line in comparison.lines) == DEFAULT


def test_one_row_is_the_cheapest_and_the_others_are_relative_to_it(comparison):
    best = [line for line in comparison.lines if line.verdict is Word.ADVISED]
    assert [line.name for line in best] == ["roce_tuned"] == [comparison.recommendation.fabric]
    for line in comparison.lines:
        ratio = line.usd_per_1t_tokens.value / best[0].usd_per_1t_tokens.value
        assert line.cost_ratio.value == pytest.approx(ratio)
        assert line.cost_ratio.low <= line.cost_ratio.value <= line.cost_ratio.high


def test_the_fastest_row_has_a_speed_of_one(comparison):
    speeds = {line.name: line.speed_ratio for line in comparison.lines}
    assert max(speeds.values()) == 1.0 == speeds["infiniband"]


def test_a_difference_inside_what_is_unknown_is_called_a_tie(comparison):
    """InfiniBand is 2.4 % dearer, and its network's price is known to 10 %: 1.3 % of it."""
    verdicts = {line.name: line.verdict for line in comparison.lines}
    assert verdicts["ultra_ethernet"] is Word.TIED
    assert verdicts["tcp"] is Word.SLOWER
    assert "ultra_ethernet" in comparison.recommendation.tied_with


def test_the_sentence_names_both_rivals_and_the_money(comparison):
    advice = comparison.recommendation
    sentence = " ".join((advice.sentence, *advice.reasons))
    for part in ("tuned RoCE", "InfiniBand", "2.3 % less", "slower", "network costs"):
        assert part in sentence, sentence


def test_every_consideration_has_an_opinion_and_a_source(comparison):
    assert len(comparison.considerations) == 5
    assert all(w.reason and w.source for w in comparison.considerations)


def test_a_fabric_that_cannot_be_is_left_out_with_its_reason(cluster, job, ask, held):
    def without_ultra(cluster, job):
        if cluster.fabric.kind == "ultra_ethernet":
            raise Infeasible("no such switch")
        return ask(cluster, job)

    found = compared(held(cluster, job, ask=without_ultra))
    assert [(one.name, one.reason) for one in found.left_out] == [
        ("ultra_ethernet", "no such switch")
    ]


def test_two_fabrics_alone_can_be_compared(cluster, job, held):
    found = compared(held(cluster, job, names=("infiniband", "tcp")))
    assert found.recommendation.fabric == "infiniband"


def test_one_fabric_alone_is_recommended_for_want_of_another(cluster, job, held):
    found = compared(held(cluster, job, names=("tcp",)))
    assert "no other network" in found.recommendation.sentence


def test_an_unknown_fabric_is_refused_by_name(cluster, job):
    with pytest.raises(UnknownName, match=r"infinband.*infiniband"):
        compare(cluster, job, ["infinband"])


@pytest.mark.parametrize("years", [0, -1, float("inf"), float("nan")])
def test_a_span_of_no_years_is_refused(cluster, job, years):
    with pytest.raises(SpecError, match="more than 0 years"):
        compare(cluster, job, years=years)


def test_a_fabric_never_measured_may_be_no_faster_than_what_it_is_built_on(case):
    """Scheduled Ethernet: 9.042 s, and at worst tuned RoCE's 9.053 s."""
    found = spread(case, case.row("scheduled_ethernet"))
    roce, own = 8 + 1 / 0.95, 8 + 1 / 0.96
    assert found.slow_ratio == pytest.approx(min(found.slow_ratio, own / roce))
    assert spread(case, case.row("roce_tuned")).slow_ratio == 1.0  # one leaf


def test_each_rival_has_its_own_break_even_point_and_the_nearest_counts(comparison):
    for one in comparison.break_evens:
        above = [one.above.at for one in one.each if one.above]
        assert one.above is None if not above else one.above.at == min(above)


def test_nothing_is_clearly_cheaper_than_the_verdict_at_the_current_value(comparison):
    """BreakEven points move away from today: none lies on the wrong side of it."""
    for one in comparison.break_evens:
        assert one.below is None or one.below.at < one.current
        assert one.above is None or one.above.at > one.current
        winners = {side.winner for side in (one.below, one.above) if side}
        assert comparison.recommendation.fabric not in winners


def test_untuned_is_not_recommended_and_the_notes_say_why(comparison):
    verdicts = {line.name: line.verdict for line in comparison.lines}
    assert verdicts["roce_default"] is Word.EXCLUDED
    assert any("default settings" in note for note in comparison.notes)

"""The comparison as a whole, on the fake."""

from dataclasses import replace

import pytest

from weft.advise.compare import DEFAULT, Word, compare
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


def test_the_sentence_names_both_rivals_the_money_and_the_overlap(comparison):
    sentence = comparison.recommendation.sentence
    for part in (
        "tuned RoCE",
        "InfiniBand",
        "2.3 % less",
        "overlap",
        "slower",
        "network costs",
    ):
        assert part in sentence, sentence


def test_all_points_of_the_articles_are_put_to_the_test(comparison):
    points = [tested.point for tested in comparison.claims]
    assert points == [*(f"D{n}" for n in range(1, 14)), "P2", "P5", "P8", "X7"]
    assert all(tested.verdict.reasons for tested in comparison.claims)


def test_every_consideration_has_an_opinion_and_a_source(comparison):
    assert len(comparison.considerations) == 8
    assert all(w.reason and w.source for w in comparison.considerations)


def test_the_answer_takes_a_bounded_number_of_predictions(comparison):
    assert comparison.predictions <= 120


def test_parallelism_given_is_kept_and_said(comparison, job):
    assert comparison.job.parallelism.tp == job.parallelism.tp
    assert "same on every fabric" in comparison.parallelism


def test_a_fabric_that_cannot_be_is_left_out_with_its_reason(cluster, job, ask):
    def without_ultra(cluster, job):
        if cluster.fabric.kind == "ultra_ethernet":
            raise Infeasible("no such switch")
        return ask(cluster, job)

    found = compare(cluster, job, ask=without_ultra)
    assert [(one.name, one.reason) for one in found.left_out] == [
        ("ultra_ethernet", "no such switch")
    ]


def test_two_fabrics_alone_can_be_compared(cluster, job, ask):
    found = compare(cluster, job, ["infiniband", "tcp"], ask=ask)
    assert found.recommendation.fabric == "infiniband"
    assert len(found.claims) == 17


def test_one_fabric_alone_is_recommended_for_want_of_another(cluster, job, ask):
    found = compare(cluster, job, ["tcp"], ask=ask)
    assert "nothing else" in found.recommendation.sentence


def test_an_unknown_fabric_is_refused_by_name(cluster, job, ask):
    with pytest.raises(UnknownName, match=r"infinband.*infiniband"):
        compare(cluster, job, ["infinband"], ask=ask)


@pytest.mark.parametrize("years", [0, -1, float("inf"), float("nan")])
def test_a_span_of_no_years_is_refused(cluster, job, ask, years):
    with pytest.raises(SpecError, match="more than 0 years"):
        compare(cluster, job, years=years, ask=ask)


def test_years_change_the_span_of_the_money(cluster, job, ask):
    assert compare(cluster, job, ["tcp", "infiniband"], years=6, ask=ask).years == 6


def test_a_network_that_is_none_of_the_six_stands_beside_them(cluster, job, ask):
    def with_efa(cluster, job):
        kind = "roce" if cluster.fabric.kind == "efa" else cluster.fabric.kind
        return replace(
            ask(cluster.with_(fabric=cluster.fabric.with_(kind=kind)), job), cluster=cluster
        )

    given = cluster.with_(fabric=cluster.fabric.with_(kind="efa"))
    found = compare(given, job, ask=with_efa)
    assert [line.name for line in found.lines] == [*DEFAULT, "as_given"]


def test_efa_is_left_out_where_it_cannot_be_rented(cluster, job, ask):
    found = compare(cluster, job, ["infiniband", "efa"], ask=ask)
    assert [one.name for one in found.left_out] == ["efa"]
    assert "AWS" in found.left_out[0].reason


def test_a_fabric_never_measured_may_be_no_faster_than_what_it_is_built_on(case):
    """Scheduled Ethernet: 9.042 s, and at worst tuned RoCE's 9.053 s."""
    found = spread(case, case.row("scheduled_ethernet"))
    roce, own = 8 + 1 / 0.95, 8 + 1 / 0.96
    assert found.slow_ratio == pytest.approx(min(found.slow_ratio, own / roce))
    assert spread(case, case.row("roce_tuned")).slow_ratio == 1.0  # one leaf


def test_each_rival_has_its_own_flip_point_and_the_nearest_is_the_flip(comparison):
    for flip in comparison.flips:
        above = [one.above.at for one in flip.each if one.above]
        assert flip.above is None if not above else flip.above.at == min(above)


def test_nothing_is_clearly_cheaper_than_the_verdict_at_the_current_value(comparison):
    """Flip points move away from today: none lies on the wrong side of it."""
    for flip in comparison.flips:
        assert flip.below is None or flip.below.at < flip.current
        assert flip.above is None or flip.above.at > flip.current
        winners = {side.winner for side in (flip.below, flip.above) if side}
        assert comparison.recommendation.fabric not in winners


def test_untuned_is_shown_as_a_risk(comparison):
    verdicts = {line.name: line.verdict for line in comparison.lines}
    assert verdicts["roce_default"] is Word.RISK
    assert any("risk" in note for note in comparison.notes)


def test_when_no_network_can_run_the_job_each_says_why(cluster, job, ask):
    with pytest.raises(Infeasible, match="efa: EFA can be rented from AWS alone"):
        compare(cluster, job, ["efa"], ask=ask)

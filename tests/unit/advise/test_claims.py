"""Claims are data; one rule decides all of them from the numbers that are printed."""

from dataclasses import replace
from inspect import signature
from math import inf
from pathlib import Path

import pytest

from weft.advise import quantity as quantities
from weft.advise.claim import (
    ARTICLES,
    Claimed,
    Outcome,
    claims_of_articles,
    judge,
    overall,
    rounded,
)
from weft.advise.claims import claims, finding, put_to_test, study
from weft.advise.oracle import Oracle
from weft.advise.quantity import NeedsPackets, Trial, all_quantities
from weft.report import show
from weft.results import Estimate
from weft.spec.load import load_case, load_job, preset

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = ("llama3-405b-16k-h100-roce.yaml", "llama70b-finetune-64gpu-100g-tcp.yaml")
CLAIMS = {claim.point: claim for claim in claims_of_articles()}
STATEMENTS = [one for claim in claims_of_articles() for one in claim.statements]


def value_of(asked, trial, **of):
    return all_quantities()[asked].compute(trial, **of)


def slowed(trial, kind, factor):
    """The same trial with one fabric's communication slower by a factor."""
    asked = trial.case.oracle.ask

    def ask(cluster, job):
        load = 1 - (1 - cluster.fabric.load_ratio) / factor
        fabric = cluster.fabric.with_(load_ratio=load)
        changed = cluster.with_(fabric=fabric) if cluster.fabric.kind == kind else cluster
        return asked(changed, job)

    return Trial(case=replace(trial.case, oracle=Oracle.of(ask)), break_evens=trial.break_evens)


def test_every_point_of_the_articles_that_has_a_number_is_a_claim():
    points = {*(f"D{n}" for n in range(1, 14)), *(f"P{n}" for n in range(1, 10)), "X7"}
    assert set(CLAIMS) == points
    assert all(set(claim.articles) <= set(ARTICLES) for claim in CLAIMS.values())


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda one: f"{one.quantity}:{one.label}")
def test_a_statement_names_a_quantity_and_its_arguments(statement):
    asked = all_quantities()[statement.quantity]
    signature(asked.compute).bind(None, **statement.of)
    assert asked.words(statement.of)
    assert statement.claimed.low < statement.claimed.high
    assert (statement.claimed.low, statement.claimed.high) != (-inf, inf)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.point)
def test_the_cases_of_a_claim_have_names_of_their_own(claim):
    labels = [one.label for one in claim.statements]
    assert len(set(labels)) == len(labels)


@pytest.fixture(scope="module", params=CASES)
def report(request):
    return claims(*load_case([EXAMPLES / request.param]))


def test_every_outcome_on_the_examples_follows_from_its_printed_numbers(report):
    assert sum(report.outcomes.values()) == len(CLAIMS) == len(report.claims)
    for claim in report.claims:
        for one in claim.findings:
            if one.found is None:
                assert one.outcome is Outcome.UNTESTED
                assert one.evidence
            else:
                assert one.found == rounded(one.found)
                assert one.outcome is judge(one.found, one.claimed)
        assert claim.outcome is overall(one.outcome for one in claim.findings)
        if claim.outcome is Outcome.WHEN:
            kept = [one.label for one in claim.findings if one.outcome is Outcome.HOLDS]
            assert claim.condition == "; ".join(kept)


def test_the_report_prints_each_number_with_the_outcome_that_it_leads_to(report):
    text = " ".join(show(report, "text", full=True).split())
    for claim in report.claims:
        for one in claim.findings:
            assert f"{one.label}: {one.outcome.value}" in text


def test_most_claims_can_be_tested_without_packets(report):
    untested = {one.point for one in report.claims if one.outcome is Outcome.UNTESTED}
    assert untested <= {"P2", "X7", "D2"}


def test_times_of_p8_do_not_follow_from_its_bandwidths(report):
    """1e9 B x 2 x 7/8 / (380e9 / 8 B/s) = 36.8 ms, and not 1.0 ms."""
    p8 = next(one for one in report.claims if one.point == "P8")
    times = [one for one in p8.findings if one.unit == "s"]
    assert [one.outcome for one in times] == [Outcome.FAILS] * 3
    assert times[0].found.value == pytest.approx(36.8e-3)


def test_speed_lost_to_tcp_is_that_of_the_two_steps(trial):
    """8 + 5 s against 8 + 1 s: 1 - 9/13."""
    lost = value_of("speed_lost", trial, name="tcp", over=["infiniband", "roce_tuned"])
    assert lost.value == pytest.approx(1 - 9 / 13)
    assert lost.low < lost.value < lost.high


def test_a_larger_batch_loses_less_to_tcp(trial):
    """8 b + 5 s against 8 b + 1 s."""
    lost = [
        value_of("speed_lost", trial, name="tcp", over=["infiniband"], batch=b).value
        for b in (1, 4, 16)
    ]
    assert lost == pytest.approx([1 - (8 * b + 1) / (8 * b + 5) for b in (1, 4, 16)])


def test_the_outcome_of_d9_follows_the_speed_of_tcp(trial):
    first = CLAIMS["D9"].statements[0]
    outcomes = [finding(slowed(trial, "tcp", f), first).outcome for f in (0.02, 0.6, 8.0)]
    assert outcomes[0] is Outcome.FAILS
    assert outcomes[1] in {Outcome.HOLDS, Outcome.OPEN}
    assert outcomes[2] is Outcome.FAILS


def test_the_exchange_of_gradients_over_compute(trial):
    """2 x 1.05 s against 8 s at 256 sequences; at 32, one a replica, eight times that."""
    given, least = (
        value_of("reduction_over_compute", trial, batch=batch).value
        for batch in ("as given", "least")
    )
    assert least == pytest.approx(8 * given)
    assert put_to_test(trial, CLAIMS["D13"]).outcome in set(Outcome)


def test_a_second_network_pays_from_some_load_on(trial):
    costs = [
        value_of("second_network_cost", trial, load=load).value
        for load in ("checkpoints", 0.1, 0.3, 0.5)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 1 > costs[-1]


def test_misconfigured_roce_leaves_less_than_untuned(trial):
    """8 + 1 / (0.9 x 0.95 x share) s a step."""
    untuned = value_of("mfu_left", trial, tuning="default")
    mis_set = value_of("mfu_left", trial, tuning="misconfigured")
    assert mis_set.value < untuned.value < 1
    good = 8 + 1 / 0.95
    assert mis_set.value == pytest.approx(good / (8 + 1 / (0.95 * 0.9 * 0.4)))


def test_what_needs_queues_says_what_it_needs(trial):
    with pytest.raises(NeedsPackets, match="--fidelity packet"):
        value_of("layers_paused", trial, tuning="roce_misconfigured")
    for point in ("P2", "X7"):
        assert put_to_test(trial, CLAIMS[point]).outcome is Outcome.UNTESTED


def test_no_quantity_is_without_a_claim():
    assert {one.quantity for one in STATEMENTS} == set(quantities.all_quantities())


def test_exact_numbers_are_judged_like_others():
    one = Estimate(1.0, 1.0, 1.0)
    assert judge(one, Claimed(low=1.0)) is Outcome.HOLDS
    assert judge(one, Claimed(low=1.0 + 1e-9)) is Outcome.FAILS


def test_the_speed_lost_to_tcp_does_not_depend_on_the_fabric_of_the_file():
    job = load_job({"model": "llama3_8b", "global_batch": 128})
    found = set()
    for kind in ("infiniband", "roce", "tcp"):
        base = preset("dgx_h100", hosts=8)
        cluster = base.with_(fabric=base.fabric.with_(kind=kind))
        trial = study(cluster, job)
        found.add(tuple(finding(trial, one).found for one in CLAIMS["D9"].statements))
    assert len(found) == 1


def test_on_one_host_a_claim_about_networks_is_not_answered_by_chance():
    job = load_job({"model": "llama3_8b", "global_batch": 128})
    made = claims(preset("dgx_h100", hosts=1), job)
    assert {one.outcome for one in made.claims} <= set(Outcome)

"""Each branch of the tests of the articles' claims, on the fake."""

import pytest

from weft import plugins
from weft.advise import claims
from weft.advise.case import Case
from weft.advise.claim import ARTICLES, Claim, Evidence, Outcome, Trial
from weft.advise.claims.d10_misconfiguration_costs_a_third import beside_storage
from weft.advise.claims.p08_times_and_bandwidths import time_of
from weft.advise.latencies import Published, judge
from weft.advise.oracle import Oracle
from weft.network.shares import effects_under
from weft.units import rate_from_gbit

COMPUTE_S = 8.0


def verdict_on(trial, start):
    name = next(n for n in plugins.names(claims) if n.startswith(start))
    return plugins.load(claims, name, Claim).test(trial)


def slowed(trial, kind, factor):
    """The same trial with one fabric's communication slower by a factor."""
    asked = trial.case.oracle.ask

    def ask(cluster, job):
        load = 1 - (1 - cluster.fabric.load_ratio) / factor
        fabric = cluster.fabric.with_(load_ratio=load)
        changed = cluster.with_(fabric=fabric) if cluster.fabric.kind == kind else cluster
        return asked(changed, job)

    case = Case(
        cluster=trial.case.cluster, job=trial.case.job, years=4.0, names=trial.case.names,
        oracle=Oracle.of(ask),
    )  # fmt: skip
    return Trial(case=case, flips=trial.flips, spreads=trial.spreads)


@pytest.mark.parametrize("name", plugins.names(claims))
def test_a_claim_cites_articles_that_exist(name):
    claim = plugins.load(claims, name, Claim)
    assert claim.articles
    assert set(claim.articles) <= set(ARTICLES)


def test_one_gigabyte_at_380_gbit_on_8_gpus_is_37_ms_and_not_one():
    """1e9 B x 2 x 7/8 / (380e9 / 8 B/s) = 36.8 ms."""
    assert time_of(rate_from_gbit(380)) == pytest.approx(36.8e-3, rel=2e-3)


def test_tcp_within_10_to_30_per_cent_holds(trial):
    """8 + 5 s against 8 + 1 s: 31 %. With half the slowness: 8 + 2.5 against 9: 14 %."""
    assert verdict_on(trial, "d09").outcome is Outcome.WHEN
    assert verdict_on(slowed(trial, "tcp", 0.5), "d09").outcome is Outcome.HOLDS
    assert verdict_on(slowed(trial, "tcp", 0.21), "d09").outcome is Outcome.FAILS


def test_the_batch_from_which_tcp_loses_30_per_cent_is_found(trial):
    """9 = 0.7 x 13 needs b: (8b + 1) / (8b + 5) = 0.7, b = 1.04."""
    batch = verdict_on(trial, "d09").numbers[1].value
    assert batch / 256 == pytest.approx(1.04, rel=0.4)


def test_misconfiguration_holds_only_when_little_bandwidth_is_left(trial):
    """8 + 1 / (0.95 x 0.4 x 0.9) = 10.9 s against 9.05: 17 % and no third."""
    verdict = verdict_on(trial, "d10")
    assert verdict.outcome is Outcome.WHEN
    assert verdict.evidence is Evidence.ASSUMED
    worse = verdict_on(slowed(trial, "roce", 6), "d10")
    assert worse.outcome is Outcome.WHEN or worse.outcome is Outcome.HOLDS


def test_mis_set_pauses_beside_storage_lengthen_what_is_in_the_open(trial):
    """8 + 1 / 0.95 s a step: the second part takes so many times as long as simulated."""
    good = trial.case.row("roce_tuned")
    slower = next(
        one for one in effects_under("roce_misconfigured") if one.name == "beside_storage"
    )
    found = beside_storage(good)
    open_s = 1 / 0.95
    step_s = COMPUTE_S + open_s * slower.simulated.value
    own = good.prediction.mfu_ratio.value
    assert found.value == pytest.approx(own * (COMPUTE_S + open_s) / step_s, rel=1e-3)
    assert found.low < found.value < found.high <= good.prediction.mfu_ratio.high


def test_tuned_roce_near_infiniband_is_better_than_claimed(trial):
    assert verdict_on(trial, "d11").outcome is Outcome.WHEN
    assert verdict_on(slowed(trial, "roce", 1.8), "d11").outcome is Outcome.HOLDS
    assert verdict_on(slowed(trial, "roce", 10), "d11").outcome is Outcome.FAILS


def test_rules_by_size_report_a_tie_as_a_tie(trial):
    verdict = verdict_on(trial, "d03")
    assert verdict.outcome in {Outcome.WHEN, Outcome.FAILS}
    assert any("the rule says InfiniBand" in reason for reason in verdict.reasons)


def test_a_rule_that_names_the_winner_at_every_size_holds(trial):
    """RoCE so slow that InfiniBand wins everywhere: D2 above 64 GPUs is right."""
    verdict = verdict_on(slowed(trial, "roce", 20), "d03")
    assert any("InfiniBand is cheaper" in reason for reason in verdict.reasons)
    assert verdict.outcome is Outcome.WHEN  # right below 2,048, wrong above


def test_all_reduce_outlasts_compute_only_with_a_small_batch(trial):
    """2 x 1.05 s against 8 s: equal at 67 of 256 sequences, above the 32 replicas."""
    verdict = verdict_on(trial, "d13")
    assert verdict.outcome is Outcome.WHEN
    assert verdict.numbers[1].value == pytest.approx(256 * 2 / 0.95 / 8)


def test_money_that_cannot_tell_leaves_it_to_the_other_factors(trial):
    assert verdict_on(trial, "d05").outcome is Outcome.HOLDS


def test_a_second_network_pays_from_some_load_on(trial):
    """It costs 1.3 % more; sharing costs load x 1 s of 9."""
    verdict = verdict_on(trial, "d07")
    assert verdict.outcome is Outcome.WHEN
    at = verdict.numbers[-1].value
    dearer = verdict.numbers[0].value
    assert 1 / (1 - at) - 1 == pytest.approx(9 * dearer, rel=0.5)


def test_a_latency_inside_outside_and_beside_the_model():
    inside, beside, outside = judge(
        (
            Published("C", "infiniband", 1e-6, 2e-6),
            Published("K", "infiniband", 0.5e-6, 1.2e-6),
            Published("K", "infiniband", 0.1e-6, 0.2e-6),
        )
    )
    assert (inside[1], beside[1], outside[1]) == (True, False, False)
    assert inside[0].endswith("inside")
    assert beside[0].endswith("meet")
    assert outside[0].endswith("outside")


def test_twice_as_slow_takes_a_fall_back_to_tcp(trial):
    """Misconfigured: 10.9 s, TCP: 13 s, both under twice 9.05 s; slower TCP is over it."""
    outcome = verdict_on(trial, "d12").outcome
    slower = verdict_on(slowed(trial, "tcp", 4), "d12")
    assert outcome in {Outcome.WHEN, Outcome.FAILS}
    assert slower.outcome is Outcome.WHEN
    assert "fell back to TCP" in slower.condition

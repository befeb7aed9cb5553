"""The judge is scored on published sweeps, healthy ones and with faults laid over them."""

from dataclasses import replace

import pytest

from weft import report
from weft.accuracy import judge, tables
from weft.accuracy.rows import collective as rows
from weft.bench import shape
from weft.engines.analytic.collective import constants


@pytest.fixture(scope="module")
def few():
    """Two runs alone: the whole folder takes a minute."""
    data = tables.read(tables.SHIPPED)
    sound = [run for run in data["nccl_runs"] if (run.get("health") or "") in rows.HEALTHY]
    kept = [run for run in sound if rows.try_case(run) and run.get("nodes") not in ("", "1")][
        :2
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "read", lambda _: {**data, "nccl_runs": kept})
        return judge.score()


def test_every_healthy_sweep_and_every_trial_is_counted_once(few):
    assert few.healthy == 2
    assert few.by_model.trials == sum(one.trials for one in few.faults)
    for one in few.faults:
        assert one.failed + one.inconclusive + one.passed == one.trials
        assert sum(count for _, count in one.taken_for) == one.trials
        assert one.first <= one.top3
    assert few.false_fail_ratio == few.false_fails / 2


def test_rates_lie_between_nothing_and_all_and_groups_hold_the_first(few):
    for one in (few.by_model, few.by_three_collectives, few.by_good_run):
        assert 0 < one.first_ratio <= one.top3_ratio <= 1
        assert one.first_ratio <= one.group_ratio <= 1
        assert one.group_size >= 1
        assert sum(part.trials for part in one.stated) == one.trials
        assert one.harmful <= one.trials


def test_a_good_run_of_the_system_makes_a_sharper_judge(few):
    assert few.by_good_run.failed_ratio > few.by_model.failed_ratio
    assert few.by_good_run.harmful_passed_ratio <= few.by_model.harmful_passed_ratio
    assert few.good_false_fails == 0


def test_the_score_is_shown_with_its_confusion(few):
    shown = report.show(few, "text")
    assert "false FAIL" in shown
    assert "taken for" in shown


def _published(name):
    data = tables.read(tables.SHIPPED)
    return next((s, site) for run, s, site in judge.settings(data) if run["run_id"] == name)


def test_one_nic_in_use_of_eight_is_found_in_a_run_that_was_published():
    """Eight H200 behind one NIC by choice, read as if all eight rails were meant.

    One link at an eighth, or other traffic on all, makes nearly the same curve.
    """
    setting, site = _published("h200-1rail-roce-2n")
    cluster = setting.cluster.with_(host=setting.cluster.host.with_(nics=8))
    with constants.using(constants.without(site)):
        found = shape.among_faults(shape.explain(replace(setting, cluster=cluster)))
    lost = next(one for one in found if one.name == "nics_lost")
    assert lost.form.startswith("1 of 8")
    assert lost.probability > max(one.probability for one in found) / 2


def test_a_forced_ring_is_named_for_a_run_that_was_published():
    """NCCL_ALGO=Ring on two hosts, read as if nothing were set.

    The band leaves the algorithm open where nothing states it, so that the curve alone does
    not make it the first cause; it is named among the first to check.
    """
    setting, site = _published("a100-hdr-dgx-2n-ring")
    cluster = setting.cluster.with_(nccl=setting.cluster.nccl.with_(env={}))
    with constants.using(constants.without(site)):
        found = shape.among_faults(shape.explain(replace(setting, cluster=cluster)))
    causes = [one.name for one in found if one.name != shape.NONE]
    assert "wrong_algorithm" in causes[:4]

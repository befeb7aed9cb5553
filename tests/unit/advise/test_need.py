"""The inverse: what network a target needs, on the fake."""

import pytest

from weft.advise.need import KNEE_GAIN, Target, farthest, need
from weft.errors import SpecError


def test_bandwidth_for_a_step_time_is_solved_for(cluster, job, ask):
    """8 s + 1 / (0.95 r) = 8.5 s, so r = 2.105 of 400 Gb/s."""
    found = need(cluster, job, Target(metric="step_s", value=8.5), ask=ask)
    bandwidth = found.requirements[0]
    assert bandwidth.name == "bandwidth"
    assert bandwidth.need == pytest.approx(400 / 0.95 / 0.5, rel=0.02)
    assert not bandwidth.met
    assert not found.reached


def test_a_target_that_is_met_says_how_much_would_have_done(cluster, job, ask):
    """8 + 1 / (0.95 r) = 12: a quarter of the bandwidth, 0.263, is enough."""
    found = need(cluster, job, Target(metric="step_s", value=12.0), ask=ask)
    needs = {one.name: one for one in found.requirements}
    assert found.reached
    assert all(one.met for one in found.requirements)
    assert needs["bandwidth"].need == pytest.approx(400 / 0.95 / 4, rel=0.02)
    assert needs["nics"].need == 4
    assert needs["oversubscription"].need == pytest.approx(0.95 * 4, rel=0.02)


def test_the_default_target_is_95_per_cent_of_unlimited_bandwidth(cluster, job, ask):
    found = need(cluster, job, ask=ask)
    assert found.wanted == pytest.approx(0.95 * found.most)


def test_what_no_network_can_give_is_said(cluster, job, ask):
    found = need(cluster, job, Target(metric="mfu", value=0.9), ask=ask)
    assert [one.need for one in found.requirements] == [None] * 4
    assert "no amount of it alone" in found.requirements[0].text


def test_the_curve_rises_and_the_knee_is_where_a_doubling_gives_little(cluster, job, ask):
    found = need(cluster, job, ask=ask)
    speeds = [point.mfu_ratio for point in found.curve]
    assert speeds == sorted(speeds)
    after = [p for p in found.curve if p.bytes_per_s_per_gpu >= found.knee.bytes_per_s_per_gpu]
    assert after[1].mfu_ratio / after[0].mfu_ratio - 1 < KNEE_GAIN
    before = [p for p in found.curve if p.bytes_per_s_per_gpu < found.knee.bytes_per_s_per_gpu]
    assert after[0].mfu_ratio / before[-1].mfu_ratio - 1 >= KNEE_GAIN


def test_a_target_of_nothing_is_refused(cluster, job, ask):
    with pytest.raises(SpecError, match="above zero"):
        need(cluster, job, Target(metric="mfu", value=0.0), ask=ask)


@pytest.mark.parametrize("metric", ["mfu", "mfu_of_max"])
def test_a_share_above_one_is_taken_for_per_cent_and_refused(cluster, job, ask, metric):
    with pytest.raises(SpecError, match=r"for 42 % write 0\.42"):
        need(cluster, job, Target(metric=metric, value=42), ask=ask)


def test_searches_end_at_the_ends_of_their_range():
    assert farthest(lambda _: True, 8, 1) == 1
    assert farthest(lambda _: False, 8, 1) is None
    assert farthest(lambda _: True, 1, 8) == 8
    assert farthest(lambda _: False, 1, 8) is None

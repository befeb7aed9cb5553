from pathlib import Path

import pytest

from weft.calibrate import calibrate, fit
from weft.calibrate.reader import CollectiveReading, MessageReading
from weft.engines.analytic.collective import collective_time
from weft.errors import SpecError
from weft.spec.load import preset
from weft.traffic.collective import Group, Operation

SAMPLES = Path(__file__).parents[2] / "samples" / "calibrate"
CLUSTER = preset("dgx_h100", hosts=4)
SIZES = [2**n for n in range(3, 34)]


def readings(factor_small, factor_large, hosts=4, operation=Operation.ALL_REDUCE):
    """Return a sweep that is some factors slower than predicted."""
    group = Group(ranks=8 * hosts, ranks_per_domain=8)
    found = [collective_time(CLUSTER, operation, size, group) for size in SIZES]
    huge = collective_time(CLUSTER, operation, 2.0**38, group).time_s.value / 2**38
    for size, one in zip(SIZES, found, strict=True):
        volume = min(huge * size, one.time_s.value)
        time_s = factor_small * (one.time_s.value - volume) + factor_large * volume
        yield CollectiveReading(
            operation=operation, ranks=8 * hosts, hosts=hosts, size_bytes=size, time_s=time_s
        )


def test_what_was_predicted_gives_ratios_of_one():
    for found in fit.collective_ratios(CLUSTER, readings(1, 1)).values():
        assert found.fixed_ratio == pytest.approx(1, abs=0.01)
        assert found.volume_ratio == pytest.approx(1, abs=0.01)


def test_a_slow_network_and_a_slow_start_are_told_apart():
    found = fit.collective_ratios(CLUSTER, readings(2, 1.25))["across.any.any"]
    assert found.fixed_ratio == pytest.approx(2, rel=0.1)
    assert found.volume_ratio == pytest.approx(1.25, rel=0.1)


def test_one_bad_size_moves_nothing():
    sweep = list(readings(1, 1.3))
    bad = sweep[-2]
    sweep[-2] = CollectiveReading(
        operation=bad.operation, ranks=bad.ranks, hosts=bad.hosts,
        size_bytes=bad.size_bytes, time_s=bad.time_s * 50,
    )  # fmt: skip
    found = fit.collective_ratios(CLUSTER, sweep)["across.any.any"]
    assert found.volume_ratio == pytest.approx(1.3, rel=0.05)


def test_few_sizes_do_not_make_a_narrow_band():
    few = list(readings(1, 1))[-2:]
    found = fit.collective_ratios(CLUSTER, few)["across.any.any"]
    assert (found.low_ratio, found.high_ratio) == (0.9, 1.1)


def test_one_host_says_nothing_of_the_network():
    assert all(
        name.startswith("inside.")
        for name in fit.collective_ratios(CLUSTER, readings(1, 2, hosts=1))
    )


def test_a_cluster_that_cannot_have_been_measured_is_refused():
    with pytest.raises(SpecError, match="describe the cluster that was measured"):
        fit.collective_ratios(CLUSTER, readings(1, 1, hosts=8))


def test_perftest_stands_in_for_collectives_that_were_not_measured():
    slow = MessageReading(verb="write", size_bytes=8 << 20, bytes_per_s=20e9)
    fine = MessageReading(verb="write", size_bytes=2, time_s=1.6e-6)
    found = fit.message_ratios(CLUSTER, [slow, fine])["across.any.any"]
    assert found.volume_ratio == pytest.approx(50e9 / 20e9, rel=0.03)
    assert found.fixed_ratio == pytest.approx(1, abs=0.15)


def test_small_messages_of_perftest_say_nothing_of_the_line():
    small = MessageReading(verb="write", size_bytes=64, bytes_per_s=1e6)
    assert fit.message_ratios(CLUSTER, [small]) == {}


def test_a_calibration_names_its_files_and_brings_its_readings_closer():
    cluster = preset("dgx_h100", hosts=2)
    files = [SAMPLES / "two_hosts.txt", SAMPLES / "write_bw.txt"]
    found = calibrate(cluster, files, name="site")
    assert [one.readings for one in found.files] == [3, 2]
    assert set(found.overlay.sources) == {str(path) for path in files}
    assert found.median_abs_error_after_ratio < found.median_abs_error_before_ratio
    assert found.provenance.overlay.startswith("site@")


def test_nothing_to_calibrate_with_is_an_error():
    with pytest.raises(SpecError, match="nothing to calibrate with"):
        calibrate(CLUSTER)

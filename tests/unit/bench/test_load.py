"""A network whose limit is known breaks there, and not before."""

import pytest

from weft.bench.load import Carried, Limits, raise_load, simulated_load
from weft.bench.load_hosts import Field, measured_load, processes
from weft.errors import SpecError
from weft.report.page import Table
from weft.report.views.load_test import load_test
from weft.spec.load import preset

PEAK = 1e9


def limited(limit):
    """A link that carries up to a limit, whose queue grows as 1 / (1 - load) does."""

    def offer(bytes_per_s):
        load = min(0.999, bytes_per_s / limit)
        return Carried(
            offered_bytes_per_s=bytes_per_s,
            delivered_bytes_per_s=min(bytes_per_s, limit),
            tail_s=100e-6 / (1 - load),
        )

    return offer


def test_a_network_that_carries_three_times_the_peak_does_not_break():
    steps = raise_load(limited(100 * PEAK), PEAK)
    assert [one.multiple for one in steps] == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert not any(one.broken for one in steps)


def test_the_breaking_point_is_narrowed_to_where_the_limit_is():
    """Halved twice between 2.0 and 2.5: within an eighth of the peak of the true 2.2."""
    steps = raise_load(limited(2.2 * PEAK), PEAK, Limits(tail_growth=1e9))
    broken = [one.multiple for one in steps if one.broken]
    assert min(broken) == pytest.approx(2.2 / 0.95, abs=0.126)


def test_a_tail_that_grows_breaks_before_the_rate_does():
    steps = raise_load(limited(2.2 * PEAK), PEAK)
    first = min((one for one in steps if one.broken), key=lambda one: one.multiple)
    assert "round trip grew" in first.why
    assert first.multiple < 2.2


def test_no_more_than_the_line_is_offered():
    steps = raise_load(limited(100 * PEAK), PEAK, line_bytes_per_s=1.7 * PEAK)
    assert steps[-1].multiple == pytest.approx(1.7)


def test_a_simulated_network_carries_a_light_load_and_says_what_it_did():
    found = simulated_load(
        preset("hgx_h100_roce", hosts=2), 40e9, Limits(largest_multiple=1.5), size_bytes=1 << 16
    )
    assert found.breaking_multiple is None
    assert found.sound_multiple == 1.5
    assert found.provenance.engine == "packet"
    assert all(one.delivered_ratio > 0.95 for one in found.steps)


def test_hosts_send_in_a_ring_and_each_stream_has_its_share():
    where = Field(hosts=("a", "b", "c"), addresses={"b": "10.0.0.2"}, streams=4)
    found = processes(where, 5e9)
    assert [one.serves for one in found] == [True, False] * 3
    first = found[1].words[-1]
    assert first.startswith("iperf3 --client 10.0.0.2 --port 5301 --json --bitrate 10000000000")
    assert found[-1].words[-2] == "c"


def test_what_cannot_be_loaded_is_refused():
    with pytest.raises(SpecError, match="two hosts"):
        measured_load(Field(hosts=("a",)), PEAK)
    with pytest.raises(SpecError, match="one pair"):
        measured_load(Field(hosts=("a", "b", "c"), tool="perftest"), PEAK)
    with pytest.raises(SpecError, match="iperf3 or perftest"):
        measured_load(Field(hosts=("a", "b"), tool="netcat"), PEAK)
    with pytest.raises(SpecError, match="whole jobs"):
        measured_load(Field(hosts=("a", "b"), launcher="srun"), PEAK)
    with pytest.raises(SpecError, match="at most what the NICs"):
        simulated_load(preset("hgx_h100_roce", hosts=2), 1e15)


def test_every_column_of_the_steps_has_a_name():
    result = simulated_load(preset("hgx_h100_roce", hosts=2), 1e9, Limits(largest_multiple=1.0))
    page = load_test.page(result)
    tables = [block for block in (*page.answer, *page.blocks) if isinstance(block, Table)]
    assert all(all(one.columns) for one in tables)
    assert tables

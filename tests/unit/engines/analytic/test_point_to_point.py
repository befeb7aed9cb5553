import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.engines.analytic.point_to_point import Link, bandwidth, latency

HDR = Link(fabric="infiniband", bytes_per_s=25e9)
CABLE = Link(fabric="infiniband", bytes_per_s=25e9, hops=0)


def test_a_switch_adds_its_hop():
    """t(h) - t(0) = h x 130 ns on InfiniBand."""
    assert latency(HDR, 8).value - latency(CABLE, 8).value == pytest.approx(130e-9)


def test_a_read_pays_for_the_way_of_its_request():
    assert latency(HDR, 8, "read").value == pytest.approx(2 * latency(HDR, 8).value, rel=0.01)


def test_a_message_too_large_for_its_request_is_fetched_first():
    assert latency(HDR, 221).value - latency(HDR, 220).value > 0.8e-6


def test_large_messages_fill_the_line_after_headers():
    """4096 / (4096 + 26) of 200 Gb/s."""
    assert bandwidth(HDR, 8 << 20).value == pytest.approx(25e9 * 4096 / 4122, rel=1e-3)


def test_small_messages_are_bounded_by_posting():
    assert bandwidth(HDR, 8).value == pytest.approx(8 * 2.8e6, rel=1e-3)


def test_more_queue_pairs_post_more_messages():
    assert bandwidth(HDR, 8, queue_pairs=4).value > 3.5 * bandwidth(HDR, 8).value


def test_one_message_in_flight_waits_for_its_answer():
    """bw = S / t_ack(S)."""
    size = 16384
    one = bandwidth(HDR, size, depth=1).value
    assert one == pytest.approx(size / latency(HDR, size, "read").value, rel=0.05)


sizes = st.integers(1, 1 << 26)


@given(sizes, sizes, st.sampled_from(["write", "send", "read"]))
def test_more_bytes_never_take_less_time(one, other, verb):
    small, large = sorted((one, other))
    assert latency(HDR, small, verb).value <= latency(HDR, large, verb).value


@given(sizes, st.sampled_from(["write", "read"]), st.integers(1, 16))
def test_no_message_rate_exceeds_the_line_and_bands_hold_their_value(size, verb, pairs):
    found = bandwidth(HDR, size, verb, queue_pairs=pairs)
    assert 0 < found.low <= found.value <= found.high <= 25e9

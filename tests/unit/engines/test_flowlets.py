"""Flowlets: when a flow moves, and what moving leaves it, between hashing and spraying."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_flows import naive_ends
from weft.engines.flow.flowlets import ROUNDS, Pacing, follow
from weft.engines.flow.solver import Flows, Uses
from weft.network.fabric import find
from weft.predict.flows import pacing_of
from weft.predict.simulate import simulate
from weft.spec.load import load_cluster, load_scenario, preset

LINE = 50e9
PACKET = 4178.0
SIZE = 1e6


def pacing(gap_s, burst=0.0):
    return Pacing(gap_s=gap_s, burst_bytes=burst, packet_bytes=PACKET, line_bytes_per_s=LINE)


def test_a_nic_that_paces_by_packets_moves_where_they_are_a_gap_apart():
    """P / r > g."""
    assert pacing(1e-6).moves_below_bytes_per_s == pytest.approx(PACKET / 1e-6)
    assert not pacing(PACKET / LINE * 1.01).sprays
    assert pacing(PACKET / LINE * 0.99).sprays


@given(st.floats(1e-8, 1e-3), st.floats(PACKET, 1e6))
def test_a_burst_pauses_for_what_its_packets_did_not_take(gap_s, burst):
    """At the limit the last packet of a burst and the first of the next are a gap apart."""
    one = pacing(gap_s, burst)
    rate = one.moves_below_bytes_per_s
    assert burst / rate - (burst - PACKET) / LINE == pytest.approx(gap_s)


@given(st.floats(1e-8, 1e-4), st.floats(PACKET, 1e6))
def test_a_longer_gap_moves_fewer_and_a_longer_burst_more(gap_s, burst):
    here = pacing(gap_s, burst).moves_below_bytes_per_s
    assert pacing(2 * gap_s, burst).moves_below_bytes_per_s < here
    larger = pacing(gap_s, 2 * burst).moves_below_bytes_per_s
    assert larger > here or here >= LINE


def alone(link):
    return Uses(start=np.arange(len(link) + 1), links=np.array(link))


@pytest.mark.parametrize("meetings", [1, 2, 5])
def test_two_flows_that_meet_a_few_times_lose_half_of_those_stretches(meetings):
    """Each stretch t together sends t C / 2 of S: T = S / C + k t / 2."""
    stretch_s = SIZE / LINE / 8
    draws = iter([*[[0, 0]] * (meetings - 1), [0, 1]])
    found = follow(
        np.array([LINE, LINE]), Flows(uses=alone([0, 0]), size_bytes=np.array([SIZE, SIZE])),
        lambda _: alone(next(draws)), moves_below=np.full(2, 0.9 * LINE),
        dwell_s=stretch_s,
    )  # fmt: skip
    expected = SIZE / LINE + meetings * stretch_s / 2
    assert found.ends.end_s == pytest.approx([expected, expected])
    assert found.left_bytes == pytest.approx([0.0, 0.0], abs=1e-3)
    assert found.carried_bytes.sum() == pytest.approx(2 * SIZE)


def test_flows_that_are_fast_enough_are_never_asked():
    def move(slow):
        raise AssertionError(slow)

    asked = Flows(uses=alone([0, 0]), size_bytes=np.array([SIZE, SIZE]))
    found = follow(
        np.array([LINE]), asked, move, moves_below=np.full(2, LINE / 3), dwell_s=1e-9
    )
    assert found.ends.end_s == pytest.approx([2 * SIZE / LINE] * 2)


LINKS = 4
flow = st.tuples(
    st.integers(0, LINKS - 1), st.floats(1, 4), st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.0, 0.25]),
)  # fmt: skip


@given(st.lists(flow, min_size=1, max_size=6), st.integers(0, 1 << 30), st.booleans())
def test_every_end_is_that_of_the_naive_twin(flows, seed, chained):
    """The twin steps through all events, and draws the same paths at the same times."""
    first, sizes, begins, delays = (list(one) for one in zip(*flows, strict=True))
    pairs = [(0, len(flows) - 1)] if chained and len(flows) > 1 else []
    capacity = np.array([1.0, 0.5, 2.0, 1.0])
    stretch = 40.0 / ROUNDS
    draws = np.random.default_rng(seed).integers(0, LINKS, (10_000, len(flows)))
    ours, theirs = iter(draws), iter(draws)
    asked = Flows(
        uses=alone(first), size_bytes=np.array(sizes), begin_s=np.array(begins),
        delay_s=np.array(delays), predecessor=np.array(pairs, np.int64).reshape(-1, 2),
    )  # fmt: skip
    found = follow(
        capacity, asked, lambda _: alone(next(ours).tolist()),
        moves_below=np.full(len(flows), 0.6), dwell_s=stretch,
    )  # fmt: skip
    expected = naive_ends(
        capacity, [{link: 1.0} for link in first], sizes=list(sizes), begins=begins,
        delays=delays, pairs=pairs,
        moves=(stretch, 0.6, lambda: [{link: 1.0} for link in next(theirs).tolist()]),
    )  # fmt: skip
    assert found.ends.end_s == pytest.approx(expected, rel=1e-6)


def permutation(balancing, gap=None, seeds=tuple(range(1, 9))):
    more = {} if gap is None else {"flowlet_gap_s": gap}
    host = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}
    asked = load_scenario({
        "cluster": {
            "preset": "hgx_h100_roce", "hosts": 32, "host": host,
            "topology": {"kind": "leaf_spine", "switch_ports": 16},
        },
        "traffic": [{"permutation": {"size_bytes": "32MiB"}}], "seeds": list(seeds),
        "network": {"balancing": balancing, **more},
    })  # fmt: skip
    return simulate(asked, fidelity="flow").traffic[0]


def test_shorter_gaps_lead_from_hashing_to_spraying():
    """Packets of 84 ns: at 1 us nothing moves, at 80 ns all do."""
    times = [
        np.mean(permutation("flowlet", gap).completions_s)
        for gap in ("1us", "240ns", "150ns", "80ns")
    ]
    hashed, sprayed = (permutation(one).completions_s for one in ("ecmp", "spray"))
    assert times[0] == np.mean(hashed)
    assert times[3] == np.mean(sprayed)
    assert times[0] > times[1] > times[2] > times[3]


def test_fabrics_say_how_their_senders_pace():
    """RoCE packet by packet: below 2 Gb/s at the usual gap; TCP by 64 KiB: below 17 Gb/s."""
    cluster = load_cluster({"preset": "hgx_h100_roce", "fabric": {"load_balancing": "flowlet"}})
    roce = pacing_of(cluster, LINE)
    assert roce.moves_below_bytes_per_s < 0.25e9 < 0.01 * LINE
    burst = find("tcp").burst_bytes.value
    tcp = Pacing(gap_s=20e-6, burst_bytes=burst, packet_bytes=9090, line_bytes_per_s=12.5e9)
    assert tcp.moves_below_bytes_per_s == pytest.approx(
        burst / (20e-6 + (burst - 9090) / 12.5e9)
    )
    assert tcp.moves_below_bytes_per_s > 10 * roce.moves_below_bytes_per_s
    assert pacing_of(preset("hgx_h100_roce"), LINE) is None

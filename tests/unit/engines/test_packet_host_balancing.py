"""Hosts that balance by entropy: rules of each file, and what they gain in a network."""

import os
import subprocess
import sys

import numpy as np
import pytest

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.errors import SpecError

HOSTS = 64
NETWORK = leaf_spine(
    leaves=8, hosts_per_leaf=8, spines=8, bytes_per_s=50e9, propagation_s=500e-9
)
BY_HOST = ("oblivious", "bitmap", "reps", "mixed")


RULES = """
from weft import plugins
from weft.engines.packet import balancing
from weft.engines.packet.balance import CUT, GOOD, MARKED, Balancing
from weft.engines.packet.tables import CHOICE, ENTROPIES, LINK
from weft.kernel import table


class Sender:
    def __init__(self, name, entropies=8):
        self.balancing = plugins.load(balancing, name, Balancing)
        self.choice, self.row = table(1, CHOICE), table(1, LINK)
        self.row.random_out[:] = 12345
        self.entropies = entropies

    def choose(self):
        return int(self.balancing.choose(self.choice[0], self.entropies, self.row[0]))

    def learn(self, entropy, news):
        self.balancing.learn(self.choice[0], self.entropies, entropy, news)


one = Sender("oblivious")
rounds = [[one.choose() for _ in range(8)] for _ in range(4)]
assert all(sorted(each) == list(range(8)) for each in rounds), "all once a round"
assert len({tuple(each) for each in rounds}) > 1, "each round in another order"

one = Sender("bitmap")
for news in (CUT, MARKED):
    one.learn(3, news)
one.learn(5, GOOD)
assert one.choice.penalty[0, 3] == 5, "four turns for a cut packet, one for a mark"
seen = [one.choose() for _ in range(80)]
assert seen.count(3) == (80 + 5) // 8 - 5 or seen.count(3) == (80 + 5) // 8 - 4, seen
assert 3 not in seen[:35]
for _ in range(9):
    one.learn(2, CUT)
assert one.choice.penalty[0, 2] == 15, "no more than fifteen"

one = Sender("reps", 64)
for entropy in range(10):
    one.learn(entropy, GOOD)
one.learn(20, MARKED)
assert [one.choose() for _ in range(8)] == list(range(2, 10)), "the last eight, once"
assert one.choice.count_kept[0] == 0

one = Sender("mixed")
one.learn(6, GOOD)
assert one.choose() == 6, "what proved good comes first"
for entropy in range(ENTROPIES + 3):
    one.learn(entropy % 8, GOOD)
assert one.choice.count_kept[0] == ENTROPIES
"""


def test_each_balancing_follows_its_rule():
    """Hooks are called one by one, so as plain Python."""
    subprocess.run(
        [sys.executable, "-c", RULES],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        timeout=120,
    )


def permutation(size_bytes):
    order = np.random.default_rng(3).permutation(HOSTS)
    return Flows(source=order, target=np.roll(order, 1), size_bytes=np.full(HOSTS, size_bytes))


def run(name, wiring=NETWORK, size_bytes=1 << 20, **options):
    asked = {
        "flow_control": FlowControl.NONE, "congestion": "nscc", "queue_limit_bytes": 250_000,
        "kmin_bytes": 50_000, "kmax_bytes": 200_000, "pmax_ratio": 1.0, "entropies": 32,
    }  # fmt: skip
    return simulate(
        wiring, permutation(size_bytes), Options(balancing=name, **(asked | options))
    )


@pytest.mark.parametrize("name", BY_HOST)
@pytest.mark.parametrize("acknowledge_bytes", [0, 16_384])
@pytest.mark.parametrize("congestion", ["nscc", "rccc"])
def test_all_bytes_arrive_and_the_same_seed_gives_the_same(name, acknowledge_bytes, congestion):
    first, second = (
        run(name, acknowledge_bytes=acknowledge_bytes, congestion=congestion) for _ in (1, 2)
    )
    assert (first.received_bytes == 1 << 20).all()
    assert first.counts["packets_alive"] == 0
    assert (first.end_ps == second.end_ps).all()


def test_acknowledgements_held_back_are_a_fraction_of_those_of_each_packet():
    """Of unmarked packets of 4 KiB, one in four is answered until there are 16 KiB."""
    each, held = (
        run("reps", kmin_bytes=1 << 30, kmax_bytes=1 << 31,
            queue_limit_bytes=1 << 30, acknowledge_bytes=few)
        for few in (0, 16_384)
    )  # fmt: skip
    packets = HOSTS * (1 << 20) // 4096
    saved = each.counts["control_hops"] - held.counts["control_hops"]
    assert 0.6 * packets < saved / 4 < 0.75 * packets + HOSTS


def test_a_slow_link_is_left_to_others_by_those_that_learn():
    """One spine at a tenth of its rate: an oblivious host goes on using it, others do not."""
    rate = NETWORK.bytes_per_s.copy()
    spine = NETWORK.hosts + 8
    rate[(NETWORK.source == spine) | (NETWORK.target == spine)] /= 10
    slow = Wiring(
        hosts=NETWORK.hosts, switches=NETWORK.switches, source=NETWORK.source,
        target=NETWORK.target, bytes_per_s=rate, propagation_s=NETWORK.propagation_s,
    )  # fmt: skip
    used = (slow.source == spine) | (slow.target == spine)
    outcomes = {name: run(name, slow, size_bytes=4 << 20) for name in BY_HOST}
    sent = {name: one.links.sent_bytes[used].sum() for name, one in outcomes.items()}
    for name in ("bitmap", "reps", "mixed"):
        assert sent[name] < 0.5 * sent["oblivious"]
        assert outcomes[name].completion_ps < 0.5 * outcomes["oblivious"].completion_ps


def test_a_slower_port_may_have_a_smaller_queue():
    ratio = np.ones(len(NETWORK.source))
    ratio[NETWORK.source >= NETWORK.hosts + 8] = 0.25
    small = Wiring(
        hosts=NETWORK.hosts, switches=NETWORK.switches, source=NETWORK.source,
        target=NETWORK.target, bytes_per_s=NETWORK.bytes_per_s,
        propagation_s=NETWORK.propagation_s, queue_ratio=ratio,
    )  # fmt: skip
    links = run("oblivious", small).links
    assert (links.limit_bytes == np.rint(250_000 * ratio)).all()
    assert (links.largest_queue_bytes[ratio < 1] <= 62_500).all()


@pytest.mark.parametrize("count", [0, 3, 512])
def test_entropies_are_a_power_of_two(count):
    with pytest.raises(SpecError, match=f"{count} entropy values: reps takes a power of two"):
        run("reps", entropies=count)


CONTROLS = {
    "nscc": {}, "rccc": {}, "rccc by a clock": {"grant_rate_ratio": 0.99},
}  # fmt: skip


def large_incast(control, acknowledge_bytes):
    """Send from 496 hosts, which begin with two round trips each, into 100 packets of queue."""
    wiring = leaf_spine(
        leaves=32, hosts_per_leaf=16, spines=16, bytes_per_s=50e9, propagation_s=1e-6
    )
    work = Flows(
        source=np.arange(16, 512), target=np.zeros(496, np.int64),
        size_bytes=np.full(496, 100_000),
    )  # fmt: skip
    return simulate(wiring, work, Options(
        balancing="mixed", congestion=control.partition(" ")[0], recovery="trim",
        flow_control=FlowControl.NONE, queue_limit_bytes=100 * 4096, kmin_bytes=80_000,
        kmax_bytes=300_000, pmax_ratio=1.0, acknowledge_bytes=acknowledge_bytes,
        knobs={"start_window_bytes": 200_000, **CONTROLS[control]},
    ))  # fmt: skip


@pytest.mark.parametrize("control", CONTROLS)
def test_a_large_incast_ends_and_held_back_acknowledgements_do_not_flood_it(control):
    """T = N S / C where nothing stalls; packets resent do not depend on when answers come."""
    each, held = (large_incast(control, few) for few in (0, 16_384))
    least_ps = 496 * 100_000 * 20
    for one in (each, held):
        assert (one.received_bytes == 100_000).all()
        assert least_ps <= one.completion_ps <= 1.1 * least_ps
    assert held.counts["trims"] <= 1.1 * each.counts["trims"]

"""Pair tests that tell most, and what their results say; the truth is known here."""

import itertools
import math
import random
from functools import partial

import pytest

from weft.bench.localise import (
    SURE,
    Layout,
    Outcome,
    gain_bits,
    localise,
    search,
)
from weft.errors import SpecError

FOUR = Layout(hosts=("a", "b", "c", "d"))
LEAVES = Layout(
    hosts=("a", "b", "c", "d"), leaf_of={"a": "left", "b": "left", "c": "right", "d": "right"}
)
FAST = 11.5e9


def outcomes(**rates):
    return [Outcome(hosts=tuple(pair), bytes_per_s=rate) for pair, rate in rates.items()]


def test_before_any_test_all_hosts_are_alike():
    found = localise(FOUR)
    assert len({round(one.probability, 9) for one in found.suspects}) == 1
    assert not found.settled
    assert found.all_pairs == 6


def test_a_slow_pair_leaves_two_suspects_and_the_next_test_splits_them():
    found = localise(FOUR, outcomes(ab=FAST, cd=FAST / 8))
    assert {one.part for one in found.suspects[:2]} == {"c", "d"}
    (following,) = found.next
    assert len({"c", "d"} & set(following.hosts)) == 1
    assert following.slow_probability == pytest.approx(0.5, abs=0.02)


def test_the_part_that_all_slow_tests_share_is_named():
    found = localise(FOUR, outcomes(ab=FAST, cd=FAST / 8, ac=FAST / 8))
    assert found.named == ("c",)
    assert found.suspects[0].probability >= SURE
    assert found.next == ()


def test_uplinks_are_suspected_where_only_tests_across_are_slow():
    found = localise(
        LEAVES, outcomes(ab=FAST, cd=FAST, ac=FAST / 3, bd=FAST / 3)
    )  # fmt: skip
    parts = {one.part: one.probability for one in found.suspects}
    assert parts["uplinks of left"] + parts["uplinks of right"] > SURE
    assert max(parts[host] for host in "abcd") < 0.05


def test_one_test_alone_says_nothing_where_the_rate_of_a_sound_one_is_not_known():
    """Its rate may be that of a sound pair or of a slow one: the prior stays."""
    found = localise(FOUR, outcomes(ab=FAST))
    assert found.none_probability == pytest.approx(localise(FOUR).none_probability, abs=0.02)
    assert not found.settled


def test_tests_alike_that_all_go_through_one_host_do_not_clear_it():
    layout = Layout(hosts=tuple("abcde"))
    found = localise(layout, outcomes(ab=FAST, ac=FAST, ad=FAST, ae=FAST))
    assert found.suspects[0].part == "a"
    assert found.suspects[0].probability > 0.1
    assert found.none_probability < SURE


def test_more_tests_alike_say_that_nothing_is_faulty():
    pairs = {a + b: FAST for a, b in itertools.combinations("abcd", 2)}
    assert localise(FOUR, outcomes(**pairs)).none_probability >= SURE


def test_a_search_ends_where_no_test_can_settle_it():
    """Two hosts, and nobody says what a sound pair carries: no repeat tells."""
    found, _ = search(partial(localise, Layout(hosts=("a", "b"))), lambda _: FAST)
    assert len(found.outcomes) < 20
    assert found.named == ()
    assert found.none_probability < SURE


def test_of_two_slow_hosts_one_is_found():
    plan = partial(localise, Layout(hosts=tuple("abcdefgh")), expected_bytes_per_s=FAST)
    found, _ = search(plan, lambda pair: FAST / (5 if {"b", "f"} & set(pair) else 1))
    assert found.named
    assert set(found.named) <= {"b", "f"}


def test_where_nothing_is_slow_no_part_is_named():
    found, _ = search(partial(localise, FOUR, expected_bytes_per_s=FAST), lambda _: FAST)
    assert found.named == ()
    assert found.none_probability >= SURE


def test_a_round_at_once_has_no_host_twice():
    found = localise(Layout(hosts=tuple("abcdefgh")), at_once=True)
    used = list(itertools.chain.from_iterable(one.hosts for one in found.next))
    assert len(used) == len(set(used)) == 8


def test_groups_halve_the_suspects():
    found = localise(Layout(hosts=tuple("abcdefgh")), largest_group=8)
    assert len(found.next[0].hosts) > 2
    assert found.next[0].gain_bits > localise(Layout(hosts=tuple("abcdefgh"))).next[0].gain_bits


@pytest.mark.parametrize("slow", [0.1, 0.3, 0.7])
def test_a_test_whose_outcome_is_foreseen_tells_less(slow):
    assert gain_bits(0.5) > gain_bits(slow) == pytest.approx(gain_bits(1 - slow))


def test_it_takes_far_fewer_tests_than_all_pairs_and_is_right():
    """16 hosts, 120 pairs: a tenth of them, and the part named is the slow one."""
    draw = random.Random(2)  # noqa: S311 - noise
    layout = Layout(hosts=tuple(f"h{place}" for place in range(16)))
    tests, right = 0, 0
    for _ in range(10):
        slow = draw.choice(layout.hosts)
        found, _ = search(
            partial(localise, layout, expected_bytes_per_s=FAST),
            lambda pair, slow=slow: (
                FAST * (0.4 if slow in pair else 1) * math.exp(draw.gauss(0, 0.03))
            ),
        )
        tests += len(found.outcomes)
        right += found.named == (slow,)
    assert right >= 9
    assert tests / 10 < 12


def test_what_cannot_be_is_refused():
    with pytest.raises(SpecError, match="two hosts"):
        localise(Layout(hosts=("a",)))
    with pytest.raises(SpecError, match="named twice"):
        localise(Layout(hosts=("a", "a")))
    with pytest.raises(SpecError, match="not among hosts"):
        localise(FOUR, outcomes(ax=FAST))


def _alone(faulty, draw):
    """Return what a test of a group shows where one path between two hosts is slow."""
    return lambda group: (
        FAST * (0.3 if faulty <= set(group) else 1) * math.exp(draw.gauss(0, 0.03))
    )


def test_a_slow_path_between_two_healthy_hosts_is_named():
    found = localise(FOUR, outcomes(ab=FAST / 3, ac=FAST, bc=FAST, ad=FAST),
                     expected_bytes_per_s=FAST)  # fmt: skip
    assert found.suspects[0].part == "path between a and b"


@pytest.mark.parametrize("hosts", [32, pytest.param(232, marks=pytest.mark.slow)])
def test_one_slow_path_of_all_is_found_by_groups(hosts):
    """C(232, 2) = 26,796 paths are 14.7 bits; NVCRE states 22 to 57 tests."""
    draw = random.Random(7)  # noqa: S311 - noise
    layout = Layout(hosts=tuple(f"h{place}" for place in range(hosts)))
    ends = draw.sample(layout.hosts, 2)
    plan = partial(localise, layout, expected_bytes_per_s=FAST, largest_group=hosts)
    found, _ = search(plan, _alone(set(ends), draw))
    one, two = sorted(ends, key=layout.hosts.index)
    assert found.named == (f"path between {one} and {two}",)
    assert math.log2(hosts * (hosts - 1) / 2) <= len(found.outcomes) <= 22

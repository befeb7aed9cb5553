"""Rates by class: closed forms, the naive twin, and what must hold whatever the weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_flows import naive_rates_by_class
from weft.engines.flow.classes import Classes, complete_by_class, rates_by_class
from weft.engines.flow.solver import Flows, Uses, complete, max_min_rates
from weft.errors import Infeasible

RATE = 12.0
SAME = 1e-6


def classes(of_flow, weight=(3.0, 1.0), priority=None):
    levels = np.zeros(len(weight), np.int64) if priority is None else np.array(priority)
    return Classes(of_flow=np.array(of_flow), weight=np.array(weight, float), priority=levels)


def uses(*paths, weight=None):
    """Each path is the links of a flow."""
    start = np.cumsum([0, *map(len, paths)])
    return Uses(start=start, links=np.array(sum(paths, ()), np.int64), weight=weight)


def rates(links, paths, of_class):
    return rates_by_class(np.full(links, RATE), uses(*paths), of_class)


def test_classes_share_by_weight_and_flows_of_one_evenly():
    """3 : 1 of 12, the first over two flows."""
    assert rates(1, [(0,)] * 3, classes([0, 0, 1])) == pytest.approx([4.5, 4.5, 3.0])


def test_what_a_class_cannot_use_goes_to_the_others():
    """A flow of weight 3 has 2 elsewhere: the other class has 12 - 2, not a quarter of 12."""
    capacity = np.array([RATE, 2.0])
    found = rates_by_class(capacity, uses((0, 1), (0,)), classes([0, 1]))
    assert found == pytest.approx([2.0, 10.0])


def test_a_higher_priority_takes_all_that_it_can_use():
    capacity = np.array([RATE, 5.0])
    found = rates_by_class(
        capacity, uses((0, 1), (0,), (0,)), classes([1, 0, 0], (1, 1), (0, 7))
    )
    assert found == pytest.approx([5.0, 3.5, 3.5])
    alone = rates(1, [(0,), (0,)], classes([1, 0], (1, 1), (0, 7)))
    assert alone == pytest.approx([RATE, 0.0])


def test_shares_of_two_links_hang_together():
    """x is alone in its class on A and one of 10 on B, y the other way round: both get 1 / 11.

    Where x has r of B, y can have (C - r) / 10 of A, and the other way round: r = (C - r) / 10.
    """
    paths = [(0, 1), (0, 1), *[(0,)] * 9, *[(1,)] * 9]
    of_flow = [0, 1, *[1] * 9, *[0] * 9]
    found = rates(2, paths, classes(of_flow, (1, 1)))
    assert found == pytest.approx([RATE / 11] * len(paths))


def test_a_class_that_has_ended_leaves_its_share():
    """T1 = S / (3 C / 4); the other then has sent a quarter of C T1, and the rest at C."""
    asked = Flows(uses=uses((0,), (0,)), size_bytes=np.array([36.0, 36.0]))
    ends, left = complete_by_class(np.array([RATE]), asked, classes([0, 1]))
    assert ends.end_s == pytest.approx([4.0, 6.0])
    assert left == pytest.approx([0.0, 0.0])


def test_what_is_held_back_by_a_higher_priority_waits_for_it():
    asked = Flows(
        uses=uses((0,), (0,)), size_bytes=np.array([24.0, 24.0]),
        begin_s=np.array([0.0, 1.0]), delay_s=np.array([0.5, 0.25]),
    )  # fmt: skip
    ends, _ = complete_by_class(np.array([RATE]), asked, classes([0, 1], (1, 1), (0, 1)))
    assert ends.end_s == pytest.approx([4.0 + 0.5, 3.0 + 0.25])
    late, left = complete_by_class(
        np.array([RATE]), asked, classes([0, 1], (1, 1), (0, 1)), until_s=2.0
    )
    assert late.end_s.tolist() == [-1.0, -1.0]
    assert left == pytest.approx([12.0, 12.0])


def test_flows_that_wait_in_a_circle_are_refused():
    pairs = np.array([[0, 1], [1, 0]])
    asked = Flows(uses=uses((0,), (0,)), size_bytes=np.ones(2), predecessor=pairs)
    with pytest.raises(Infeasible, match="circle"):
        complete_by_class(np.array([RATE]), asked, classes([0, 1]))


LINKS = 5
KINDS = 3
path = st.lists(st.integers(0, LINKS - 1), min_size=1, max_size=3, unique=True)
flow = st.tuples(path, st.integers(0, KINDS - 1), st.floats(0.25, 2))
capacities = st.lists(st.floats(1, 8), min_size=LINKS, max_size=LINKS)
weights = st.lists(st.floats(0.5, 8), min_size=KINDS, max_size=KINDS)
priorities = st.lists(st.integers(0, 1), min_size=KINDS, max_size=KINDS)
some_flows = st.lists(flow, min_size=1, max_size=12)


def problem(flows, weight=(1.0, 1.0, 1.0), priority=(0, 0, 0)):
    paths, kinds, each = zip(*flows, strict=True)
    found = uses(
        *map(tuple, paths), weight=np.repeat(np.array(each), [len(one) for one in paths])
    )
    return found, classes(kinds, weight, priority)


@given(some_flows, capacities, weights, priorities, st.permutations(range(LINKS)))
def test_rates_are_those_of_the_naive_twin(flows, capacity, weight, priority, order):
    found = rates_by_class(np.array(capacity), *problem(flows, weight, priority))
    paths = [dict.fromkeys(links, each) for links, _, each in flows]
    kinds = [kind for _, kind, _ in flows]
    expected = naive_rates_by_class(
        capacity, paths, kinds, weights=weight, priorities=priority, order=order
    )
    assert found == pytest.approx(expected, rel=SAME, abs=1e-9)


@given(some_flows, capacities, weights, priorities)
def test_no_link_carries_too_much_and_each_flow_meets_a_full_one(
    flows, capacity, weight, priority
):
    """Work-conserving: what a class does not use nobody is kept from."""
    asked, of_class = problem(flows, weight, priority)
    found = rates_by_class(np.array(capacity), asked, of_class)
    each = np.repeat(found, np.diff(asked.start)) * asked.weight
    load = np.bincount(asked.links, each, LINKS)
    assert (load <= np.array(capacity) * (1 + SAME)).all()
    full = load >= np.array(capacity) * (1 - SAME)
    assert np.logical_or.reduceat(full[asked.links], asked.start[:-1]).all()


@given(some_flows, capacities, st.integers(0, KINDS - 1), st.floats(0.5, 8))
def test_one_class_alone_has_the_rates_that_there_are_without_classes(
    flows, capacity, kind, weight
):
    same = [(links, kind, each) for links, _, each in flows]
    asked, of_class = problem(same, (weight,) * KINDS)
    found = rates_by_class(np.array(capacity), asked, of_class)
    assert found == pytest.approx(max_min_rates(np.array(capacity), asked), rel=SAME)


@given(some_flows, capacities, st.floats(0.5, 8))
def test_equal_weights_of_equal_traffic_change_nothing(flows, capacity, weight):
    """Every class sends the same flows."""
    mirrored = [(links, kind, each) for links, _, each in flows for kind in range(KINDS)]
    asked, of_class = problem(mirrored, (weight,) * KINDS)
    found = rates_by_class(np.array(capacity), asked, of_class)
    assert found == pytest.approx(max_min_rates(np.array(capacity), asked), rel=SAME)


@given(st.lists(flow, min_size=2, max_size=12), weights, st.integers(0, KINDS - 1))
def test_more_weight_never_takes_from_a_class_on_one_link(flows, weight, raised):
    one = [([0], kind, each) for _, kind, each in flows]
    more = [w * (1 + (kind == raised)) for kind, w in enumerate(weight)]
    before, after = (
        rates_by_class(np.array([RATE]), *problem(one, each)) for each in (weight, more)
    )
    mine = np.array([kind for _, kind, _ in one]) == raised
    assert (after[mine] >= before[mine] * (1 - SAME)).all()
    assert (after[~mine] <= before[~mine] * (1 + SAME)).all()


@given(some_flows, capacities, st.lists(st.floats(0.5, 4), min_size=12, max_size=12))
def test_one_class_ends_as_without_classes(flows, capacity, sizes):
    same = [(links, 0, each) for links, _, each in flows]
    asked, of_class = problem(same)
    work = Flows(
        uses=asked, size_bytes=np.array(sizes[: len(flows)]),
        predecessor=np.array([[0, len(flows) - 1]] if len(flows) > 1 else [], np.int64)
        .reshape(-1, 2),
    )  # fmt: skip
    ends, left = complete_by_class(np.array(capacity), work, of_class)
    expected = complete(np.array(capacity), work)
    assert ends.end_s == pytest.approx(expected.end_s, rel=SAME)
    assert ends.begin_s == pytest.approx(expected.begin_s, rel=SAME)
    assert left == pytest.approx(np.zeros(len(flows)))

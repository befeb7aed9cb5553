"""Rates and ends of the flow engine: closed forms, the naive twin, what must never change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_flows import naive_ends, naive_rates
from weft.engines.flow.solver import (
    FOREVER_EVENTS,
    Flows,
    Uses,
    complete,
    make_state,
    max_min_rates,
)
from weft.engines.flow.timeline import run
from weft.errors import Infeasible, SpecError

RATE = 100.0


def uses_of(paths):
    """Turn dicts of link -> weight into the arrays of the solver."""
    start = np.cumsum([0, *(len(path) for path in paths)])
    links = np.array([link for path in paths for link in path], np.int64)
    weight = np.array([w for path in paths for w in path.values()], float)
    return Uses(start=start, links=links, weight=weight)


def rates_of(capacity, paths):
    return max_min_rates(np.array(capacity, float), uses_of(paths))


def plain(*paths):
    return [dict.fromkeys(path, 1.0) for path in paths]


def test_flows_of_one_link_share_it_evenly():
    """r = C / n."""
    assert rates_of([RATE], plain([0], [0], [0], [0])) == pytest.approx(4 * [RATE / 4])


def test_what_one_flow_cannot_use_goes_to_the_others():
    """Flow 0 is held to C / 2 by link 0, with flow 1; link 1 of 2 C gives flow 2 the rest."""
    rates = rates_of([RATE, 2 * RATE], plain([0, 1], [0], [1]))
    assert rates == pytest.approx([RATE / 2, RATE / 2, 1.5 * RATE])


def test_a_chain_of_n_links_halves_who_crosses_all_of_it():
    """The long flow meets one short flow on each link: every rate is C / 2."""
    rates = rates_of(5 * [RATE], plain(range(5), *([link] for link in range(5))))
    assert rates == pytest.approx(6 * [RATE / 2])


def test_a_flow_that_takes_twice_its_rate_halves_what_is_left():
    """r + 2 r = C for equal rates, so r = C / 3."""
    assert rates_of([RATE], [{0: 1.0}, {0: 2.0}]) == pytest.approx(2 * [RATE / 3])


def test_a_flow_without_links_is_held_by_nothing():
    assert rates_of([RATE], [{}, {0: 1.0}]).tolist() == [np.inf, RATE]


def test_two_flows_of_one_link_end_when_sums_say():
    """Sizes S and 3 S: at C / 2 each until 2 S / C; the second then has C, until 4 S / C."""
    flows = Flows(uses=uses_of(plain([0], [0])), size_bytes=np.array([50.0, 150.0]))
    assert complete(np.array([RATE]), flows).end_s == pytest.approx([1.0, 2.0])


def test_a_flow_that_ends_has_no_link_solved_that_limits_nobody():
    """Of three links only the shared one is: at the first end, which leaves it to one flow."""
    flows = Flows(uses=uses_of(plain([0, 1], [0, 2])), size_bytes=np.array([50.0, 150.0]))
    found = complete(np.full(3, RATE), flows)
    assert found.end_s == pytest.approx([1.0, 2.0])
    assert (found.events, found.evaluations) == (3, 2)


def test_links_that_each_allow_less_than_the_one_before_are_filled_from_the_last():
    """Each flow crosses two of them in a row."""
    capacity = [float(rate) for rate in range(80, 40, -1)]
    paths = plain(*([link, link + 1] for link in range(39)))
    assert rates_of(capacity, paths) == pytest.approx(naive_rates(capacity, paths))


def test_a_flow_that_waits_begins_when_the_other_has_arrived():
    """It begins S / C + delay after the first, or when it may if that is later."""
    flows = Flows(
        uses=uses_of(plain([0], [0], [0])), size_bytes=np.full(3, 100.0),
        begin_s=np.array([0.0, 0.0, 9.0]), delay_s=np.array([0.5, 0.5, 0.0]),
        predecessor=np.array([[0, 1], [1, 2]]),
    )  # fmt: skip
    found = complete(np.array([RATE]), flows)
    assert found.begin_s == pytest.approx([0.0, 1.5, 9.0])
    assert found.end_s == pytest.approx([1.5, 3.0, 10.0])


def test_what_has_not_happened_at_the_limit_is_marked():
    flows = Flows(uses=uses_of(plain([0], [0])), size_bytes=np.array([50.0, 150.0]))
    found = complete(np.array([RATE]), flows, until_s=1.5)
    assert found.end_s.tolist() == pytest.approx([1.0, -1.0])


def test_flows_that_wait_for_one_another_are_refused():
    flows = Flows(
        uses=uses_of(plain([0], [0])), size_bytes=np.ones(2),
        predecessor=np.array([[0, 1], [1, 0]]),
    )  # fmt: skip
    with pytest.raises(Infeasible, match="circle"):
        complete(np.array([RATE]), flows)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.inf, np.nan])
def test_a_link_without_a_rate_is_refused(rate):
    with pytest.raises(SpecError, match="link 1"):
        rates_of([RATE, rate], plain([0]))


@st.composite
def problems(draw):
    links = draw(st.integers(1, 8))
    capacity = draw(st.lists(st.floats(1, 100), min_size=links, max_size=links))
    weights = st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0])
    path = st.dictionaries(st.integers(0, links - 1), weights, max_size=5)
    paths = draw(st.lists(path, min_size=1, max_size=12))
    return capacity, paths


@st.composite
def schedules(draw):
    capacity, paths = draw(problems())
    count = len(paths)

    def each(values):
        return draw(st.lists(values, min_size=count, max_size=count))

    sizes, begins = each(st.floats(0, 100)), each(st.sampled_from([0.0, 0.0, 1.0, 2.5]))
    delays = each(st.sampled_from([0.0, 0.1, 3.0]))
    flow = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(flow, flow), max_size=6))
    pairs = [(a, b) for a, b in pairs if a < b]
    return {
        "capacity": capacity, "paths": paths, "sizes": sizes, "begins": begins,
        "delays": delays, "pairs": pairs,
    }  # fmt: skip


def ends_of(capacity, paths, *, sizes, begins, delays, pairs):
    flows = Flows(
        uses=uses_of(paths), size_bytes=np.array(sizes), begin_s=np.array(begins),
        delay_s=np.array(delays),
        predecessor=np.unique(np.array(pairs, np.int64).reshape(-1, 2), axis=0),
    )  # fmt: skip
    return complete(np.array(capacity, float), flows).end_s


@settings(max_examples=200, deadline=None)
@given(problem=problems())
def test_rates_are_those_of_the_naive_twin(problem):
    assert rates_of(*problem) == pytest.approx(naive_rates(*problem), rel=1e-9)


@settings(max_examples=200, deadline=None)
@given(schedule=schedules())
def test_ends_are_those_of_the_naive_twin(schedule):
    assert ends_of(**schedule) == pytest.approx(naive_ends(**schedule), rel=1e-6, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(problem=problems())
def test_rates_fit_the_links_and_every_flow_has_one_that_is_full(problem):
    """What defines max-min: nobody on a flow's full link is faster than that flow."""
    capacity, paths = problem
    rates = rates_of(*problem)
    loads = np.zeros(len(capacity))
    fastest = np.zeros(len(capacity))
    for path, rate in zip(paths, rates, strict=True):
        for link, weight in path.items():
            loads[link] += weight * rate
            fastest[link] = max(fastest[link], rate)
    assert (loads <= np.array(capacity) * (1 + 1e-9)).all()
    full = loads >= np.array(capacity) * (1 - 1e-9)
    for path, rate in zip(paths, rates, strict=True):
        assert not path or any(
            full[link] and fastest[link] <= rate * (1 + 1e-9) for link in path
        )


@settings(max_examples=100, deadline=None)
@given(schedule=schedules(), order=st.randoms(use_true_random=False))
def test_numbers_of_links_change_nothing(schedule, order):
    capacity, paths = schedule["capacity"], schedule["paths"]
    moved = list(range(len(capacity)))
    order.shuffle(moved)
    renumbered = [{moved[link]: weight for link, weight in path.items()} for path in paths]
    other = [capacity[moved.index(link)] for link in range(len(capacity))]
    again = ends_of(**schedule | {"capacity": other, "paths": renumbered})
    assert again == pytest.approx(ends_of(**schedule), rel=1e-6)


@settings(max_examples=100, deadline=None)
@given(schedule=schedules())
def test_two_problems_side_by_side_end_as_one(schedule):
    links, paths = len(schedule["capacity"]), schedule["paths"]
    twice = {name: values + values for name, values in schedule.items()}
    twice["paths"] = paths + [{link + links: w for link, w in one.items()} for one in paths]
    twice["pairs"] = [
        (a + shift, b + shift) for shift in (0, len(paths)) for a, b in schedule["pairs"]
    ]
    both = ends_of(**twice)
    alone = ends_of(**schedule)
    assert both == pytest.approx([*alone, *alone], rel=1e-6)


@settings(max_examples=100, deadline=None)
@given(problem=problems(), data=st.data())
def test_a_faster_link_never_lowers_the_slowest_rate(problem, data):
    """Max-min raises the smallest rate as far as it goes: more capacity cannot lower it."""
    capacity, paths = problem
    link = data.draw(st.integers(0, len(capacity) - 1))
    faster = [rate * (2 if at == link else 1) for at, rate in enumerate(capacity)]
    assert min(rates_of(faster, paths)) >= min(rates_of(capacity, paths)) * (1 - 1e-9)


def test_rates_found_from_event_to_event_are_those_of_a_fresh_solution():
    """Stopped when half of the flows have ended, the others have the rates of a new fill."""
    rng = np.random.default_rng(3)
    capacity = np.full(60, RATE)
    paths = plain(*(rng.choice(60, 4, replace=False).tolist() for _ in range(300)))
    flows = Flows(uses=uses_of(paths), size_bytes=rng.uniform(10, 100, 300))
    middle = float(np.median(complete(capacity, flows).end_s))
    state = make_state(capacity, flows)
    run(state, middle, FOREVER_EVENTS)
    left = np.flatnonzero(state.flows.end_s < 0)
    assert len(left) == 150
    fresh = rates_of(capacity, [paths[flow] for flow in left])
    assert state.flows.rate[left] == pytest.approx(fresh, rel=1e-6)

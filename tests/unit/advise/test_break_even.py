"""BreakEven points, on costs whose crossing is known."""

from dataclasses import replace

import pytest

from weft import units
from weft.advise.break_even import break_even, crossing
from weft.advise.case import resized
from weft.advise.inputs import INPUTS


def changed(case, name):
    return break_even(case, name, INPUTS[name])


def step_s(kind):
    return 8 + {"roce": 1 / 0.95, "infiniband": 1.0, "ultra_ethernet": 1 / 0.94}[kind]


def test_the_crossing_of_two_lines_is_found_from_either_side():
    """x = 10 - x at 5."""

    def costs(x):
        return {"a": x, "b": 10 - x}

    up = crossing(costs, 1, 9, logarithmic=False, steps=40)
    down = crossing(costs, 9, 1, logarithmic=False, steps=40)
    assert up.at == pytest.approx(5) == down.at
    assert (up.winner, down.winner) == ("b", "a")


def test_a_logarithmic_search_finds_the_same_crossing():
    found = crossing(lambda x: {"a": x, "b": 100.0}, 1, 1e4, logarithmic=True, steps=40)
    assert found.at == pytest.approx(100)


def test_no_crossing_where_the_winner_wins_at_both_ends():
    assert crossing(lambda _: {"a": 1.0, "b": 2.0}, 0, 1, logarithmic=False, steps=9) is None


def test_the_price_of_the_network_breaks_even_where_the_costs_of_a_token_meet(case):
    """(9 + m) x step(roce) = 10.1 x step(ultra ethernet), in millions of dollars."""
    found = changed(case, "network_price")
    expected = 10.1 * step_s("ultra_ethernet") / step_s("roce") - 9
    assert found.above.at == pytest.approx(expected, rel=1e-4)
    assert found.above.winner == "ultra_ethernet"
    assert found.below is None


def test_dearer_gpus_favour_the_faster_fabric(case):
    """(10 + x) step(roce) = (10.3 + x) step(infiniband), x = 41 added: beyond the range."""
    assert changed(case, "gpu_hour_price").above is None
    one, (a, b) = INPUTS["gpu_hour_price"], (step_s("roce"), step_s("infiniband"))
    now = one.current(case)

    def costs(usd):
        return {n: one.usd_per_1t_tokens(case, n, usd) for n in ("roce_tuned", "infiniband")}

    found = crossing(costs, now, 10 * now, logarithmic=True, steps=30)
    extra = (10.3 * b - 10.0 * a) / (a - b)
    assert found.winner == "infiniband"
    assert found.at == pytest.approx(now * (1 + extra / 10.0), rel=1e-3)


def test_a_large_team_of_its_own_changes_to_the_next(case):
    found = changed(case, "staff_cost")
    salary, years = 250_000, 4.0
    spare_usd = 10.1e6 * step_s("ultra_ethernet") / step_s("roce") - 10.0e6
    at = spare_usd / (salary * years)
    if at > found.high:
        assert found.above is None
    else:
        assert found.above.at == pytest.approx(at, rel=1e-2)


def test_running_untuned_part_of_the_time_changes_the_verdict(case):
    found = changed(case, "tuning_skill")
    untuned = 8 + 1 / (0.95 * 0.7 * 0.9)
    tuned = step_s("roce")
    ratio = 10.0 / (10.1 * step_s("ultra_ethernet"))  # progress that costs as much a token
    expected = (1 / tuned - ratio) / (1 / tuned - 1 / untuned)
    assert found.above.at == pytest.approx(expected, rel=1e-3)


def test_only_rates_that_are_sold_are_asked(case):
    found = changed(case, "nic_rate")
    assert found.current == pytest.approx(400)
    assert {found.low, found.high} == {100.0, 800.0}
    kept = [p.cluster.host.nic_bytes_per_s for p in case.oracle.asked.values()]
    assert {units.gbit_from_rate(rate) for rate in kept} == {100, 200, 400, 800}


def test_less_communication_favours_the_cheaper_network(case):
    """Many sequences a step: only price counts, and roce stays the cheapest of the rivals."""
    found = changed(case, "communication_share")
    assert found.above is None
    assert found.below is None or found.below.winner == "infiniband"


def test_more_gpus_of_the_same_kind_change_nothing_here(case):
    """The fake's cost and step grow in proportion: no size changes it, and the text says so."""
    found = changed(case, "gpus")
    assert not found.changes
    assert "no change in" in found.text


def test_an_input_without_meaning_is_left_out(case):
    """Whoever rents pays for no electricity and no switches."""
    case.best.prediction.cost.rented = True
    assert not INPUTS["electricity_price"].applies(case)
    assert not INPUTS["network_price"].applies(case)


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_at_its_current_value_gives_the_cost_of_today(case, name):
    one = INPUTS[name]
    for row in (case.best, *case.rivals):
        cost = one.usd_per_1t_tokens(case, row.name, one.current(case))
        assert cost == pytest.approx(row.usd_per_1t_tokens), row.name


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_moves_the_cost_of_a_token_somewhere(case, name, held):
    """On 2,048 GPUs, where traffic leaves the leaves."""
    case = held(case.cluster.with_(hosts=256), resized(case.jobs[0].job, 2048, 256))
    one = INPUTS[name]
    low, high = one.span(case)
    names = [row.name for row in (case.best, *case.rivals)]
    costs = [[one.usd_per_1t_tokens(case, n, x) for n in names] for x in (low, high)]
    if name not in {"gpus", "latency", "model", "topology"}:  # the fake knows none of them
        assert costs[0] != costs[1]


def test_with_a_margin_the_rival_must_be_clearly_cheaper(case):
    """(9 + m) x step(roce) = 1.02 x 10.1 x step(ultra ethernet)."""
    margins = {"ultra_ethernet": 0.02, "infiniband": 1.0}
    found = break_even(case, "network_price", INPUTS["network_price"], margins)
    expected = 1.02 * 10.1 * step_s("ultra_ethernet") / step_s("roce") - 9
    assert found.above.at == pytest.approx(expected, rel=1e-4)


def test_the_verdict_that_is_asked_about_is_the_one_advised(case):
    """InfiniBand is advised though roce is cheaper: a margin keeps it until it grows dearer."""
    advised = replace(case, advised="infiniband")
    margins = {row.name: 0.05 for row in advised.rivals}
    found = break_even(advised, "network_price", INPUTS["network_price"], margins)
    expected = 1.05 * 10.0 * step_s("roce") / 9.0 - 9
    assert found.above.at * 1.3 == pytest.approx(expected, rel=1e-4)
    assert found.above.winner == "roce_tuned"

"""Advice by the real model on clusters of the examples: what an architect would check."""

from itertools import pairwise
from pathlib import Path

import pytest

from weft.advise.compare import compare
from weft.advise.need import Target, need
from weft.spec.load import load_case

EXAMPLES = Path(__file__).parents[3] / "examples"
LLAMA = "llama3-405b-16k-h100-roce.yaml"
FINE_TUNE = "llama70b-finetune-64gpu-100g-tcp.yaml"


@pytest.fixture(scope="module")
def case_of():
    return lambda name: load_case([EXAMPLES / name])


@pytest.fixture(scope="module")
def llama(case_of):
    """Llama 3 405B on 16,384 H100."""
    return compare(*case_of(LLAMA))


@pytest.fixture(scope="module")
def fine_tune(case_of):
    return compare(*case_of(FINE_TUNE))


def lines(comparison):
    return {line.name: line for line in comparison.lines}


def test_six_fabrics_are_compared(llama):
    assert llama.cluster.gpus == 16384
    assert len(llama.lines) == 6


def test_at_scale_tuned_roce_is_within_five_per_cent_of_infiniband(llama):
    """Tolly measures both within 5 % on large all-reduce; communication is part of a step."""
    table = lines(llama)
    infiniband, roce = table["infiniband"].step_s.value, table["roce_tuned"].step_s.value
    assert roce == pytest.approx(infiniband, rel=0.05)


def test_untuned_is_never_faster_than_tuned(llama, fine_tune):
    for comparison in (llama, fine_tune):
        table = lines(comparison)
        assert table["roce_default"].step_s.value >= table["roce_tuned"].step_s.value


def test_tcp_is_no_choice_at_scale(llama):
    table = lines(llama)
    assert table["tcp"].step_s.value > 1.5 * table["infiniband"].step_s.value
    assert llama.recommendation.fabric != "tcp"


def test_nobody_is_advised_to_leave_roce_untuned(llama, fine_tune):
    for comparison in (llama, fine_tune):
        assert comparison.recommendation.fabric != "roce_default"
        assert "roce_default" not in comparison.recommendation.tied_with


def test_a_network_at_twice_the_price_never_stays_the_cheapest_by_chance(llama):
    """Its break-even point lies between one and the multiple that eats its lead."""
    price = next(one for one in llama.break_evens if one.input == "network_price")
    assert price.below is None
    assert price.above is None or price.above.at > 1


def test_a_fine_tune_over_100g_tcp_needs_more_network(case_of):
    found = need(*case_of(FINE_TUNE), Target(metric="mfu_of_max", value=0.95))
    bandwidth = found.requirements[0]
    assert not found.reached
    assert bandwidth.have == pytest.approx(12.5)
    assert bandwidth.need is None or bandwidth.need > 12.5


def test_more_bandwidth_never_lowers_the_speed(case_of):
    for name in (LLAMA, FINE_TUNE):
        speeds = [point.tokens_per_s for point in need(*case_of(name)).curve]
        assert all(b >= a * (1 - 1e-9) for a, b in pairwise(speeds))

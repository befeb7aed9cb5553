"""What is weighed beside the cost of a token, on the fake."""

from dataclasses import replace

import pytest

from weft.advise.consideration import CONSIDERATIONS


def weigh(case, name):
    return CONSIDERATIONS[name].weigh(case)


def favoured(case, name):
    return set(weigh(case, name).favours)


def test_speed_counts_from_one_per_cent_on(case):
    """InfiniBand leads the other family by 0.5 %: too little. TCP leaves RDMA far behind."""
    assert favoured(case, "performance") == set()
    two = replace(case, names=("infiniband", "tcp"))
    assert favoured(two, "performance") == {"infiniband"}


def test_what_was_never_measured_is_not_favoured(case):
    assert favoured(case, "evidence") == {"infiniband", "roce_tuned", "tcp"}


def test_the_fewest_settings_are_the_simplest_to_run(case):
    assert favoured(case, "operations") == {"infiniband", "tcp"}


def test_more_vendors_sell_ethernet_than_infiniband(case):
    assert "infiniband" not in favoured(case, "vendor_breadth")
    assert "roce_tuned" in favoured(case, "vendor_breadth")


def test_a_fabric_that_must_be_tuned_counts_what_it_costs_untuned(case):
    """Untuned RoCE: 9.671 x 10.0 against InfiniBand's 9.0 x 10.3, 4 % more."""
    opinion = weigh(case, "mis_tuning")
    assert opinion.favours == ("infiniband",)
    assert opinion.numbers[1].value == pytest.approx(9.6708 * 10.0 / 92.7 - 1, abs=1e-3)

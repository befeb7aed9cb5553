"""What is weighed beside the cost of a token, on the fake."""

from dataclasses import replace

import pytest

from weft import plugins
from weft.advise import considerations
from weft.advise.case import Case
from weft.advise.consideration import Consideration


def weigh(case, name):
    return plugins.load(considerations, name, Consideration).weigh(case)


def favoured(case, name):
    return set(weigh(case, name).favours)


def test_speed_counts_from_one_per_cent_on(case):
    """InfiniBand leads the other family by 0.5 %: too little. TCP leaves RDMA far behind."""
    assert favoured(case, "performance") == set()
    two = replace(case, names=("infiniband", "tcp"))
    assert favoured(two, "performance") == {"infiniband"}


def test_the_least_network_cost_is_named_with_what_a_per_cent_of_speed_is_worth(case):
    opinion = weigh(case, "cost")
    assert opinion.favours == ("tcp",)
    assert "one per cent of speed is worth $100,000" in opinion.reason


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


def test_ethernet_already_owned_closes_a_gap_that_is_said(case):
    """Tuned RoCE is the cheaper one when all is bought, so nothing has to be there."""
    cheaper = weigh(case, "existing_ethernet")
    assert cheaper.numbers[0].value < 0
    assert "widens" in cheaper.reason


def test_a_dearer_ethernet_says_how_much_of_it_must_be_there(case):
    def dear(cluster, job):
        known = case.oracle.ask(cluster, job)
        if cluster.fabric.kind == "roce":
            hourly = known.cost.usd_per_gpu_hour
            known.cost.usd_per_gpu_hour = hourly.map(lambda usd: 1.05 * usd)
        return known

    names = ("infiniband", "roce_tuned")
    found = weigh(
        Case(case.cluster, case.job, 4.0, names, case.oracle.of(dear)), "existing_ethernet"
    )
    # 10.5 M dollars x 9.0526 s against 10.3 x 9.0: 0.26 M too much
    assert found.numbers[0].value == pytest.approx(10.5e6 - 92.7e6 / (8 + 1 / 0.95), rel=1e-3)
    assert "already there" in found.reason


def test_growth_names_who_is_cheapest_at_four_times_the_size(case):
    opinion = weigh(case, "growth")
    assert "1,024 GPUs" in opinion.reason
    assert all(number.value == pytest.approx(0) for number in opinion.numbers)

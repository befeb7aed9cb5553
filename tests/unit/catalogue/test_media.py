"""Media follow rate, length and generation."""

import pytest

from weft.catalogue.fitting import link_usd, medium
from weft.errors import Infeasible
from weft.units import rate_from_gbit


@pytest.mark.parametrize(
    ("gbit", "length_m", "fabric", "name"),
    [
        (400, 2, "roce", "dac_400g"),
        (400, 2.5, "roce", "aoc_400g"),
        (400, 40, "infiniband", "sr4_400g"),
        (400, 60, "infiniband", "dr4_400g"),
        (800, 2, "roce", "dac_800g"),
        (800, 2, "infiniband", "acc_800g_xdr"),
        (800, 20, "infiniband", "dr4_800g_xdr"),
        (200, 30, "infiniband", "aoc_200g"),
        (50, 2, "tcp", "dac_100g"),
        (400, 30, "efa", "aoc_400g"),
    ],
)
def test_the_cheapest_medium_that_reaches_is_taken(gbit, length_m, fabric, name):
    assert medium(rate_from_gbit(gbit), length_m, fabric).name == name


def test_what_no_medium_reaches_is_refused_with_the_longest_reach():
    with pytest.raises(Infeasible, match="the longest reaches 2000 m"):
        medium(rate_from_gbit(400) / 2, 5000, "infiniband")


def test_a_link_of_transceivers_costs_both_ends_and_the_fibre():
    cable = medium(rate_from_gbit(400), 60, "infiniband")
    assert link_usd(cable) == 2 * 600 + 105

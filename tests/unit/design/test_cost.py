"""Total cost: parts add up, every price moves it, a rented cluster pays by the hour."""

import pytest

from weft.design.cost import total_cost
from weft.errors import UnknownName
from weft.spec.load import preset


def test_parts_add_up_to_the_total_and_the_network_is_inside_it(h100):
    cost = total_cost(h100())
    assert sum(part.value for part in cost.parts.values()) == pytest.approx(
        cost.total_usd.value
    )
    assert 0 < cost.network_hardware_usd.value < cost.network_usd.value < cost.total_usd.value
    hours = 4 * 8760 * 1024
    assert cost.usd_per_gpu_hour.value == pytest.approx(cost.total_usd.value / hours)


def test_energy_is_power_times_hours_times_price(h100):
    """(servers * load + network) * PUE, in kWh, at 0.083 USD."""
    cost = total_cost(h100())
    lines = cost.lines
    watt = {True: 0.0, False: 0.0}
    for line in lines:
        watt[line.part == "servers"] += line.count * line.unit_power_w.value
    power_w = (watt[True] * 0.75 + watt[False]) * 1.25
    assert cost.power_w.value == pytest.approx(power_w)
    assert cost.it_power_w.value == pytest.approx(sum(watt.values()))
    assert cost.energy_usd_per_year.value == pytest.approx(power_w / 1000 * 8760 * 0.083)


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("server_usd", 100_000.0, "servers"), ("switch_usd", 1.0, "switches"),
        ("nic_usd", 5000.0, "nics"), ("optic_usd", 5000.0, "optics"),
        ("electricity_usd_per_kwh", 0.2, "energy"), ("pue", 1.5, "energy"),
        ("engineer_usd_per_year", 1e6, "staff"), ("fabric_engineers", 7.0, "staff"),
        ("support_ratio_per_year", 0.3, "support"), ("years", 3.0, "energy"),
    ],
)  # fmt: skip
def test_every_price_of_the_spec_moves_its_part(h100, key, value, part):
    before = total_cost(h100()).parts[part].value
    after = total_cost(h100(prices={key: value})).parts[part].value
    assert after != pytest.approx(before)


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("server_load", 1.0, "energy"), ("colocation", 300.0, "colocation"),
        ("transceiver_failures", 0.1, "spares"), ("fabric_engineers", 3.0, "staff"),
        ("support_network", 0.5, "support"),
    ],
)  # fmt: skip
def test_every_assumption_can_be_overridden(h100, name, value, part):
    before = total_cost(h100()).parts[part].value
    assert total_cost(h100(), {name: value}).parts[part].value > before


def test_an_unknown_assumption_is_refused_with_those_there_are(h100):
    with pytest.raises(UnknownName, match=r"it rests on: .*colocation.*server_load"):
        total_cost(h100(), {"coffee": 1.0})


def test_the_whole_band_is_as_wide_as_a_price_that_was_not_stated(h100):
    free, fixed = total_cost(h100()), total_cost(h100(prices={"server_usd": 300_000.0}))
    assert fixed.total_usd.high - fixed.total_usd.low < free.total_usd.high - free.total_usd.low
    assert free.total_usd.low < free.total_usd.value < free.total_usd.high


def test_hardware_older_than_its_life_is_bought_again(h100):
    four, eight = (
        total_cost(h100(prices={"years": y})).parts["servers"].value for y in (4.0, 8.0)
    )
    assert eight == pytest.approx(2 * four)
    assert total_cost(h100(prices={"years": 2.0})).parts["servers"].value == pytest.approx(four)


def test_fabrics_differ_by_catalogue_prices_and_by_effort(h100):
    ib, roce = total_cost(h100()), total_cost(h100(fabric="roce"))
    assert ib.parts["switches"].value == 48 * 38000
    assert roce.parts["switches"].value == 24 * 68000
    assert roce.parts["staff"].value > ib.parts["staff"].value
    assert roce.parts["servers"].value == ib.parts["servers"].value


def test_a_fabric_left_at_its_defaults_takes_less_effort_with_a_wide_range(h100):
    tuned = h100(fabric="roce")
    untuned = tuned.with_(fabric=tuned.fabric.with_(tuning="default"))
    mine, theirs = (total_cost(c).parts["staff"] for c in (tuned, untuned))
    assert theirs.value == pytest.approx(0.75 * mine.value)
    assert (theirs.high - theirs.low) / theirs.value > (mine.high - mine.low) / mine.value


def test_a_cloud_server_is_paid_by_the_hour(h100):
    cost = total_cost(h100(16, server="aws_p5", fabric="efa", nic="efa_v2"))
    assert cost.rented
    assert not cost.lines
    assert cost.usd_per_gpu_hour.value == pytest.approx(4.9)
    assert cost.total_usd.value == pytest.approx(128 * 4 * 8760 * 4.9)
    assert "Amazon Web Services asks 4.9 USD" in cost.warnings[1]
    assert cost.network_usd.value == pytest.approx(0.13 * cost.total_usd.value)
    assert cost.power_w.value > 0


def test_a_rental_price_in_the_spec_makes_any_cluster_rented(h100):
    cost = total_cost(h100(prices={"gpu_rental_usd_per_h": 2.0}))
    assert cost.rented
    assert cost.usd_per_gpu_hour.value == cost.usd_per_gpu_hour.high == 2.0
    assert total_cost(h100()).rented_usd_per_gpu_hour.value == 2.95


def test_a_network_out_of_proportion_is_warned_of(h100):
    assert not total_cost(h100()).warnings
    (warning,) = total_cost(h100(prices={"switch_usd": 500_000.0})).warnings
    assert "published clusters it is 8 to 25 %" in warning


def test_estimates_are_named_as_assumptions(h100):
    assert any(a.startswith("price of connectx7:") for a in total_cost(h100()).assumptions)
    assert total_cost(h100()).ledger.sources["superpod_h100"].url


def test_a_site_that_gives_too_little_power_is_said(h100):
    cluster = h100()
    needed_w = total_cost(cluster).power_w.value
    enough = total_cost(cluster.with_(site_power_limit_w=needed_w * 1.01)).warnings
    short = total_cost(cluster.with_(site_power_limit_w=needed_w * 0.99)).warnings
    assert not any("site_power_limit_w" in warning for warning in enough)
    assert any("site_power_limit_w" in warning for warning in short)


def test_a_provider_without_a_price_pays_that_of_the_market_with_a_wider_range():
    azure, known = total_cost(preset("azure_nd_h100_v5")), total_cost(preset("gcp_a3_mega"))
    assert azure.usd_per_gpu_hour.value == pytest.approx(2.95)
    assert azure.usd_per_gpu_hour.high == pytest.approx(11.06)
    assert "no price of Microsoft Azure" in azure.warnings[1]
    assert known.usd_per_gpu_hour.value == pytest.approx(11.06)

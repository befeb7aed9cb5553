"""Published cost comparisons, rebuilt with their own inputs or with default prices."""

import tomllib
from pathlib import Path

import pytest

from weft.design.bom import bill
from weft.design.cost import total_cost
from weft.errors import Infeasible
from weft.network.network import layout

pytestmark = pytest.mark.published

SHEET = tomllib.loads((Path(__file__).parent / "freakonomics.toml").read_text())


def gpus_of(row):
    return f"{row['gpus']} GPUs"


@pytest.mark.parametrize("row", SHEET["row"], ids=gpus_of)
def test_rows_of_the_sheet_are_rebuilt(h100, row):
    """Purchase = nodes (node + facility) + switches + cables, within 0.1 % [freakonomics]."""
    prices, tiers = SHEET["prices"], row["tiers"]
    cluster = h100(
        row["gpus"] // 8,
        kind=row["topology"],
        prices={
            "server_usd": float(prices["node_usd"] + prices["facility_per_node_usd"]),
            "switch_usd": float(prices["switch_usd"]),
            "optic_usd": prices["cables_per_gpu_usd"][str(tiers)] / tiers,
        },
    )
    assert bill(cluster).count("switches") == row["switches"]
    assert total_cost(cluster).hardware_usd.value == pytest.approx(row["total_usd"], rel=1e-3)


@pytest.mark.parametrize("row", SHEET["impossible"], ids=gpus_of)
def test_rows_with_too_few_switches_are_flagged(h100, row):
    """Two tiers of radix 64 end at 2048 ports, and three tiers need 5 N / 64 switches."""
    hosts = row["gpus"] // 8
    with pytest.raises(Infeasible):
        layout(h100(hosts, kind="leaf_spine"))
    assert layout(h100(hosts)).switches == 5 * row["gpus"] / 64 > row["switches"]


@pytest.mark.parametrize("hosts", [32, 64, 128, 256, 512, 1024, 2048])
@pytest.mark.parametrize("fabric", ["infiniband", "roce", "ultra_ethernet"])
def test_the_network_of_a_superpod_is_a_usual_share_of_its_cost(h100, hosts, fabric):
    """0.08 to 0.25 of the hardware, with default prices [Epoch, Bernstein, amcompute]."""
    nic = "pollara" if fabric == "ultra_ethernet" else "connectx7"
    cost = total_cost(h100(hosts, fabric, nic=nic))
    assert 0.08 <= cost.network_share_ratio.value <= 0.25
    assert not [w for w in cost.warnings if "hardware cost" in w]


def test_a_hundred_thousand_h100_draw_150_mw_and_124_million_a_year(h100):
    """150 MW of IT power +- 10 %; 1.59 TWh a year at the meter, 1.21 times that; 0.078 USD/kWh.

    [SemiAnalysis 2024]; its servers are counted at their rated power.
    """
    stated = {"pue": 1.21, "electricity_usd_per_kwh": 0.078}
    cost = total_cost(h100(12500, "roce", storage="roce", prices=stated), {"server_load": 1.0})
    assert cost.it_power_w.value == pytest.approx(150e6, rel=0.10)
    assert cost.power_w.value / 1e12 * 8760 == pytest.approx(1.59, rel=0.10)
    assert cost.energy_usd_per_year.value == pytest.approx(124e6, rel=0.10)


@pytest.mark.parametrize(("tiers", "hosts"), [(2, 128), (3, 4096)])
def test_links_cost_what_the_sheet_says_with_default_prices(h100, tiers, hosts):
    """Cables and both their ends: 2560 and 3800 USD a GPU, within the band of our prices."""
    materials = bill(h100(hosts, cable_m=60))
    optics = [line for line in materials.lines if line.part == "optics"]
    assert len(optics) == tiers
    sheet = SHEET["prices"]["cables_per_gpu_usd"][str(tiers)]
    low, high = (
        sum(line.count * getattr(line.unit_usd, end) for line in optics) / (hosts * 8)
        for end in ("low", "high")
    )
    assert low <= sheet <= high

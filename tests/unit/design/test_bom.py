"""A bill counts what the layout has and takes every stated price."""

import pytest

from weft import catalogue
from weft.design.bom import bill
from weft.network.network import layout
from weft.spec.load import preset


def by_place(materials, net="compute"):
    return {(line.part, line.place): line for line in materials.lines if line.net == net}


def test_counts_are_those_of_the_layout(h100):
    cluster = h100(512)
    network, lines = layout(cluster), by_place(bill(cluster))
    assert lines["switches", "leaf"].count == network.leaf == 128
    assert lines["switches", "spine"].count == network.spine
    assert lines["switches", "core"].count == network.core
    assert lines["optics", "host_leaf"].count == 4096
    assert lines["nics", "host"].count == 4096
    assert lines["servers", "host"].count == 512


def test_server_and_nics_together_cost_what_the_server_costs(h100):
    lines = by_place(bill(h100()))
    server, nic = lines["servers", "host"], lines["nics", "host"]
    price = catalogue.find("servers", "dgx_h100").price_usd.value
    assert server.unit_usd.value + 8 * nic.unit_usd.value == pytest.approx(price)
    power = catalogue.find("servers", "dgx_h100").power_max_w.value
    assert server.unit_power_w.value + 8 * nic.unit_power_w.value == pytest.approx(power)


def test_another_nic_changes_the_bill_by_the_difference(h100):
    def cost(**changes):
        return sum(
            line.count * line.unit_usd.value
            for line in bill(h100(**changes)).lines
            if line.part in {"servers", "nics"}
        )

    seven, three = (
        catalogue.find("nics", n).price_usd.value for n in ("connectx7", "bluefield3")
    )
    assert cost(nic="bluefield3") - cost() == pytest.approx(1024 * (three - seven))


@pytest.mark.parametrize(
    ("key", "part"), [("switch_usd", "switches"), ("nic_usd", "nics"), ("optic_usd", "optics")]
)
def test_a_stated_price_is_taken_without_a_band(h100, key, part):
    for line in bill(h100(prices={key: 1234.0})).lines:
        if line.part == part:
            assert line.unit_usd.value == line.unit_usd.low == line.unit_usd.high == 1234


def test_a_hybrid_has_a_storage_network_of_its_own(h100):
    lines = by_place(bill(h100(storage="roce")), "storage")
    assert lines["switches", "leaf"].item == "sn4700"
    assert lines["optics", "host_leaf"].count == 2 * 128
    assert not any(line.net == "storage" for line in bill(h100()).lines)


def test_a_server_that_is_not_in_the_catalogue_costs_as_its_gpus(h100):
    materials = bill(h100(server=""))
    line = by_place(materials)["servers", "host"]
    assert line.item == "estimate for 8 x h100_sxm"
    assert line.unit_usd.value == pytest.approx(8 * 30000 * 1.2)
    assert line.unit_power_w.value == pytest.approx(8 * 700 * 1.82 - 8 * 25)
    assert any(name.startswith("server:") for name in materials.ledger.weak())


def test_a_nic_without_a_price_counts_as_part_of_the_server(h100):
    materials = bill(h100(nic="efa_v4", fabric="efa"))
    assert by_place(materials)["nics", "host"].unit_usd.value == 0
    assert materials.notes == (
        "efa_v4 has no price of its own: it counts as part of the server",
    )


def test_rails_that_leave_their_leaves_empty_are_said():
    """16 hosts fill half of every rail's leaf: shared leaves need half the switches."""
    assert any("leaf_spine" in note for note in bill(preset("dgx_h100", hosts=16)).notes)
    assert not any("leaf_spine" in note for note in bill(preset("dgx_h100", hosts=32)).notes)

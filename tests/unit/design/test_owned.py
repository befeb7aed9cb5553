"""Hardware that is already there is not bought; it still draws power and has support."""

import pytest

from weft import catalogue
from weft.advise.best import networks
from weft.advise.candidate import find
from weft.design.cost import life_rounds, total_cost
from weft.spec.load import load_cluster

HOSTS = 16


def _cluster(**owned):
    fields = {"preset": "dgx_h100", "hosts": HOSTS, "constraints": {"owned": owned}}
    return load_cluster(fields)


def _count(cluster, part):
    return sum(line.count for line in total_cost(cluster).lines if line.part == part)


def test_owned_switches_are_taken_off_the_purchase_alone():
    plain, owned = total_cost(_cluster()), total_cost(_cluster(switches={"qm9700": 4}))
    price = catalogue.find("switches", "qm9700").price_usd.value
    saved = 4 * price * life_rounds("switches", plain.years)
    assert plain.total_usd.value - owned.total_usd.value == pytest.approx(saved)
    assert plain.network_usd.value - owned.network_usd.value == pytest.approx(saved)
    assert owned.parts["support"].value == pytest.approx(plain.parts["support"].value)
    assert owned.power_w.value == plain.power_w.value


def test_no_more_is_saved_than_is_needed():
    few = _count(_cluster(), "switches")
    exact = total_cost(_cluster(switches={"qm9700": few}))
    many = total_cost(_cluster(switches={"qm9700": 1000}))
    assert many.total_usd.value == pytest.approx(exact.total_usd.value)
    assert many.parts["switches"].value == pytest.approx(0.0)


def test_hardware_of_another_model_saves_nothing():
    assert (
        total_cost(_cluster(switches={"sn5600": 4})).total_usd
        == total_cost(_cluster()).total_usd
    )


@pytest.mark.parametrize("owned", [{}, {"switches": {"qm9700": 3}, "nics": {"connectx7": 40}}])
def test_the_search_pays_what_the_whole_cost_says(owned):
    for built, usd in networks(find("infiniband"), _cluster(**owned))[:12]:
        assert usd == pytest.approx(total_cost(built).usd_per_gpu_hour.value, rel=1e-6)

"""What holds for the cost of every cluster."""

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.design.cost import total_cost
from weft.spec.load import preset

OWNED = st.sampled_from(["dgx_a100", "dgx_h100", "dgx_b200", "gb200_nvl72", "mi300x_roce"])
PRICES = st.fixed_dictionaries({
    "switch_usd": st.floats(1e3, 2e5),
    "optic_usd": st.floats(10, 5e3),
    "electricity_usd_per_kwh": st.floats(0.01, 0.5),
})  # fmt: skip


def priced(name, hosts, **prices):
    cluster = preset(name)
    return total_cost(cluster.with_(hosts=hosts, prices=cluster.prices.with_(**prices)))


@settings(deadline=None, max_examples=40)
@given(name=OWNED, hosts=st.integers(1, 512), prices=PRICES)
def test_bands_hold_their_value_and_parts_add_up(name, hosts, prices):
    cost = priced(name, hosts, **prices)
    for estimate in (*cost.parts.values(), cost.total_usd, cost.network_usd, cost.power_w):
        assert 0 <= estimate.low <= estimate.value <= estimate.high
    parts_usd = sum(part.value for part in cost.parts.values())
    assert abs(parts_usd - cost.total_usd.value) <= 1e-9 * parts_usd


@settings(deadline=None, max_examples=40)
@given(name=OWNED, hosts=st.integers(2, 400), more=st.integers(1, 100))
def test_more_hosts_cost_more_and_draw_more(name, hosts, more):
    small, large = priced(name, hosts), priced(name, hosts + more)
    assert large.total_usd.value > small.total_usd.value
    assert large.power_w.value > small.power_w.value


@settings(deadline=None, max_examples=40)
@given(name=OWNED, hosts=st.integers(2, 400), times=st.floats(1.01, 5))
def test_dearer_switches_never_make_a_cluster_cheaper(name, hosts, times):
    cheap = priced(name, hosts, switch_usd=30_000.0)
    dear = priced(name, hosts, switch_usd=30_000.0 * times)
    assert dear.network_usd.value > cheap.network_usd.value
    assert dear.parts["servers"].value == cheap.parts["servers"].value

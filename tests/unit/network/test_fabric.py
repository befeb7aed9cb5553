import pytest

from weft.errors import UnknownName
from weft.network import fabric

FABRICS = [fabric.find(name) for name in fabric.names()]


@pytest.mark.parametrize("found", FABRICS, ids=lambda f: f.name)
def test_every_number_of_a_fabric_names_a_source_that_the_fabric_describes(found):
    numbers = [
        found.header_bytes, found.end_to_end_s, found.switch_hop_s, found.step_overhead_s,
        *filter(None, map(found.published, found.load_balancing)), *found.tuning.values(),
    ]  # fmt: skip
    for number in numbers:
        assert number.sources
        assert set(number.sources) <= set(found.sources)
        assert number.low <= number.value <= number.high


@pytest.mark.parametrize("found", FABRICS, ids=lambda f: f.name)
def test_a_tuned_fabric_keeps_more_than_one_left_at_defaults_or_misconfigured(found):
    tuned, default, wrong = (
        found.tuning[key].value for key in ("tuned", "default", "misconfigured")
    )
    assert 1.0 >= tuned >= default > wrong > 0


@pytest.mark.parametrize("found", FABRICS, ids=lambda f: f.name)
def test_the_default_mtu_is_one_that_the_fabric_has(found):
    assert found.default_mtu_bytes in found.mtus_bytes


def test_headers_cost_more_at_a_small_mtu():
    """Payload / wire = MTU / (MTU + 82): 1024 / 1106 on RoCE."""
    roce = fabric.find("roce")
    assert roce.payload_ratio(1024) == pytest.approx(1024 / 1106)
    assert roce.payload_ratio() == pytest.approx(4096 / 4178)


def test_payload_of_rdma_write_agrees_with_perftest():
    """ib_write_bw on 400G RoCE reads 391.5 to 392.6 Gb/s (NVIDIA/nccl issue 2409)."""
    assert 400 * fabric.find("roce").payload_ratio() == pytest.approx(392, rel=0.005)


def test_an_unknown_load_balancing_mode_lists_those_that_exist():
    with pytest.raises(UnknownName, match="ecmp, adaptive, flowlet, planned"):
        fabric.find("roce").balanced("magic")


def test_a_factor_that_only_simulation_can_give_is_called_an_assumption():
    assert "published 85% (60% to 92%)" in fabric.find("roce").assumption()

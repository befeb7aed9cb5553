"""The table of what flows leave: whole, as the page shows it, and what closed forms take."""

import importlib.util
import sys
from pathlib import Path

import pytest

from weft.network import shares
from weft.network.fabric import find, names

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def fit():
    loaded = []
    for name in ("fabric_shares", "flow_shares"):
        spec = importlib.util.spec_from_file_location(name, ROOT / "fits" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        loaded.append(name)
    yield module
    for name in loaded:
        del sys.modules[name]


def test_every_cell_is_in_the_table_and_lies_between_nothing_and_all(fit):
    cells = fit.read_cells()
    assert set(cells) == set(fit.cases())
    for found in cells.values():
        assert len(found) == len(fit.SEEDS)
        assert all(0 < share <= 1 for share in found)


def test_the_page_and_the_factors_are_those_of_the_table(fit):
    cells, told = fit.read_cells(), "run python fits/flow_shares.py --page"
    assert fit.page_text(cells) == fit.PAGE.read_text("utf-8"), told
    assert fit.factors_text(cells) == fit.FACTORS.read_text("utf-8"), told


def test_a_mode_without_a_published_share_has_one_of_an_engine():
    for name in names():
        fabric = find(name)
        for mode in fabric.load_balancing:
            if fabric.published(mode) is None:
                assert set(fabric.balanced(mode).sources) <= set(shares.ENGINES)
                assert "nothing is published" in fabric.assumption(mode)


def test_flows_of_tcp_name_their_engine():
    found = find("tcp").balanced("ecmp")
    assert found.sources == ("weft_flows",)
    assert find("tcp").source("weft_flows") is shares.FLOWS


def test_a_factor_is_the_closed_form_turned_round(fit):
    """A share of 1 - FAR keeps nothing of what leaves the leaf."""
    cells = {fit.Case(traffic="ring", balancing="ecmp"): [1 - fit.packets.FAR]}
    assert fit.factor(cells, "ecmp").value == pytest.approx(0)


def test_the_closed_form_of_oversubscription_is_what_flows_give(fit):
    """1 / (f o), within 0.02 of the median of rings and of exchanges."""
    for case, found in fit.read_cells().items():
        if case.oversubscription > 1:
            expected = fit.uplink_share(fit.packets.FAR, case.oversubscription)
            assert fit.figure(found).value == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("traffic", ["ring", "exchange", "beside_slow_nic"])
def test_a_cell_comes_out_again(fit, traffic):
    case = fit.Case(traffic=traffic, balancing="ecmp")
    assert case.share(1) == pytest.approx(fit.read_cells()[case][0], abs=1e-4)

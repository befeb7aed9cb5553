"""The table of simulated shares: whole, ordered, and as the page shows it."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from weft.engines.analytic.collective import collective_time
from weft.network import shares
from weft.network.fabric import find
from weft.spec.load import preset
from weft.traffic.collective import Group, Operation

ROOT = Path(__file__).parents[2]
TABLE = tomllib.loads((ROOT / "fits" / "fabric_shares.toml").read_text("utf-8"))["share"]


@pytest.fixture(scope="module")
def fit():
    spec = importlib.util.spec_from_file_location(
        "fabric_shares", ROOT / "fits" / "fabric_shares.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["fabric_shares"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["fabric_shares"]


def test_the_page_is_the_table(fit):
    told = "run python fits/fabric_shares.py --page"
    assert fit.page_text(TABLE) == fit.PAGE.read_text("utf-8"), told


def test_every_cell_that_the_script_simulates_is_in_the_table(fit):
    held = {(o["pattern"], o["preset"], o["balancing"], o["queue_pairs"]) for o in TABLE}
    for case in fit.cases():
        assert (case.pattern, case.preset, case.balancing, case.queue_pairs) in held


def test_every_share_is_ordered_and_rests_on_five_seeds():
    for one in TABLE:
        most = 1e4 if one["pattern"].startswith("tail") else 1.05
        assert 0 < one["low"] <= one["value"] <= one["high"] < most
        assert one["seeds"] >= 5


def test_the_factors_that_ship_are_derived_from_the_table(fit):
    cells = fit.by_cell(TABLE)
    derived = fit.factors_text(cells) + fit.effects_text(cells)
    assert derived == fit.FACTORS.read_text("utf-8"), "run python fits/fabric_shares.py --page"


def test_the_published_values_beside_the_simulated_are_those_of_the_fabric_files(fit):
    for one in fit.derived():
        fabric = find(one.fabric)
        kept = getattr(fabric, one.factor)[one.mode]
        held = shares.find(one.fabric, one.factor, one.mode).published
        if kept == "simulated":
            assert held is None
            continue
        assert (held.value, held.low, held.high) == (kept.value, kept.low, kept.high)


def test_a_factor_is_the_closed_form_turned_round(fit):
    """A share of 1 - FAR keeps nothing of what leaves; untuned at half is 1 - 0.5 / CROWD."""
    one = next(one for one in fit.derived() if one.mode == "adaptive")
    key = ("nccl_ring", one.preset, "adaptive", 1)
    assert fit.pooled(one, {key: [1.0, 1 - fit.FAR]}) == pytest.approx([1.0, 0.0])
    untuned = next(one for one in fit.derived() if one.mode == "default")
    cells = {
        ("nccl_ring", "roce_tuned", "ecmp", 1): [0.8],
        ("nccl_ring", "roce_default", "ecmp", 1): [0.4],
    }
    assert fit.pooled(untuned, cells) == pytest.approx([1 - 0.5 / fit.CROWD])


def test_the_channels_that_are_simulated_are_those_of_nccl_on_eight_h100(fit):
    group = Group(ranks=8 * fit.GROUP, ranks_per_domain=8)
    found = collective_time(
        preset("hgx_h100_roce"), Operation.ALL_REDUCE, 64 << 20, group
    ).channels
    assert found / 8 == fit.CHANNELS


@pytest.mark.parametrize(
    ("preset_name", "balancing"), [("roce_tuned", "ecmp"), ("infiniband", "adaptive")]
)
def test_a_cell_of_a_factor_that_is_used_comes_out_again(fit, preset_name, balancing):
    """The first seed of the ring, to the digits that the table holds."""
    case = fit.Case(pattern="nccl_ring", preset=preset_name, balancing=balancing)
    row = fit.by_cell(TABLE)["nccl_ring", preset_name, balancing, 1]
    assert fit.share(case, 1).whole == pytest.approx(row[0], abs=1e-3)


def test_a_cell_simulated_again_gives_what_the_table_holds(fit):
    """One cheap cell, first seed: it must lie in the range of its five seeds."""
    case = fit.Case(pattern="alltoall", preset="roce_tuned", balancing="adaptive")
    row = next(
        o for o in TABLE
        if (o["pattern"], o["preset"], o["balancing"])
        == ("alltoall", "roce_tuned", "adaptive")
    )  # fmt: skip
    assert row["low"] - 5e-3 <= fit.share(case, 1).whole <= row["high"] + 5e-3


@pytest.mark.parametrize("mode", ["default", "misconfigured"])
def test_what_untuned_settings_leave_ranges_over_what_is_published(mode):
    """Alone a job loses nothing; beside others it loses what was measured, and more."""
    held = shares.find("roce", "tuning", mode)
    assert held.simulated.low <= held.published.value <= held.simulated.high
    assert "beside_*" in held.cells


def test_rings_beside_storage_come_out_again(fit):
    """Early pauses of storage ports spread: the first seed, to the digits of the table."""
    case = fit.Case(pattern="beside_storage", preset="roce_misconfigured", balancing="adaptive")
    row = fit.by_cell(TABLE)[case.pattern, case.preset, case.balancing, 1]
    assert fit.share(case, 1).whole == pytest.approx(row[0], abs=1e-3)


def test_what_takes_longer_is_the_share_of_tuned_settings_over_the_own(fit):
    cells = {
        ("beside_storage", preset, balancing, 1): [share]
        for preset, share in (("roce_tuned", 0.6), ("roce_default", 0.3))
        for balancing in fit.BESIDE_BALANCINGS
    }
    assert fit.longer(cells, "beside_storage", "roce_default") == pytest.approx([2.0, 2.0])


def test_notifying_sooner_guards_others_and_costs_incasts_little(fit):
    """What `roce_guarded` says of itself: more beside a hot expert, incasts a tenth longer."""
    cells = fit.by_cell(TABLE)
    for balancing in fit.BESIDE_BALANCINGS:
        tuned, guarded = (
            cells["beside_hot_expert", f"roce_{name}", balancing, 1]
            for name in ("tuned", "guarded")
        )
        assert min(guarded) > 1.3 * max(tuned)
    for senders, least in ((4, 0.85), (16, 0.95), (64, 0.95)):
        assert min(cells[f"incast_{senders}", "roce_guarded", "ecmp", 1]) > least

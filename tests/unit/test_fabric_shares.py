"""The table of simulated shares: whole, ordered, and as the page shows it."""

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

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
        assert 0 < one["low"] <= one["value"] <= one["high"] < 1.05
        assert one["seeds"] >= 5


def test_a_cell_simulated_again_gives_what_the_table_holds(fit):
    """One cheap cell, first seed: it must lie in the range of its five seeds."""
    case = fit.Case(pattern="alltoall", preset="roce_tuned", balancing="adaptive")
    row = next(
        o for o in TABLE
        if (o["pattern"], o["preset"], o["balancing"])
        == ("alltoall", "roce_tuned", "adaptive")
    )  # fmt: skip
    assert row["low"] - 5e-3 <= fit.share(case, 1).whole <= row["high"] + 5e-3

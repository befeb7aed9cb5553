"""Flows and packets on the same scenarios: within a range, or the effect that parts them."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from weft.engines.packet.simulation import simulate as packets
from weft.engines.packet.static_routes import routes_of
from weft.predict.simulate import _flows_of, compile_traffic, options_of, scenario_fabric
from weft.spec.load import load_scenario

DOCS = Path(__file__).parents[2] / "docs"
PROMISED = 0.05
"""What flows promise where no effect of packets alone matters."""


def script():
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = script()
ROWS = GENERATE.flow_rows()


@pytest.mark.parametrize("name", ROWS)
def test_a_row_stays_within_its_range_and_the_page_has_it(name):
    """Made by `python docs/generate.py flows`."""
    row = ROWS[name]
    low, high = row["within"]
    packets_gave, found = GENERATE.apart(row)
    assert low <= min(found) <= max(found) <= high
    page = (DOCS / "explanation" / "flows-and-packets.md").read_text("utf-8")
    assert f"| {' | '.join(GENERATE.flow_cells(row, packets_gave, found))} |" in page


@pytest.mark.parametrize("name", ROWS)
def test_a_row_without_an_effect_is_held_to_what_flows_promise(name):
    row = ROWS[name]
    assert "effect" in row or max(map(abs, row["within"])) <= PROMISED


@pytest.mark.parametrize("name", ["permutation, ECMP", "permutation, dragonfly+, ECMP"])
def test_flows_take_the_links_that_their_packets_take(name):
    """Bytes of every link, headers counted, are the same to the byte."""
    asked = {key: ROWS[name][key] for key in ROWS[name].keys() - {"within", "effect"}}
    scenario = load_scenario(asked)
    fabric = scenario_fabric(scenario)
    schedule = compile_traffic(fabric, scenario, 1)
    found = packets(
        schedule.wiring, schedule.flows, options_of(scenario, 1),
        routes=routes_of(schedule, fabric),
    )  # fmt: skip
    ours = _flows_of(fabric, scenario, 1).outcome.links.sent_bytes
    assert np.array_equal(ours, found.links.sent_bytes)

"""The figures of the papers come out of the simulator as near as each page says."""

import pytest
from draw import HERE, NUMBERS, TABLE, load, names, published, read, reasons, table
from reproduction import ROCE_TUNED

from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import Options
from weft.spec.load import load_scenario

FIGURES = [(name, index) for name in names() for index in range(len(load(name).figures))]


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.parametrize(("name", "index"), FIGURES, ids=str)
def test_a_figure_comes_out_as_published(name, index):
    figure = load(name).figures[index]()
    assert figure.numbers
    assert all(len(curve.x) == len(curve.y) > 1 for curve in figure.curves)
    for one in figure.numbers:
        assert one.holds == (not one.outside), one


@pytest.mark.parametrize("name", names())
def test_a_paper_has_its_page_with_a_picture_for_every_figure(name):
    page = (HERE / name / "README.md").read_text()
    pictures = sorted(one.name for one in (HERE / name).glob("*.svg"))
    assert len(pictures) == len(load(name).figures)
    assert all(f"({one})" in page for one in pictures)
    assert "**missed**:  |" not in page, "what is missed says why"


def test_every_published_row_is_simulated_or_says_why_not():
    numbers = read(NUMBERS, "number")
    simulated = {row for one in numbers for row in one["rows"]}
    assert simulated | set(reasons()) == set(published())
    assert not simulated & set(reasons())


def test_the_page_of_all_rows_is_that_of_the_numbers():
    told = "run python papers/draw.py --table"
    assert "\n".join(table()) + "\n" == TABLE.read_text("utf-8"), told


def test_what_is_out_of_range_says_why():
    for one in read(NUMBERS, "number"):
        assert one["holds"] == (not one["outside"]), one["name"]


def test_the_tuning_that_papers_are_simulated_with_is_the_one_of_that_name():
    scenario = load_scenario(
        {
            "apiVersion": "weft/v1",
            "kind": "Scenario",
            "metadata": {"name": "tuned"},
            "spec": {
                "cluster": {"preset": "hgx_h100_roce", "hosts": 2},
                "network": {"preset": "roce_tuned"},
                "traffic": [{"incast": {"senders": 1, "size_bytes": "1MB"}}],
            },
        }
    )
    named = options_of(scenario, seed=1)
    ours = Options(seed=1, **ROCE_TUNED)
    for what in (*ROCE_TUNED, "kmin_bytes", "kmax_bytes", "pmax_ratio", "cnp_gap_ps"):
        assert getattr(ours, what) == getattr(named, what), what

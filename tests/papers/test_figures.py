"""The figures of the papers come out of the simulator as near as each page says."""

import pytest
from draw import HERE, NUMBERS, TABLE, load, names, published, read, reasons, table

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

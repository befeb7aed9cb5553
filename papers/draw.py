"""Simulate the figures of all papers, draw them, and write the page of each folder.

python papers/draw.py [PAPER ...]
"""

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import altair as alt
import vl_convert
from reproduction import Figure, Limit, Number, Paper

HERE = Path(__file__).parent
MOST_POINTS = 1500
FEW = 30
SIZE = {"width": 560, "height": 220}


def names() -> list[str]:
    """List the papers: the folders that hold figures."""
    return sorted(one.parent.name for one in HERE.glob("*/figures.py"))


def load(name: str) -> Paper:
    """Import the figures of one paper."""
    spec = spec_from_file_location(f"papers_{name}", HERE / name / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    paper = module.PAPER
    assert isinstance(paper, Paper)
    return paper


def main(chosen: list[str]) -> None:
    """Write the page and the pictures of the chosen papers, or of all."""
    for name in chosen or names():
        paper = load(name)
        figures = [make() for make in paper.figures]
        for figure in figures:
            (HERE / name / f"{figure.name}.svg").write_text(picture(figure))
        (HERE / name / "README.md").write_text("\n".join(page(paper, figures)) + "\n")
        print(f"{name}: {len(figures)} figures", file=sys.stderr)


def picture(figure: Figure) -> str:
    """Draw the curves of a figure."""
    rows = [
        {figure.x: float(x), figure.y: float(y), "curve": curve.name}
        for curve in figure.curves
        for x, y in list(zip(curve.x, curve.y, strict=True))[:: _every(len(curve.x))]
    ]
    chart = (
        alt.Chart(alt.Data(values=rows), title=figure.title)
        .mark_line(point=len(rows) < FEW, strokeWidth=1.3)
        .encode(
            x=alt.X(f"{_field(figure.x)}:Q", title=figure.x),
            y=alt.Y(f"{_field(figure.y)}:Q", title=figure.y),
            color=alt.Color("curve:N", title=None, scale=alt.Scale(scheme="tableau10")),
        )
        .properties(**SIZE)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def _every(points: int) -> int:
    return max(1, points // MOST_POINTS)


def _field(name: str) -> str:
    return name.replace(".", "\\.").replace("[", "\\[")


def page(paper: Paper, figures: list[Figure]) -> Iterator[str]:
    """Yield the lines of a paper's page."""
    yield f"# {paper.title}\n"
    yield f"{paper.source}. Congestion control `{paper.control}`.\n"
    yield "This page and its pictures are made by `python papers/draw.py`."
    for figure in figures:
        yield f"\n## {figure.title}\n"
        yield f"{figure.setup}.\n"
        yield f"![{figure.title}]({figure.name}.svg)\n"
        yield "| number | paper | simulated | error | allowed | place |"
        yield "|---|---|---|---|---|---|"
        yield from (_row(one) for one in figure.numbers)


def _row(one: Number | Limit) -> str:
    shown = f"{one.simulated:.4g} {one.unit}"
    if isinstance(one, Number):
        published = f"{one.published:.4g} {one.unit}"
        error, allowed = f"{one.error_ratio:+.0%}", f"±{one.tolerance_ratio:.0%}"
    else:
        low = "" if one.at_least is None else f"at least {one.at_least:.4g} {one.unit}"
        high = "" if one.at_most is None else f"at most {one.at_most:.4g} {one.unit}"
        published, error = " and ".join(filter(None, (low, high))), "-"
        allowed = "within" if one.holds else "**outside**"
    missed = "" if one.holds else " **missed**"
    return f"| {one.name} | {published} | {shown} | {error} | {allowed}{missed} | {one.place} |"


if __name__ == "__main__":
    main(sys.argv[1:])

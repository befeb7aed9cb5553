"""Simulate the figures of all papers, draw them, and write the page of each folder.

python papers/draw.py [PAPER ...]
python papers/draw.py --table    only the page of all rows, from papers/numbers.toml
"""

import csv
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from reproduction import Figure, Limit, Number, Paper

HERE = Path(__file__).parent
NUMBERS, ROWS = HERE / "numbers.toml", HERE / "rows.toml"
DATA = HERE.parent / "src" / "weft" / "accuracy" / "data" / "fabric_behaviour.csv"
TABLE = HERE.parent / "docs" / "explanation" / "published-behaviour.md"
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
    """Write pages and pictures of the chosen papers, or of all, and the table of rows."""
    if chosen != ["--table"]:
        kept = [one for one in read(NUMBERS, "number") if one["paper"] not in chosen]
        found = kept if chosen else []
        for name in chosen or names():
            found += _drawn(name)
        NUMBERS.write_text(_toml(sorted(found, key=lambda one: one["paper"])), "utf-8")
    TABLE.write_text("\n".join(table()) + "\n", "utf-8")


def _drawn(name: str) -> list[dict[str, Any]]:
    """Simulate one paper, write its folder, and return the numbers that rows speak of."""
    paper = load(name)
    figures = [make() for make in paper.figures]
    for figure in figures:
        (HERE / name / f"{figure.name}.svg").write_text(picture(figure))
    (HERE / name / "README.md").write_text("\n".join(page(paper, figures)) + "\n")
    print(f"{name}: {len(figures)} figures", file=sys.stderr)
    return [
        {
            "paper": name, "rows": list(one.rows), "name": one.name, "place": one.place,
            "asked": _asked(one), "simulated": _shown(one), "holds": one.holds,
            "outside": one.outside,
        }
        for figure in figures
        for one in figure.numbers
        if one.rows
    ]  # fmt: skip


def read(path: Path, word: str) -> list[dict[str, Any]]:
    """Read the entries of a file that was written here; none where it is not there yet."""
    if not path.exists():
        return []
    return list(tomllib.loads(path.read_text("utf-8")).get(word, []))


def _toml(numbers: list[dict[str, Any]]) -> str:
    lines = [
        "# Written by papers/draw.py: the numbers that rows of fabric_behaviour.csv speak of."
    ]
    for one in numbers:
        lines += ["", "[[number]]", *(f"{key} = {_value(held)}" for key, held in one.items())]
    return "\n".join(lines) + "\n"


def _value(held: object) -> str:
    if isinstance(held, list):
        return f"[{', '.join(map(_value, held))}]"
    return str(held).lower() if isinstance(held, bool) else f'"{held}"'


def published() -> dict[str, dict[str, str]]:
    """Return the rows of fabric_behaviour.csv by their name."""
    with DATA.open(encoding="utf-8") as lines:
        return {row["row_id"]: row for row in csv.DictReader(lines)}


def reasons() -> dict[str, tuple[str, str]]:
    """Return kind and reason of the rows that nothing simulates."""
    held = tomllib.loads(ROWS.read_text("utf-8")).values()
    return {row: (one["kind"], one["why"]) for one in held for row in one["rows"]}


def table() -> Iterator[str]:
    """Yield the lines of the page of all rows."""
    rows, numbers = published(), read(NUMBERS, "number")
    simulated = {row for one in numbers for row in one["rows"]}
    missed = {row for one in numbers for row in one["rows"] if not one["holds"]}
    yield INTRODUCTION.format(
        rows=len(rows), simulated=len(simulated), held=len(simulated - missed),
        missed=", ".join(sorted(missed)) or "none", left=len(reasons()),
        values=sum("±" in one["asked"] for one in numbers),
        bounds=sum("±" not in one["asked"] for one in numbers),
    )  # fmt: skip
    yield "## Simulated\n"
    yield "| row | published | number | asked | simulated | as asked | paper |"
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(simulated):
        for one in numbers:
            if row in one["rows"]:
                yield _line(row, rows[row], one)
    yield "\n## Not simulated\n"
    yield "| rows | kind | why |"
    yield "|---|---|---|"
    told: dict[tuple[str, str], list[str]] = {}
    for row, reason in sorted(reasons().items()):
        told.setdefault(reason, []).append(row)
    for (kind, why), each in told.items():
        yield f"| {', '.join(each)} | {kind} | {why} |"


def _line(row: str, published_row: dict[str, str], one: dict[str, Any]) -> str:
    verdict = "yes" if one["holds"] else f"**no**: {one['outside']}"
    study = f"{published_row['study']}: {one['place']}"
    paper = f"[{one['paper']}](../../papers/{one['paper']}/README.md)"
    asked = f"{one['asked']} | {one['simulated']}"
    return f"| {row} | {study} | {one['name']} | {asked} | {verdict} | {paper} |"


INTRODUCTION = """# Published behaviour of fabrics, simulated

This page is written by `python papers/draw.py` from what the figures of `papers/` gave; `pytest
tests/papers` simulates them again.

Of {rows} published effects of a fabric (`src/weft/accuracy/data/fabric_behaviour.csv`) the
packet engine is asked for {simulated}: incasts and their victims, hashes, queue pairs, chosen,
adaptive and sprayed paths, links that fail, damage or slow packets, classes for small messages,
tails, TCP in hosts. {held} of them come out as asked in all their numbers; outside: {missed}.
{values} numbers are held against a published value, with a tolerance; {bounds} against a bound,
a range or a direction, since that is what is published, or since the source leaves open what
decides the value. For {left} rows packets say nothing; the second table has the reasons.

In brackets: least and most of seeds, placements or settings that the source leaves open.
No setting was fitted to a row. Where a source leaves out what decides (cabling, connections,
timers of NICs), the page of the paper names what was taken and what else it would give.
"""


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
        yield "| number | asked | simulated | error | as asked | place |"
        yield "|---|---|---|---|---|---|"
        yield from (_row(one) for one in figure.numbers)


def _shown(one: Number | Limit) -> str:
    shown = f"{one.simulated:.4g} {one.unit}"
    if one.spread is not None:
        shown += f" ({one.spread[0]:.4g} to {one.spread[1]:.4g})"
    return shown


def _asked(one: Number | Limit) -> str:
    """Say what the simulation is held against."""
    if isinstance(one, Number):
        return f"{one.published:.4g} {one.unit} ±{one.tolerance_ratio:.0%}"
    low = "" if one.at_least is None else f"at least {one.at_least:.4g} {one.unit}"
    high = "" if one.at_most is None else f"at most {one.at_most:.4g} {one.unit}"
    return " and ".join(filter(None, (low, high)))


def _row(one: Number | Limit) -> str:
    error = f"{one.error_ratio:+.0%}" if isinstance(one, Number) else "-"
    verdict = "yes" if one.holds else f"**missed**: {one.outside}"
    place = f"{one.place} ({', '.join(one.rows)})" if one.rows else one.place
    return f"| {one.name} | {_asked(one)} | {_shown(one)} | {error} | {verdict} | {place} |"


if __name__ == "__main__":
    main(sys.argv[1:])

"""`weft accuracy`: how far the model is from published measurements."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import median
from typing import Any

from weft.accuracy.aims import FACTOR, Outcome
from weft.accuracy.by_system import ALL, WITHIN, BySystem
from weft.accuracy.kind import Score, is_apart
from weft.accuracy.scoreboard import Group, Scoreboard
from weft.report.numbers import by_unit, figures, unit_of
from weft.report.page import Block, Columns, Drawing, Sentences, Table, View, table

MOST_GROUPS = 8
"""As many as a chart has colours and marks."""
IN_SHORT = {ALL: "all", WITHIN: "in domain"}
"""Parts of a kind on the first screen: of all rows, and of those in the measured domain."""
MILLISECOND = 1e-3
MOST_ROWS = 30
"""Rows of a list in a report; the JSON document has them all."""


def _title(result: Scoreboard) -> str:
    rows = sum(group.rows for group in result.groups)
    reached = sum(not outcome.missed_by for outcome in result.aims)
    aims = f": {reached} of {len(result.aims)} aims reached" if result.aims else ""
    return f"How far weft is from {rows:,} measurements ({result.data}){aims}"


def _answer(result: Scoreboard) -> Iterator[Block]:
    """Yield every kind, and what of it lies within the measured domain, by system."""
    shown = [replace(part, part=IN_SHORT[part.part])
             for part in result.by_system if part.part in IN_SHORT]  # fmt: skip
    title = "Median |error|, product families left out of the fit, each system counted once"
    yield _by_system(title, shown, *_folds(result))


def _blocks(result: Scoreboard) -> Iterator[Block]:
    if result.aims:
        yield _aims(result)
    yield _by_system("Median |error|, every system counted once", result.by_system)
    if result.calibrated:
        title = "Median |error|, calibrated on one sweep of a system"
        yield _by_system(title, result.calibrated)
    yield _kinds("By kind, every row counted", result.groups)
    if result.as_shipped:
        yield _kinds("The same with the shipped constants", result.as_shipped)
    yield from _drawings(result)
    for (kind, label), parts in groupby(result.breakdown, key=_heading):
        yield _parts(f"{kind.replace('_', ' ')} by {label}", tuple(parts))
    yield from _lists(result)
    unread = tuple(f"{name}.csv: read by no kind" for name in result.unread)
    yield Sentences(title="Data", lines=result.provenance.sources + unread)


def _heading(part: Group) -> tuple[str, str]:
    return part.kind, ", ".join(part.labels)


def _kinds(title: str, groups: Sequence[Group]) -> Table:
    columns: Columns = {
        "kind": "kind", "rows": "rows", "sites": "sites", "left out": "left_out",
        "apart": "apart", **_ERRORS, "median factor": "median_factor",
    }  # fmt: skip
    return table(
        groups,
        columns,
        title=title,
        least=(4, 3, 8, 5),
        notes=(
            "error = predicted / measured - 1; bias is its median with its sign",
            "a row that a fit has seen is predicted by a fit without its product family",
            "apart (breakdown alone): not known to be healthy, one host, source of a constant",
        ),
    )


def _hundredths(name: str) -> Callable[[Any], str]:
    """Return what shows a ratio without the sign of per cent, which the heading has."""

    def shown(part: object) -> str:
        value = getattr(part, name)
        return "-" if value is None else figures(value * 100)

    return shown


_ERRORS: Columns = {
    "median |error| %": _hundredths("median_abs_error_ratio"),
    "90th percentile %": _hundredths("p90_abs_error_ratio"),
    "bias %": _hundredths("bias_ratio"),
    "in band %": _hundredths("inside_band_ratio"),
}


def _by_system(title: str, found: Sequence[BySystem], *notes: str) -> Table:
    columns: Columns = {
        "kind": "kind", "part": "part", "systems": "systems", "rows": "rows",
        "error %": _ERRORS["median |error| %"], "factor": "median_factor",
        "in band": lambda own: (
            f"{own.inside_band_ratio:.0%} +- {own.inside_band_error_ratio:.0%}"
        ),
    }  # fmt: skip
    return table(found, columns, title=title, notes=notes)


def _aims(result: Scoreboard) -> Table:
    rows = (
        (own.aim.kind, own.aim.part, own.aim.figure, *outcome_texts(own)) for own in result.aims
    )
    return Table(
        title="Aims, on product families left out of the fit",
        columns=("kind", "part", "figure", "found", "aim", ""),
        rows=tuple(rows),
        left=(0, 1, 2, 5),
        notes=_folds(result),
    )


def outcome_texts(outcome: Outcome) -> tuple[str, str, str]:
    """Return what was found, the aim, and whether it is reached or by how much it is missed."""
    name, missed = outcome.aim.figure, outcome.missed_by
    return (
        _figure(name, outcome.found, outcome.error_ratio),
        f"{_figure(name, outcome.aim.low)} to {_figure(name, outcome.aim.high)}",
        f"missed by {_figure(name, missed)}" if missed else "reached",
    )


def _figure(name: str, value: float, error: float = 0.0) -> str:
    if name == FACTOR:
        return figures(value)
    shown = f"{figures(value * 100)} %" if value else "0 %"
    return f"{shown} +- {error:.0%}" if error else shown


def _folds(result: Scoreboard) -> tuple[str, ...]:
    nested = result.nested
    if nested is None:
        return ()
    said = (
        f"{nested.families} product families ({nested.systems} systems) left out one at a time,"
        f" fitted {nested.fitted}"
    )
    if not nested.changed:
        return (f"{said}; predictions are those of this version",)
    names = ", ".join(nested.changed)
    return (f"{said}; the model has changed since for: {names}. Run fits/collective.py",)


def _drawings(result: Scoreboard) -> Iterator[Block]:
    for group in result.groups:
        scores = [s for s in result.scores if s.kind == group.kind and not is_apart(s)]
        quantities = Counter(score.quantity for score in scores if score.predicted > 0)
        if not quantities:
            continue
        quantity = quantities.most_common(1)[0][0]
        drawn = [s for s in scores if s.quantity == quantity and s.predicted > 0]
        unit, scale = _unit(quantity, median(score.measured for score in drawn))
        yield Drawing(
            chart="accuracy_scatter",
            name=group.kind,
            title=f"{group.kind.replace('_', ' ')}: predicted against measured",
            rows=tuple(_point(score, _told_apart_by(drawn), scale) for score in drawn),
            marks={"unit": unit},
        )


def _told_apart_by(scores: Sequence[Score]) -> str:
    """Choose the label that splits the rows into groups few enough to tell apart."""
    for label in ("collective", "family", "framework", "gpu", "fabric"):
        if 1 <= len({score.labels.get(label, "") for score in scores} - {""}) <= MOST_GROUPS:
            return label
    return ""


def _unit(quantity: str, typical: float) -> tuple[str, float]:
    """Return the unit of the axes: microseconds where seconds would be mostly zeros."""
    if quantity.endswith("_s") and not quantity.endswith("_per_s") and typical < MILLISECOND:
        return "us", 1e-6
    return unit_of(quantity)


def _point(score: Score, label: str, scale: float) -> dict[str, object]:
    return {
        "measured": score.measured / scale,
        "predicted": score.predicted / scale,
        "group": score.labels.get(label) or ("not stated" if label else score.kind),
    }


def _parts(title: str, parts: Sequence[Group]) -> Table:
    columns: Columns = {"": lambda part: ", ".join(part.labels.values()), "rows": "rows",
                        "sites": "sites", **_ERRORS}  # fmt: skip
    return table(parts, columns, title=title)


def _lists(result: Scoreboard) -> Iterator[Table]:
    trends: Columns = {
        "kind": "kind", "that differ in": "name", "series": "series", "pairs": "pairs",
        "right order %": _hundredths("right_order_ratio"),
    }  # fmt: skip
    note = "a series: same source, model, GPU, framework, precision and sequence length"
    title = "Pairs of runs predicted in their order"
    yield table(result.trends, trends, title=title, notes=(note,))
    sites: Columns = {
        "kind": "kind", "site": "site", "rows": "rows",
        "median |error| %": _ERRORS["median |error| %"], "bias %": _ERRORS["bias %"],
    }  # fmt: skip
    worst = sorted(result.site_errors, key=lambda site: -site.median_abs_error_ratio)
    yield _longest("Systems furthest off", worst, sites)
    reasons = {"kind": "kind", "rows": "rows", "reason": "reason", "such as": "examples"}
    yield _longest("Rows left out, and why", result.left_out, reasons)
    rows: Columns = {
        "kind": "score.kind", "row": "score.row",
        "measured": lambda worst: by_unit(worst.score.quantity, worst.score.measured),
        "predicted": lambda worst: by_unit(worst.score.quantity, worst.score.predicted),
        "error %": lambda worst: figures(worst.score.error_ratio * 100),
    }  # fmt: skip
    yield _longest("Rows furthest off", result.worst, rows)


def _longest(title: str, found: Sequence[object], columns: Columns) -> Table:
    more = len(found) - MOST_ROWS
    notes = (f"{more} more in the JSON document",) if more > 0 else ()
    return table(found[:MOST_ROWS], columns, title=title, notes=notes)


scoreboard = View(
    shows="weft.accuracy.scoreboard.Scoreboard", verb="accuracy", title=_title,
    answer=_answer, blocks=_blocks,
    rest="each aim, errors by kind and by system, rows left out",
)  # fmt: skip

"""`weft accuracy`: how far the model is from published measurements."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from weft.accuracy.aims import FACTOR, Outcome
from weft.accuracy.by_system import ALL, WITHIN, BySystem
from weft.accuracy.kind import Score, is_apart
from weft.accuracy.scoreboard import Group, Scoreboard
from weft.report.numbers import by_unit, figures, unit_of
from weft.report.page import Block, Drawing, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer

MOST_GROUPS = 8
"""As many as a chart has colours and marks."""
MILLISECOND = 1e-3
MOST_ROWS = 30
"""Rows of a list in a report; the JSON document has them all."""
_ERRORS = ("median |error| %", "90th percentile %", "bias %", "in band %")


def _page(result: Scoreboard) -> Page:
    rows = sum(group.rows for group in result.groups)
    return Page(
        title=f"How far weft is from {rows} measurements ({result.data})",
        answer=(_answer(result),),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _blocks(result: Scoreboard) -> Iterator[Block]:
    if result.aims:
        yield _aims(result)
    yield _by_system("Every system counted once", result.by_system)
    if result.calibrated:
        yield _by_system("Calibrated on one sweep of a system", result.calibrated)
    yield _kinds("By kind, every row counted", result.groups)
    if result.as_shipped:
        yield _kinds("The same with the shipped constants", result.as_shipped)
    yield from _drawings(result)
    for (kind, label), parts in groupby(result.breakdown, key=_heading):
        yield _parts(f"{kind.replace('_', ' ')} by {label}", tuple(parts))
    yield _trends(result)
    yield _sites(result)
    yield _left_out(result)
    yield _worst(result)
    unread = tuple(f"{name}.csv: read by no kind" for name in result.unread)
    yield Sentences(title="Data", lines=result.provenance.sources + unread)


def _answer(result: Scoreboard) -> Table:
    """Return every kind, and what of it lies within the measured domain, by system."""
    shown = [one for one in result.by_system if one.part in {ALL, WITHIN}]
    reached = sum(not one.missed_by for one in result.aims)
    notes = (f"{reached} of {len(result.aims)} aims reached",) if result.aims else ()
    return _by_system(
        "Product families left out of the fit, every system counted once",
        shown,
        *notes,
        *_folds(result),
    )


def _heading(part: Group) -> tuple[str, str]:
    return part.kind, ", ".join(part.labels)


def _kinds(title: str, groups: Sequence[Group]) -> Table:
    rows = (
        (
            group.kind,
            str(group.rows),
            str(group.sites),
            str(group.left_out),
            str(group.apart),
            *_errors(group),
            "-" if group.median_factor is None else figures(group.median_factor),
        )
        for group in groups
    )
    return Table(
        title=title,
        columns=(
            "kind", "rows", "sites", "left out", "apart", *_ERRORS, "median factor",
        ),
        rows=rows_of(*rows),
        left=(0,),
        least=(4, 3, 8, 5),
        notes=(
            "error = predicted / measured - 1; bias is its median with its sign",
            "a row that a fit has seen is predicted by a fit without its product family",
            "apart (breakdown alone): not known to be healthy, one host, source of a constant",
        ),
    )  # fmt: skip


def _errors(group: Group) -> tuple[str, ...]:
    values = (
        group.median_abs_error_ratio,
        group.p90_abs_error_ratio,
        group.bias_ratio,
        group.inside_band_ratio,
    )
    return tuple("-" if value is None else figures(value * 100) for value in values)


def _by_system(title: str, found: Sequence[BySystem], *notes: str) -> Table:
    rows = (
        (
            one.kind,
            one.part,
            str(one.systems),
            str(one.rows),
            figures(one.median_abs_error_ratio * 100),
            figures(one.median_factor),
            f"{one.inside_band_ratio:.0%} +- {one.inside_band_error_ratio:.0%}",
        )
        for one in found
    )
    return Table(
        title=title,
        columns=("kind", "part", "systems", "rows", "median |error| %", "factor", "in band"),
        rows=rows_of(*rows),
        left=(0, 1),
        notes=notes,
    )


def _aims(result: Scoreboard) -> Table:
    rows = (
        (one.aim.kind, one.aim.part, one.aim.figure, *outcome_texts(one)) for one in result.aims
    )
    return Table(
        title="Aims, on product families left out of the fit",
        columns=("kind", "part", "figure", "found", "aim", ""),
        rows=rows_of(*rows),
        left=(0, 1, 2, 5),
        notes=_folds(result),
    )


def outcome_texts(one: Outcome) -> tuple[str, str, str]:
    """Return what was found, the aim, and whether it is reached or by how much it is missed."""
    name = one.aim.figure
    missed = f"missed by {_figure(name, one.missed_by)}" if one.missed_by else "reached"
    return (
        _figure(name, one.found, one.error_ratio),
        f"{_figure(name, one.aim.low)} to {_figure(name, one.aim.high)}",
        missed,
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
    rows = (
        (", ".join(part.labels.values()), str(part.rows), str(part.sites), *_errors(part))
        for part in parts
    )
    return Table(title=title, columns=("", "rows", "sites", *_ERRORS), rows=rows_of(*rows))


def _trends(result: Scoreboard) -> Table:
    rows = (
        (
            one.kind,
            one.name,
            str(one.series),
            str(one.pairs),
            figures(one.right_order_ratio * 100),
        )
        for one in result.trends
    )
    return Table(
        title="Pairs of runs predicted in their order",
        columns=("kind", "that differ in", "series", "pairs", "right order %"),
        rows=rows_of(*rows),
        left=(0, 1),
        notes=("a series: same source, model, GPU, framework, precision and sequence length",),
    )


def _sites(result: Scoreboard) -> Table:
    worst = sorted(result.site_errors, key=lambda one: -one.median_abs_error_ratio)
    rows = (
        (
            one.kind,
            one.site,
            str(one.rows),
            figures(one.median_abs_error_ratio * 100),
            figures(one.bias_ratio * 100),
        )
        for one in worst[:MOST_ROWS]
    )
    return Table(
        title="Systems furthest off",
        columns=("kind", "site", "rows", "median |error| %", "bias %"),
        rows=rows_of(*rows),
        left=(0, 1),
        notes=_more(len(worst)),
    )


def _left_out(result: Scoreboard) -> Table:
    rows = (
        (one.kind, str(one.rows), one.reason, ", ".join(one.examples))
        for one in result.left_out[:MOST_ROWS]
    )
    return Table(
        title="Rows left out, and why",
        columns=("kind", "rows", "reason", "such as"),
        rows=rows_of(*rows),
        left=(0, 2, 3),
        notes=_more(len(result.left_out)),
    )


def _worst(result: Scoreboard) -> Table:
    rows = (
        (
            one.score.kind,
            one.score.row,
            by_unit(one.score.quantity, one.score.measured),
            by_unit(one.score.quantity, one.score.predicted),
            figures(one.score.error_ratio * 100),
        )
        for one in result.worst[:MOST_ROWS]
    )
    return Table(
        title="Rows furthest off",
        columns=("kind", "row", "measured", "predicted", "error %"),
        rows=rows_of(*rows),
        left=(0, 1),
        notes=_more(len(result.worst)),
    )


def _more(rows: int) -> tuple[str, ...]:
    if rows <= MOST_ROWS:
        return ()
    return (f"{rows - MOST_ROWS} more in the JSON document",)


scoreboard = View(shows="weft.accuracy.scoreboard.Scoreboard", verb="accuracy", page=_page)

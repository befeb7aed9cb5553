"""`weft accuracy`: how far the model is from published measurements."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from weft.accuracy.kind import Score
from weft.accuracy.scoreboard import Group, Scoreboard, Target, is_apart
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
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _blocks(result: Scoreboard) -> Iterator[Block]:
    yield _kinds("By kind", result.groups, result)
    if result.as_shipped:
        yield _kinds("The same with the shipped constants", result.as_shipped, result)
    yield from _drawings(result)
    for (kind, label), parts in groupby(result.breakdown, key=_heading):
        yield _parts(f"{kind.replace('_', ' ')} by {label}", tuple(parts))
    yield _trends(result)
    yield _sites(result)
    yield _left_out(result)
    yield _worst(result)
    unread = tuple(f"{name}.csv: read by no kind" for name in result.unread)
    yield Sentences(title="Data", lines=result.provenance.sources + unread)


def _heading(part: Group) -> tuple[str, str]:
    return part.kind, ", ".join(part.labels)


def _kinds(title: str, groups: Sequence[Group], result: Scoreboard) -> Table:
    rows = (
        (
            group.kind,
            str(group.rows),
            str(group.sites),
            str(group.left_out),
            str(group.apart),
            *_errors(group),
            "-" if group.median_factor is None else figures(group.median_factor),
            _aim(group, result.targets.get(group.kind)),
        )
        for group in groups
    )
    return Table(
        title=title,
        columns=(
            "kind", "rows", "sites", "left out", "apart", *_ERRORS, "median factor", "aim",
        ),
        rows=rows_of(*rows),
        left=(0, 10),
        notes=(
            "error = predicted / measured - 1; bias is its median with its sign",
            "a row of a site that a fit has seen is predicted by a fit without that site",
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


def _aim(group: Group, target: Target | None) -> str:
    if target is None:
        return ""
    if not group.rows:
        return "no rows"
    missed = missed_aims(group, target)
    return "reached" if not missed else f"missed: {', '.join(missed)}"


def missed_aims(group: Group, target: Target) -> list[str]:
    """Name the aims that a group misses."""
    limits = (
        ("median", group.median_abs_error_ratio, target.median_abs_error_ratio),
        ("90th percentile", group.p90_abs_error_ratio, target.p90_abs_error_ratio),
        ("factor", group.median_factor, target.median_factor),
    )
    missed = [
        name
        for name, found, limit in limits
        if limit is not None and found is not None and found > limit
    ]
    inside = group.inside_band_ratio
    low, high = target.inside_band_low_ratio, target.inside_band_high_ratio
    if inside is not None and not low <= inside <= high:
        missed.append("too many in band" if inside > high else "too few in band")
    return missed


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

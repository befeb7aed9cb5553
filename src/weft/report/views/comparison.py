"""`weft compare`: fabrics side by side, the verdict and what would change it."""

from collections.abc import Iterator

from weft.advise.claim import ARTICLES
from weft.advise.compare import Comparison, Line
from weft.advise.flip import Crossing, Flip
from weft.advise.wording import figure
from weft.report.numbers import band, figures, money, percent, seconds
from weft.report.page import (
    Block,
    Drawing,
    Entries,
    Entry,
    Facts,
    Page,
    Sentences,
    Table,
    View,
    rows_of,
)
from weft.report.views._cost import cost_rows, cost_table
from weft.report.views._provenance import footer
from weft.report.views._question import question
from weft.report.views._step import breakdown_rows, grouped_s


def _page(result: Comparison) -> Page:
    name = f"{result.job.model.name} on {result.cluster.name}"
    return Page(
        title=f"{name}: {figure(len(result.lines), 'networks')} side by side",
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _blocks(result: Comparison) -> Iterator[Block]:
    gpus = result.lines[0].prediction.gpus if result.lines else result.cluster.gpus
    yield Sentences(title="Recommendation", lines=(result.recommendation.sentence,))
    yield Facts(title="Question", pairs=question(result.cluster, result.job, gpus))
    yield _table(result)
    yield Drawing(
        chart="step_breakdown",
        title="Where the time of a step goes",
        rows=tuple(
            row
            for line in result.lines
            for row in breakdown_rows(line.prediction.step, line.title)
        ),
    )
    yield _breakdown(result)
    costs = {line.title: line.prediction.cost for line in result.lines}
    yield Drawing(
        chart="cost_bars",
        title="Total cost of ownership",
        rows=tuple(cost_rows(costs)),
        marks={"years": result.years},
    )
    yield cost_table({one.name: one.prediction.cost for one in result.lines}, result.years)
    yield Sentences(title="Reasons", lines=result.recommendation.reasons)
    yield from _flips(result)
    yield from _claims(result)
    warned = tuple(
        dict.fromkeys(
            f"{line.name}: {one}"
            for line in result.lines
            for one in line.prediction.cost.warnings
        )
    )
    yield Sentences(title="Warnings", lines=warned)
    left_out = tuple(f"{one.name}: {one.reason}" for one in result.left_out)
    yield Sentences(title="Left out", lines=left_out)
    yield Sentences(title="Notes", lines=(result.parallelism, *result.notes))
    yield Sentences(title="Assumptions", lines=_assumptions(result))


def _assumptions(result: Comparison) -> tuple[str, ...]:
    every = (a for line in result.lines for a in line.prediction.provenance.assumptions)
    return tuple(dict.fromkeys((*result.provenance.assumptions, *every)))


def _table(result: Comparison) -> Table:
    return Table(
        title="Verdict",
        columns=(
            "network", "step", "MFU %", "exposed", "$ per 1T tokens",
            f"network, {result.years:g} years", "token cost", "verdict",
        ),
        rows=rows_of(*(_cells(line) for line in result.lines)),
        left=(0, 7),
        notes=(
            "In brackets the 80 % band.",
            "; ".join(f"{line.name}: {line.title}" for line in result.lines),
            "Token cost: against the cheapest, with the errors that both share cancelled.",
        ),
    )  # fmt: skip


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.name,
        seconds(line.step_s),
        band(line.mfu_ratio, scale=0.01),
        percent(line.exposed_ratio),
        money(line.usd_per_1t_tokens),
        money(line.network_usd),
        "1" if line.cost_ratio.low == line.cost_ratio.high == 1 else band(line.cost_ratio),
        str(line.verdict.value),
    )


def _breakdown(result: Comparison) -> Table:
    parts = [grouped_s(line.prediction.step) for line in result.lines]
    names = [
        name
        for name in dict.fromkeys(name for one in parts for name in one)
        if any(one.get(name, 0.0) > 0 for one in parts)
    ]
    rows = (
        (
            line.name,
            *(figures(one.get(name, 0.0)) for name in names),
            figures(line.step_s.value),
        )
        for line, one in zip(result.lines, parts, strict=True)
    )
    return Table(
        title="Where the time of a step goes, in seconds",
        columns=("network", *names, "step"),
        rows=rows_of(*rows),
    )


def _flips(result: Comparison) -> Iterator[Block]:
    if not result.flips:
        return
    ordered = sorted(result.flips, key=lambda one: (not one.flips, -abs(one.swing_ratio)))
    yield Table(
        title="What would flip the verdict",
        columns=("input", "now", "searched", "flips below", "flips above", "cost swing"),
        rows=rows_of(*(_flip_cells(one) for one in ordered)),
        left=(0, 3, 4),
        notes=(
            "; ".join(f"{_short(one)}: {one.title}" for one in ordered),
            "cost swing: how far the cost of a token of the cheapest moves over the range",
        ),
    )
    yield Drawing(
        chart="flip_tornado",
        title="What would change the verdict",
        rows=tuple(_tornado_row(one) for one in ordered),
    )


def _flip_cells(one: Flip) -> tuple[str, ...]:
    return (
        _short(one),
        figure(one.current, one.unit),
        _range(one),
        _crossing(one.below, one.unit),
        _crossing(one.above, one.unit),
        percent(one.swing_ratio),
    )


def _short(one: Flip) -> str:
    return one.input.replace("_", " ")


def _range(one: Flip) -> str:
    low, high = figure(one.low, one.unit), figure(one.high, one.unit)
    unit = f" {one.unit}"
    return f"{low.removesuffix(unit) if high.endswith(unit) else low} to {high}"


def _crossing(crossing: Crossing | None, unit: str) -> str:
    return "no" if crossing is None else f"{figure(crossing.at, unit)}: {crossing.winner}"


def _tornado_row(one: Flip) -> dict[str, object]:
    notes = [
        f"{word} {_crossing(crossing, one.unit)}"
        for word, crossing in (("below", one.below), ("above", one.above))
        if crossing is not None
    ]
    return {
        "input": _short(one),
        "swing": one.swing_ratio * 100,
        "flips": one.flips,
        "note": ", ".join(notes),
    }


def _claims(result: Comparison) -> Iterator[Block]:
    if not result.claims:
        return
    items = (
        Entry(
            head=f"{one.point} ({', '.join(one.articles)})",
            text=f'"{one.text}" {one.verdict.outcome.value} {one.verdict.condition}'.rstrip(),
            lines=(*one.verdict.reasons, f"evidence: {one.verdict.evidence.value}"),
        )
        for one in sorted(result.claims, key=lambda one: (one.point[0], int(one.point[1:])))
    )
    articles = (f"{letter}: {title}" for letter, title in ARTICLES.items())
    yield Entries(title="What the articles say, on this cluster", items=tuple(items))
    yield Sentences(title="Articles", lines=tuple(articles))


comparison = View(
    shows="weft.advise.compare.Comparison",
    verb="compare",
    page=_page,
    charts=("step_breakdown", "cost_bars", "flip_tornado"),
)

"""`weft compare`: networks side by side, which to take and what would change that."""

from collections.abc import Iterator
from typing import Final

from weft.advise.break_even import BreakEven, Crossing
from weft.advise.compare import Comparison, Line, Word
from weft.advise.wording import figure
from weft.report.numbers import band, figures, money, percent, seconds
from weft.report.page import (
    Block,
    Drawing,
    Facts,
    Page,
    Sentences,
    Table,
    View,
    rows_of,
)
from weft.report.views._cost import cost_rows, cost_table
from weft.report.views._provenance import defaults, footer
from weft.report.views._step import breakdown_rows, grouped_s

SCREEN_LINES = 40
"""Of the text without ``--full``; the first 24 hold the answer."""
MOST_CHANGES = 3
"""Inputs that the first screen names, those that change the recommendation first."""
MOST_REASONS = 2


def _page(result: Comparison) -> Page:
    return Page(
        title=result.recommendation.sentence,
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _answer(result: Comparison) -> Iterator[Block]:
    yield _table(result)
    yield Sentences(title="Reasons", lines=result.recommendation.reasons[:MOST_REASONS])
    if result.break_evens:
        changes = [one.text for one in _ordered(result) if one.changes][:MOST_CHANGES]
        nothing = "none of the inputs searched changes it within its range"
        yield Sentences(
            title="What would change the recommendation", lines=tuple(changes) or (nothing,)
        )
    yield _found(result)
    left_out = tuple(f"{one.name}: {one.reason}" for one in result.left_out)
    yield Sentences(title="Left out", lines=left_out)
    yield from defaults(result.provenance)


def _blocks(result: Comparison) -> Iterator[Block]:
    yield Facts(title="Question", pairs=_question(result))
    yield Sentences(title="All reasons", lines=result.recommendation.reasons)
    yield _figures(result)
    yield Drawing(
        chart="decision",
        title=_decided(result),
        rows=tuple(_decision_row(line) for line in result.lines),
    )
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
    alternatives = tuple(
        f"{line.name}: {other}" for line in result.lines for other in line.alternatives
    )
    yield Sentences(title="The next best of each network", lines=alternatives)
    yield from _break_evens(result)
    warned = tuple(
        dict.fromkeys(
            f"{line.name}: {one}"
            for line in result.lines
            for one in line.prediction.cost.warnings
        )
    )
    yield Sentences(title="Warnings", lines=warned)
    yield Sentences(title="Notes", lines=result.notes)
    yield Sentences(title="Assumptions", lines=_assumptions(result))


def _decided(result: Comparison) -> str:
    """Name the network to take, as a picture without its page must."""
    job, cluster = result.job.model.name, result.cluster.gpus
    found = [line.title for line in result.lines if line.verdict is Word.ADVISED]
    taken = f"take {found[0]}" if found else "no network meets the limits"
    return f"{job} on {cluster:,} GPUs: {taken}"


_SIMPLER: Final = {
    Word.ADVISED: "recommended",
    Word.BEST: "costs the same",
    Word.TIED: "costs the same",
}
"""Verdicts as the picture tells them apart; the others are one."""


def _decision_row(line: Line) -> dict[str, object]:
    usd, step = line.usd_per_1t_tokens, line.step_s
    return {
        "label": line.title,
        "verdict": _SIMPLER.get(line.verdict, "other"),
        "usd": usd.value, "usd_low": usd.low, "usd_high": usd.high,
        "usd_text": money(usd.value),
        "step_s": step.value, "step_s_low": step.low, "step_s_high": step.high,
        "step_s_text": seconds(step.value),
    }  # fmt: skip


def _question(result: Comparison) -> tuple[tuple[str, str], ...]:
    host = result.cluster.host
    jobs = (
        f"{job.model.name} on {figure(job.gpus or result.cluster.gpus, 'GPUs')}, "
        f"{job.precision}, {figure(job.global_batch, 'sequences')} of {job.sequence_length} "
        f"tokens{'' if len(result.jobs) == 1 else f', {weight:.0%} of the tokens'}"
        for job, weight in zip(result.jobs, result.weights, strict=True)
    )
    return (
        ("cluster", f"{figure(result.cluster.hosts, 'hosts')} of {host.gpus} {host.gpu}"),
        *(("job", job) for job in jobs),
        ("pinned", ", ".join(result.pinned) or "nothing of the network"),
        ("networks timed", str(result.timed)),
    )


def _assumptions(result: Comparison) -> tuple[str, ...]:
    every = (a for line in result.lines for a in line.prediction.provenance.assumptions)
    return tuple(dict.fromkeys((*result.provenance.assumptions, *every)))


def _table(result: Comparison) -> Table:
    return Table(
        columns=("network", "$ per 1T", "more", "step (80 % band)", "network", "verdict"),
        rows=rows_of(*(_cells(line) for line in result.lines)),
        left=(0, 5),
    )


def _cells(line: Line) -> tuple[str, ...]:
    more, step = line.cost_ratio.value - 1, line.step_s
    return (
        line.name,
        money(line.usd_per_1t_tokens.value),
        f"{more:.1%}".replace("%", " %") if more > 0 else "",
        f"{figures(step.value)} ({step.low:.2g}-{step.high:.2g}) s",
        money(line.network_usd.value),
        _verdict(line),
    )


def _verdict(line: Line) -> str:
    if any("over budget" in one for one in line.objections):
        return "over budget"
    return line.verdict.value.removesuffix(" and slower")


_KINDS: Final = {"rail_optimized": "rails joined", "rail_only": "rails apart"}


def _found(result: Comparison) -> Table:
    return Table(
        title="Found for each (* pinned)",
        columns=("network", "parallelism", "NICs", "switches"),
        rows=rows_of(*(_found_cells(line) for line in result.lines)),
        left=(0, 1, 2, 3),
    )


def _found_cells(line: Line) -> tuple[str, ...]:
    by_key = {one.key: (one.value, "*" * one.pinned) for one in line.chosen}
    none = ("none", "")
    spread, spread_pin = by_key["parallelism"]
    nics, nics_pin = by_key.get("host.nics", none)
    switches, switch_pin = by_key.get("topology.switch", none)
    kind, kind_pin = by_key.get("topology.kind", ("", ""))
    ranks = [part.replace(" ", "") for part in spread.split(", ") if "DP" not in part]
    return (
        line.name,
        " ".join(ranks or ["DP alone"]) + spread_pin,
        nics.rsplit(" ", 1)[0].replace(" ", "") + nics_pin,
        f"{switches.replace(' x ', ' ')}{switch_pin} "
        f"{_KINDS.get(kind, kind.replace('_', ' '))}{kind_pin}".rstrip(),
    )


def _figures(result: Comparison) -> Table:
    return Table(
        title="Figures",
        columns=(
            "network", "step", "MFU %", "exposed", "$ per 1T tokens",
            f"network, {result.years:g} years", "token cost",
        ),
        rows=rows_of(*(_figure_cells(line) for line in result.lines)),
        left=(0,),
        notes=(
            "In brackets the 80 % band.",
            "; ".join(f"{line.name}: {line.title}" for line in result.lines),
            "Token cost: against the cheapest, with the errors that both share cancelled.",
        ),
    )  # fmt: skip


def _figure_cells(line: Line) -> tuple[str, ...]:
    return (
        line.name,
        seconds(line.step_s),
        band(line.mfu_ratio, scale=0.01),
        percent(line.exposed_ratio),
        money(line.usd_per_1t_tokens),
        money(line.network_usd),
        "1" if line.cost_ratio.low == line.cost_ratio.high == 1 else band(line.cost_ratio),
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


def _ordered(result: Comparison) -> list[BreakEven]:
    return sorted(result.break_evens, key=lambda one: (not one.changes, -abs(one.swing_ratio)))


def _break_evens(result: Comparison) -> Iterator[Block]:
    if not result.break_evens:
        return
    ordered = _ordered(result)
    yield Table(
        title="Break-even points of all inputs",
        columns=("input", "now", "searched", "below", "above", "cost swing"),
        rows=rows_of(*(_change_cells(one) for one in ordered)),
        left=(0, 3, 4),
        notes=(
            "; ".join(f"{_short(one)}: {one.title}" for one in ordered),
            "below, above: where another network is recommended; cost swing: of its own tokens",
        ),
    )
    yield Drawing(
        chart="break_even",
        title="What would change the recommendation",
        rows=tuple(_tornado_row(one) for one in ordered),
    )


def _change_cells(one: BreakEven) -> tuple[str, ...]:
    return (
        _short(one),
        one.now,
        one.searched,
        _crossing(one.below),
        _crossing(one.above),
        percent(one.swing_ratio),
    )


def _short(one: BreakEven) -> str:
    return one.input.replace("_", " ")


def _crossing(crossing: Crossing | None) -> str:
    return "no" if crossing is None else f"{crossing.shown}: {crossing.winner}"


def _tornado_row(one: BreakEven) -> dict[str, object]:
    notes = [
        f"{word} {_crossing(crossing)}"
        for word, crossing in (("below", one.below), ("above", one.above))
        if crossing is not None
    ]
    return {
        "input": _short(one),
        "swing": one.swing_ratio * 100,
        "changes": one.changes,
        "note": ", ".join(notes),
    }


comparison = View(
    shows="weft.advise.compare.Comparison",
    verb="compare",
    page=_page,
    screen_lines=SCREEN_LINES,
    charts=("decision", "step_breakdown", "cost_bars", "break_even"),
)

"""`weft compare`: networks side by side, which to take and what would change that."""

from collections.abc import Iterator
from typing import Final

from weft.advise.break_even import BreakEven, Crossing
from weft.advise.compare import Comparison, Line, Word
from weft.advise.wording import figure
from weft.report.numbers import band, figures, money, seconds
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, Table, View, table
from weft.report.views._job import (
    all_assumptions,
    breakdown_rows,
    cost_rows,
    cost_table,
    defaults,
    grouped_s,
)

SCREEN_LINES = 40
"""Of the text without ``--full``; the first 24 hold the answer."""
MOST_CHANGES = 3
"""Inputs that the first screen names, those that change the recommendation first."""
MOST_REASONS = 2
_SIMPLER: Final = {
    Word.ADVISED: "recommended",
    Word.BEST: "costs the same",
    Word.TIED: "costs the same",
}
"""Verdicts as the picture tells them apart; the others are one."""
_KINDS: Final = {"rail_optimized": "rails joined", "rail_only": "rails apart"}


def _title(result: Comparison) -> str:
    return result.recommendation.sentence


def _answer(result: Comparison) -> Iterator[Block]:
    yield Table(
        columns=("network", "$ per 1T", "more", "step (80 % band)", "network", "verdict"),
        rows=tuple(map(_cells, result.lines)),
        left=(0, 5),
    )
    yield Sentences(lines=tuple(f"Failed: {fault}" for fault in result.failed))
    yield Sentences(title="Reasons", lines=result.recommendation.reasons[:MOST_REASONS])
    if result.break_evens:
        changes = [found.text for found in _ordered(result) if found.changes][:MOST_CHANGES]
        nothing = "none of the inputs searched changes it within its range"
        yield Sentences(
            title="What would change the recommendation", lines=tuple(changes) or (nothing,)
        )
    yield Table(
        title="Found for each (* pinned)",
        columns=("network", "parallelism", "NICs", "switches"),
        rows=tuple(map(_found_cells, result.lines)),
        left=(0, 1, 2, 3),
    )
    left_out = tuple(f"{network.name}: {network.reason}" for network in result.left_out)
    yield Sentences(title="Left out", lines=left_out)
    yield from defaults(result.provenance)


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
    if any("over budget" in objection for objection in line.objections):
        return "over budget"
    return line.verdict.value.removesuffix(" and slower")


def _found_cells(line: Line) -> tuple[str, ...]:
    by_key = {choice.key: (choice.value, "*" * choice.pinned) for choice in line.chosen}
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


def _blocks(result: Comparison) -> Iterator[Block]:
    lines, costs = result.lines, {line.title: line.prediction.cost for line in result.lines}
    yield Facts(title="Question", pairs=tuple(_question(result)))
    yield Sentences(title="All reasons", lines=result.recommendation.reasons)
    yield _figures(result)
    yield Drawing(chart="decision", title=_decided(result), rows=tuple(map(_bar, lines)))
    steps = (breakdown_rows(line.prediction.step, line.title) for line in lines)
    yield Drawing(
        chart="step_breakdown",
        title="Where the time of a step goes",
        rows=tuple(row for rows in steps for row in rows),
    )
    yield _breakdown(result)
    yield Drawing(
        chart="cost_bars",
        title="Total cost of ownership",
        rows=tuple(cost_rows(costs)),
        marks={"years": result.years},
    )
    yield cost_table({line.name: line.prediction.cost for line in lines}, result.years)
    others = tuple(f"{line.name}: {other}" for line in lines for other in line.alternatives)
    yield Sentences(title="The next best of each network", lines=others)
    yield from _break_evens(result)
    warned = (f"{line.name}: {warning}" for line in lines
              for warning in line.prediction.cost.warnings)  # fmt: skip
    yield Sentences(title="Warnings", lines=tuple(dict.fromkeys(warned)))
    yield Sentences(title="Notes", lines=result.notes)
    yield all_assumptions(result.provenance, (line.prediction for line in lines))


def _decided(result: Comparison) -> str:
    """Name the network to take, as a picture without its page must."""
    job, cluster = result.job.model.name, result.cluster.gpus
    found = [line.title for line in result.lines if line.verdict is Word.ADVISED]
    taken = f"take {found[0]}" if found else "no network meets the limits"
    return f"{job} on {cluster:,} GPUs: {taken}"


def _bar(line: Line) -> dict[str, object]:
    usd, step = line.usd_per_1t_tokens, line.step_s
    return {
        "label": line.title,
        "verdict": _SIMPLER.get(line.verdict, "other"),
        "usd": usd.value, "usd_low": usd.low, "usd_high": usd.high,
        "usd_text": money(usd.value),
        "step_s": step.value, "step_s_low": step.low, "step_s_high": step.high,
        "step_s_text": seconds(step.value),
    }  # fmt: skip


def _question(result: Comparison) -> Iterator[tuple[str, str]]:
    host = result.cluster.host
    yield "cluster", f"{figure(result.cluster.hosts, 'hosts')} of {host.gpus} {host.gpu}"
    for job, weight in zip(result.jobs, result.weights, strict=True):
        share = "" if len(result.jobs) == 1 else f", {weight:.0%} of the tokens"
        yield (
            "job",
            (
                f"{job.model.name} on {figure(job.gpus or result.cluster.gpus, 'GPUs')}, "
                f"{job.precision}, {figure(job.global_batch, 'sequences')} of "
                f"{job.sequence_length} tokens{share}"
            ),
        )
    yield "pinned", ", ".join(result.pinned) or "nothing of the network"
    yield "networks timed", str(result.timed)


def _figures(result: Comparison) -> Table:
    columns: Columns = {
        "network": "name", "step": "step_s",
        "MFU %": lambda line: band(line.mfu_ratio, scale=0.01),
        "exposed": "exposed_ratio", "$ per 1T tokens": "usd_per_1t_tokens",
        f"network, {result.years:g} years": "network_usd", "token cost": _token_cost,
    }  # fmt: skip
    return table(
        result.lines,
        columns,
        title="Figures",
        notes=(
            "In brackets the 80 % band.",
            "; ".join(f"{line.name}: {line.title}" for line in result.lines),
            "Token cost: against the cheapest, with the errors that both share cancelled.",
        ),
    )


def _token_cost(line: Line) -> str:
    ratio = line.cost_ratio
    return "1" if ratio.low == ratio.high == 1 else band(ratio)


def _breakdown(result: Comparison) -> Table:
    groups = {line.name: grouped_s(line.prediction.step) for line in result.lines}
    every = dict.fromkeys(name for parts in groups.values() for name in parts)
    names = [n for n in every if any(parts.get(n, 0.0) > 0 for parts in groups.values())]
    return Table(
        title="Where the time of a step goes, in seconds",
        columns=("network", *names, "step"),
        rows=tuple(
            (
                line.name,
                *(figures(groups[line.name].get(name, 0.0)) for name in names),
                figures(line.step_s.value),
            )
            for line in result.lines
        ),
    )


def _ordered(result: Comparison) -> list[BreakEven]:
    return sorted(
        result.break_evens, key=lambda found: (not found.changes, -abs(found.swing_ratio))
    )


def _break_evens(result: Comparison) -> Iterator[Block]:
    if not result.break_evens:
        return
    ordered = _ordered(result)
    columns: Columns = {
        "input": _short, "now": "now", "searched": "searched",
        "below": lambda found: _crossing(found.below),
        "above": lambda found: _crossing(found.above), "cost swing": "swing_ratio",
    }  # fmt: skip
    yield table(
        ordered,
        columns,
        title="Break-even points of all inputs",
        left=(0, 3, 4),
        notes=(
            "; ".join(f"{_short(found)}: {found.title}" for found in ordered),
            "below, above: where another network is recommended; cost swing: of its own tokens",
        ),
    )
    yield Drawing(
        chart="break_even",
        title="What would change the recommendation",
        rows=tuple(map(_tornado_row, ordered)),
    )


def _short(found: BreakEven) -> str:
    return found.input.replace("_", " ")


def _crossing(crossing: Crossing | None) -> str:
    return "no" if crossing is None else f"{crossing.shown}: {crossing.winner}"


def _tornado_row(found: BreakEven) -> dict[str, object]:
    notes = [
        f"{word} {_crossing(crossing)}"
        for word, crossing in (("below", found.below), ("above", found.above))
        if crossing is not None
    ]
    return {
        "input": _short(found),
        "swing": found.swing_ratio * 100,
        "changes": found.changes,
        "note": ", ".join(notes),
    }


comparison = View(
    shows="weft.advise.compare.Comparison", verb="compare", title=_title, answer=_answer,
    blocks=_blocks, screen_lines=SCREEN_LINES,
    charts=("decision", "step_breakdown", "cost_bars", "break_even"),
)  # fmt: skip

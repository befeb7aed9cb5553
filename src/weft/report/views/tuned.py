"""`weft tune`: the best settings, beside what ships, and what each knob is worth."""

from collections.abc import Iterator
from typing import Final

from weft.report.numbers import figures, percent, seconds
from weft.report.page import Block, Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer
from weft.results import Estimate
from weft.tune.search import ALIKE_RATIO, BEST, START
from weft.tune.tuned import Contender, ObjectiveLine, Trial, Tuned, Worth

SHOWN_FRONT: Final = 8
WIDE: Final = 5.0
"""A chart whose figures differ by more is drawn on a logarithmic scale."""
PER_CENT: Final = 100
NO_EFFECT: Final = "no effect"
ALIKE: Final = (
    f"within {percent(ALIKE_RATIO)} of each other; then the next objective "
    "decides, and a knob with less effect is reverted"
)


def _where(result: Tuned) -> str:
    file = result.saved or "FILE"
    written = f"Written to {file}" if result.saved else "--save FILE writes the settings"
    return (
        f"{written}; weft plan --tuning {file} plans with them, and "
        f"fabric: {{settings: {file}}} gives them to a cluster."
    )


def _page(result: Tuned) -> Page:
    return Page(
        title=f"Tuned for {', '.join(one.name for one in result.scenarios)}: {_found(result)}",
        answer=(
            *_contenders(result),
            *_worths(result),
            Sentences(lines=(_where(result), *_incomplete(result))),
        ),
        blocks=(
            Facts(title="Search", pairs=tuple(_facts(result))),
            _front(result),
            *_drawings(result),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        footer=footer(result.provenance),
    )


def _facts(result: Tuned) -> Iterator[tuple[str, str]]:
    first = result.scenarios[0].cluster
    yield "network", f"{first.fabric.kind}, {first.topology.kind}"
    yield (
        "search",
        (
            f"{len(result.trials)} trials of {_knobs(result)}, seeds "
            f"{_list(result.seeds)}; compared with seeds {_list(result.check_seeds)}"
        ),
    )
    for line in result.objectives:
        yield f"objective {line.title}", f"{line.meaning}; {line.over} of all runs"
    yield "as good as", ALIKE


def _incomplete(result: Tuned) -> Iterator[str]:
    if not result.complete:
        more = f"; run again with --study {result.study} to go on" if result.study else ""
        yield f"The search was interrupted{more}."


def _found(result: Tuned) -> str:
    record = result.tuning.record
    if record is None:
        first = result.objectives[0]
        return (
            f"{first.title} {figures(result.trial.scores[first.name])} on the seeds of the "
            "search; not compared on others"
        )
    changed = sum(one.kept for one in result.worths)
    if record.gain_ratio <= 0 or not changed:
        return f"nothing better than the first settings, on seeds of its own{_better(result)}"
    return (
        f"{percent(record.gain_ratio)} less time than the first settings "
        f"({percent(record.gain_low_ratio)} to {percent(record.gain_high_ratio)} by run), "
        f"{changed} of {_knobs(result)} changed{_as_good(result)}"
    )


def _better(result: Tuned) -> str:
    """Name the best of the shipped settings where it is better in what counts first."""

    def scores(one: Contender) -> tuple[float, ...]:
        signs = {line.name: -1 if line.more_is_better else 1 for line in result.objectives}
        return tuple(sign * one.scores[name].value for name, sign in signs.items())

    best = min(result.contenders, key=scores, default=None)
    ours = next((one for one in result.contenders if one.name == BEST), None)
    if best is None or ours is None or scores(best)[0] == scores(ours)[0]:
        return ""
    return f"; {best.name}, as shipped, is better"


def _knobs(result: Tuned) -> str:
    count = len(result.trial.values)
    return f"{count} knob" + "s" * (count != 1)


def _as_good(result: Tuned) -> str:
    """Say which shipped settings are as good in what counts first."""
    line = result.objectives[0]
    best = next(one for one in result.contenders if one.name == BEST).scores[line.name].value
    alike = [
        one.name
        for one in result.contenders
        if one.name not in {BEST, START}
        and (one.scores[line.name].value >= best if line.more_is_better
             else one.scores[line.name].value <= best)
    ]  # fmt: skip
    give = "gives" if len(alike) == 1 else "give"
    return f"; {' and '.join(alike)} {give} as much" if alike else ""


def _list(seeds: tuple[int, ...]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def _contenders(result: Tuned) -> Iterator[Block]:
    if not result.contenders:
        return
    ends = [one.name for one in result.contenders if not one.ended]
    notes = ["In brackets the range over scenarios and seeds; times in brackets by seed."]
    if ends:
        notes.append(f"{', '.join(ends)}: stopped at ten times the time of the first settings.")
    first = 1 + len(result.objectives)
    last = first + len(result.scenarios) - 1
    yield Table(
        title="Settings compared",
        columns=(
            "settings",
            *(one.title for one in result.objectives),
            *(one.name for one in result.scenarios),
            "drops",
        ),
        rows=rows_of(*(_contender_cells(result, one) for one in result.contenders)),
        notes=tuple(notes),
        least=tuple(range(last, first - 1, -1)),
    )


def _contender_cells(result: Tuned, one: Contender) -> tuple[str, ...]:
    return (
        {BEST: "best found", START: "first settings"}.get(one.name, one.name),
        *(_score(line, one.scores[line.name]) for line in result.objectives),
        *(seconds(time) for time in one.times_s),
        str(one.drops),
    )


def _score(line: ObjectiveLine, value: Estimate | float) -> str:
    """Show a score: shares of time in per cent, ratios as they are."""
    one = value if isinstance(value, Estimate) else None
    number = value.value if isinstance(value, Estimate) else value
    if line.name == "paused_ratio":
        return percent(one or number)
    if one is None:
        return figures(number)
    return f"{figures(one.value)} [{figures(one.low)}–{figures(one.high)}]"  # noqa: RUF001 - a range takes an en dash


def _worths(result: Tuned) -> Iterator[Block]:
    if not result.worths:
        return
    yield Table(
        title="Effect of each knob",
        columns=(
            "knob", "where", "from", "to",
            *(f"{line.title} if reverted" for line in result.objectives), "sure", "changed",
        ),
        rows=rows_of(*(_worth_cells(result, one) for one in result.worths)),
        left=(0, 1),
        least=(1, *range(len(result.objectives) + 3, 4, -1)),
        notes=(
            (
                "If reverted: change of the objective when this knob alone returns to its "
                "first value, range over scenarios and seeds."
            ),
            "Sure: no run was better without it. Knobs without effect keep their first value.",
            *_no_effect(result),
        ),
    )  # fmt: skip


def _no_effect(result: Tuned) -> Iterator[str]:
    if any(_sure(one) == NO_EFFECT for one in result.worths):
        yield (
            "No effect: every run gave the same without it; no traffic reached its threshold "
            "with the other settings."
        )


def _worth_cells(result: Tuned, one: Worth) -> tuple[str, ...]:
    return (
        one.title,
        one.place,
        value(one.knob, one.start),
        value(one.knob, one.best),
        *(_change(line, one.harm[line.name]) for line in result.objectives),
        _sure(one),
        "yes" if one.kept else "no",
    )


def _sure(one: Worth) -> str:
    if all(change.low == change.high == 0 for change in one.harm.values()):
        return NO_EFFECT
    return "yes" if one.sure else "no"


def _change(line: ObjectiveLine, change: Estimate) -> str:
    if change.low == change.high == 0:
        return "0"
    if line.name in {"tail_ratio", "fairness_ratio"}:
        scale, unit = 1.0, ""
    else:
        scale, unit = 0.01, " %"
    parts = [f"{one / scale:+.3g}" for one in (change.value, change.low, change.high)]
    return f"{parts[0]} [{parts[1]} to {parts[2]}]{unit}"


def value(knob: str, number: float) -> str:
    """Show the value of a knob by the end of its name.

    >>> value("rate_timer_s", 2e-5), value("xoff_bytes", 2_000_000.0), value("pmax_ratio", 0.2)
    ('20.0 us', '2.00 MB', '0.200')
    """
    if knob.endswith("_s"):
        return seconds(number)
    if knob.endswith("_bytes"):
        unit, scale = next(
            (u, s) for u, s in (("MB", 1e6), ("kB", 1e3), ("B", 1.0)) if number >= s or s == 1
        )
        return f"{figures(number / scale)} {unit}"
    return figures(number)


def _front(result: Tuned) -> Table:
    front = sorted(
        (one for one in result.trials if one.front or one.number == result.best),
        key=lambda one: (one.scores[result.objectives[0].name], one.number != result.best),
    )
    apart = list({tuple(one.scores.values()): one for one in reversed(front)}.values())[::-1]
    shown = [one for place, one in enumerate(apart)
             if place < SHOWN_FRONT or one.number == result.best]  # fmt: skip
    alike, more = len(front) - len(apart), len(apart) - len(shown)
    return Table(
        title="Front of the search",
        columns=("trial", *(line.title for line in result.objectives), ""),
        rows=rows_of(*(_front_cells(result, one) for one in shown)),
        notes=(
            "No trial is better in one objective and as good in the others; search's seeds."
            + (f" {alike} more gave the same." if alike else "")
            + (f" {more} more in -o json." if more else ""),
        ),
    )


def _front_cells(result: Tuned, one: Trial) -> tuple[str, ...]:
    return (
        str(one.number),
        *(_score(line, one.scores[line.name]) for line in result.objectives),
        "chosen" if one.number == result.best else "",
    )


def _drawings(result: Tuned) -> Iterator[Drawing]:
    if len(result.objectives) > 1:
        x, y = result.objectives[:2]
        rows = tuple(_points(result, x.name, y.name))
        yield Drawing(
            chart="tuning_front",
            name="front",
            title=f"{len(result.trials)} settings tried, and shipped ones on new seeds",
            rows=rows,
            marks={"x_title": _title(x), "y_title": _title(y),
                   "x_scale": _scale(rows, "x"), "y_scale": _scale(rows, "y")},
        )  # fmt: skip
    if result.contenders:
        first = result.objectives[0]
        yield Drawing(
            chart="knob_worth",
            name="knobs",
            title="Effect of each knob of the best settings",
            rows=tuple(
                _bar(one, first.name) for one in result.worths if any(_ends(one, first.name))
            ),
            marks={"title": f"{first.title} lost when the knob alone goes back, %"},
        )


def _title(line: ObjectiveLine) -> str:
    return f"{line.title}: {line.meaning}"


def _scale(rows: tuple[dict[str, object], ...], key: str) -> str:
    found = [float(str(row[key])) for row in rows]
    return "log" if min(found) > 0 and max(found) / min(found) > WIDE else "linear"


def _points(result: Tuned, x: str, y: str) -> Iterator[dict[str, object]]:
    for one in result.trials:
        kind = "on the front" if one.front else "tried"
        kind = "best" if one.number == result.best else kind
        yield {"x": one.scores[x], "y": one.scores[y], "kind": kind, "name": ""}
    places: dict[tuple[float, float], list[str]] = {}
    for other in result.contenders:
        if other.name != BEST:
            at = other.scores[x].value, other.scores[y].value
            places.setdefault(at, []).append(other.name)
    for number, ((across, up), names) in enumerate(sorted(places.items())):
        yield {"x": across, "y": up, "kind": "shipped or start", "side": number % 2,
               "name": " = ".join(names)}  # fmt: skip


def _ends(one: Worth, first: str) -> tuple[float, float]:
    return one.harm[first].low, one.harm[first].high


def _bar(one: Worth, first: str) -> dict[str, object]:
    harm = one.harm[first]
    return {
        "knob": one.title,
        "mean": harm.value * PER_CENT,
        "low": harm.low * PER_CENT,
        "high": harm.high * PER_CENT,
        "kept": "changed" if one.kept else "left as it was",
    }


tuned = View(shows="weft.tune.tuned.Tuned", verb="tune", page=_page, charts=("front", "knobs"))

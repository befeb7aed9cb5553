"""`weft tune`: the best settings, beside what ships, and what each knob is worth."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from weft.report.numbers import amount, band, figures, percent, seconds
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, Table, View, many, table
from weft.results import Estimate
from weft.tune.search import ALIKE_RATIO, BEST, START
from weft.tune.tuned import Contender, ObjectiveLine, Tuned, Worth

SHOWN_FRONT: Final = 8
WIDE: Final = 5.0
"""A chart whose figures differ by more is drawn on a logarithmic scale."""
NO_EFFECT: Final = "no effect"
ALIKE: Final = (
    f"within {percent(ALIKE_RATIO)} of each other; then the next objective "
    "decides, and a knob with less effect is reverted"
)


def _title(result: Tuned) -> str:
    return f"Tuned for {', '.join(own.name for own in result.scenarios)}: {_found(result)}"


def _answer(result: Tuned) -> Iterator[Block]:
    if result.contenders:
        yield _contenders(result)
    if result.worths:
        yield _worths(result)
    file = result.saved or "FILE"
    written = f"Written to {file}" if result.saved else "--save FILE writes the settings"
    where = (
        f"{written}; weft plan --tuning {file} plans with them, and "
        f"fabric: {{settings: {file}}} gives them to a cluster."
    )
    yield Sentences(lines=(where, *_incomplete(result)))


def _blocks(result: Tuned) -> Iterator[Block]:
    yield Facts(title="Search", pairs=tuple(_facts(result)))
    yield _front(result)
    yield from _drawings(result)


def _facts(result: Tuned) -> Iterator[tuple[str, str]]:
    first = result.scenarios[0].cluster
    yield "network", f"{first.fabric.kind}, {first.topology.kind}"
    trials = f"{len(result.trials)} trials of {_knobs(result)}, seeds {_list(result.seeds)}"
    yield "search", f"{trials}; compared with seeds {_list(result.check_seeds)}"
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
    changed = sum(worth.kept for worth in result.worths)
    if record.gain_ratio <= 0 or not changed:
        return f"nothing better than the first settings, on seeds of its own{_better(result)}"
    return (
        f"{percent(record.gain_ratio)} less time than the first settings "
        f"({percent(record.gain_low_ratio)} to {percent(record.gain_high_ratio)} by run), "
        f"{changed} of {_knobs(result)} changed{_as_good(result)}"
    )


def _better(result: Tuned) -> str:
    """Name the best of the shipped settings where it is better in what counts first."""

    def scores(settings: Contender) -> tuple[float, ...]:
        signs = {line.name: -1 if line.more_is_better else 1 for line in result.objectives}
        return tuple(sign * settings.scores[name].value for name, sign in signs.items())

    best = min(result.contenders, key=scores, default=None)
    ours = next((own for own in result.contenders if own.name == BEST), None)
    if best is None or ours is None or scores(best)[0] == scores(ours)[0]:
        return ""
    return f"; {best.name}, as shipped, is better"


def _knobs(result: Tuned) -> str:
    return many(len(result.trial.values), "knob")


def _as_good(result: Tuned) -> str:
    """Say which shipped settings are as good in what counts first."""
    line = result.objectives[0]
    sign = -1 if line.more_is_better else 1
    scores = {own.name: sign * own.scores[line.name].value for own in result.contenders}
    alike = [
        name for name, score in scores.items()
        if name not in {BEST, START} and score <= scores[BEST]
    ]  # fmt: skip
    give = "gives" if len(alike) == 1 else "give"
    return f"; {' and '.join(alike)} {give} as much" if alike else ""


def _list(seeds: tuple[int, ...]) -> str:
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def _contenders(result: Tuned) -> Table:
    ends = [own.name for own in result.contenders if not own.ended]
    notes = ["In brackets the range over scenarios and seeds; times in brackets by seed."]
    if ends:
        notes.append(f"{', '.join(ends)}: stopped at ten times the time of the first settings.")
    first = 1 + len(result.objectives)
    last = first + len(result.scenarios) - 1
    return Table(
        title="Settings compared",
        columns=(
            "settings",
            *(objective.title for objective in result.objectives),
            *(scenario.name for scenario in result.scenarios),
            "drops",
        ),
        rows=tuple(_contender_cells(result, own) for own in result.contenders),
        notes=tuple(notes),
        least=tuple(range(last, first - 1, -1)),
    )


def _contender_cells(result: Tuned, own: Contender) -> tuple[str, ...]:
    return (
        {BEST: "best found", START: "first settings"}.get(own.name, own.name),
        *(_score(line, own.scores[line.name]) for line in result.objectives),
        *map(seconds, own.times_s),
        str(own.drops),
    )


def _score(line: ObjectiveLine, score: Estimate | float) -> str:
    """Show a score: shares of time in per cent, ratios as they are."""
    if line.name == "paused_ratio":
        return percent(score)
    return band(score) if isinstance(score, Estimate) else figures(score)


def _worths(result: Tuned) -> Table:
    reverted: Columns = {
        f"{line.title} if reverted": partial(_change, line) for line in result.objectives
    }
    columns: Columns = {
        "knob": "title", "where": "place", "from": lambda worth: value(worth.knob, worth.start),
        "to": lambda worth: value(worth.knob, worth.best), **reverted, "sure": _sure,
        "changed": "kept",
    }  # fmt: skip
    reverted_note = (
        "If reverted: change of the objective when this knob alone returns to its first value, "
        "range over scenarios and seeds."
    )
    no_effect = (
        "No effect: every run gave the same without it; no traffic reached its threshold "
        "with the other settings."
    )
    return table(
        result.worths,
        columns,
        title="Effect of each knob",
        left=(0, 1),
        least=(1, *range(len(result.objectives) + 3, 4, -1)),
        notes=(
            reverted_note,
            "Sure: no run was better without it. Knobs without effect keep their first value.",
            *(no_effect,) * (NO_EFFECT in map(_sure, result.worths)),
        ),
    )


def _sure(worth: Worth) -> str:
    if all(change.low == change.high == 0 for change in worth.harm.values()):
        return NO_EFFECT
    return "yes" if worth.sure else "no"


def _change(line: ObjectiveLine, worth: Worth) -> str:
    change = worth.harm[line.name]
    if change.low == change.high == 0:
        return "0"
    plain = line.name in {"tail_ratio", "fairness_ratio"}
    scale, unit = (1.0, "") if plain else (0.01, " %")
    ends = (change.value, change.low, change.high)
    middle, low, high = (f"{end / scale:+.3g}" for end in ends)
    return f"{middle} [{low} to {high}]{unit}"


def value(knob: str, number: float) -> str:
    """Show the value of a knob by the end of its name.

    >>> value("rate_timer_s", 2e-5), value("xoff_bytes", 2_000_000.0), value("pmax_ratio", 0.2)
    ('20.0 us', '2.00 MB', '0.200')
    """
    if knob.endswith("_s"):
        return seconds(number)
    return amount(number) if knob.endswith("_bytes") else figures(number)


def _front(result: Tuned) -> Table:
    first = result.objectives[0].name
    front = sorted(
        (trial for trial in result.trials if trial.front or trial.number == result.best),
        key=lambda trial: (trial.scores[first], trial.number != result.best),
    )
    apart = list({tuple(t.scores.values()): t for t in reversed(front)}.values())[::-1]
    shown = [trial for place, trial in enumerate(apart)
             if place < SHOWN_FRONT or trial.number == result.best]  # fmt: skip
    alike, more = len(front) - len(apart), len(apart) - len(shown)
    rows = (
        (
            str(trial.number),
            *(_score(line, trial.scores[line.name]) for line in result.objectives),
            "chosen" if trial.number == result.best else "",
        )
        for trial in shown
    )
    return Table(
        title="Front of the search",
        columns=("trial", *(line.title for line in result.objectives), ""),
        rows=tuple(rows),
        notes=(
            "No trial is better in one objective and as good in the others; search's seeds."
            + (f" {alike} more gave the same." if alike else "")
            + (f" {more} more in -o json." if more else ""),
        ),
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
            marks={"x_title": f"{x.title}: {x.meaning}", "y_title": f"{y.title}: {y.meaning}",
                   "x_scale": _scale(rows, "x"), "y_scale": _scale(rows, "y")},
        )  # fmt: skip
    if result.contenders:
        first = result.objectives[0]
        yield Drawing(
            chart="knob_worth",
            name="knobs",
            title="Effect of each knob of the best settings",
            rows=tuple(
                _bar(worth, harm)
                for worth in result.worths
                if (harm := worth.harm[first.name]).low or harm.high
            ),
            marks={"title": f"{first.title} lost when the knob alone goes back, %"},
        )


def _scale(rows: tuple[dict[str, object], ...], key: str) -> str:
    found = [float(str(row[key])) for row in rows]
    return "log" if min(found) > 0 and max(found) / min(found) > WIDE else "linear"


def _points(result: Tuned, x: str, y: str) -> Iterator[dict[str, object]]:
    for trial in result.trials:
        kind = "on the front" if trial.front else "tried"
        kind = "best" if trial.number == result.best else kind
        yield {"x": trial.scores[x], "y": trial.scores[y], "kind": kind, "name": ""}
    places: dict[tuple[float, float], list[str]] = {}
    for other in result.contenders:
        if other.name != BEST:
            at = other.scores[x].value, other.scores[y].value
            places.setdefault(at, []).append(other.name)
    for number, ((across, up), names) in enumerate(sorted(places.items())):
        yield {"x": across, "y": up, "kind": "shipped or start", "side": number % 2,
               "name": " = ".join(names)}  # fmt: skip


def _bar(worth: Worth, harm: Estimate) -> dict[str, object]:
    return {
        "knob": worth.title,
        "mean": harm.value * 100, "low": harm.low * 100, "high": harm.high * 100,
        "kept": "changed" if worth.kept else "left as it was",
    }  # fmt: skip


tuned = View(
    shows="weft.tune.tuned.Tuned", verb="tune", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, charts=("front", "knobs"),
)  # fmt: skip

"""`weft accuracy --judge`: how often the judge of benchmarks is right."""

from collections.abc import Callable, Iterator

from weft.accuracy.judge import JudgedFault, JudgedRun, JudgeScore, Rates, Stated
from weft.bench.verdict import Outcome
from weft.report.page import Block, Facts, Page, Table, View, rows_of
from weft.report.views._provenance import footer

_MOST_TAKEN = 3


def _page(result: JudgeScore) -> Page:
    return Page(
        title="How often the judge is right",
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _blocks(result: JudgeScore) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    yield _rates(result)
    odd = [one for one in result.runs if one.outcome != Outcome.PASS]
    yield _runs("Healthy sweeps that did not pass", odd)
    if result.broken:
        yield _runs("Sweeps of systems not known to be healthy", result.broken)
    yield Table(
        title="Whether the stated probability of the leading group holds",
        columns=("stated", "trials", "mean stated", "right"),
        rows=rows_of(*(_stated(one) for one in result.by_model.stated)),
        left=(0,),
    )
    yield Table(
        title="By fault, by the model",
        columns=(
            "fault",
            "trials",
            "FAIL",
            "open",
            "PASS",
            "first",
            "first 3",
            "group",
            "taken for",
        ),
        rows=rows_of(*(_fault(one) for one in result.faults if one.trials)),
        left=(0, 8),
        notes=(
            "First: named first among the faults. Group: among those said to fit equally.",
            "A fault within the band of the model cannot be detected.",
        ),
    )


def _facts(result: JudgeScore) -> Iterator[tuple[str, str]]:
    yield "healthy sweeps", f"{result.healthy} (left out: {result.left_out})"
    false = f"{result.false_fails} of {result.healthy} ({result.false_fail_ratio:.1%})"
    yield "false FAIL", f"{false}; {result.stated_ratio:.0%} is allowed"
    yield "healthy, INCONCLUSIVE", f"{result.healthy_inconclusive} of {result.healthy}"
    yield "PASS with the shape of a fault", f"{result.false_suspects} of {result.healthy}"
    yield "false FAIL by a good run", f"{result.good_false_fails} of {result.healthy}"


def _rates(result: JudgeScore) -> Table:
    ways = (result.by_model, result.by_three_collectives, result.by_good_run)
    rows: tuple[tuple[str, Callable[[Rates], str]], ...] = (
        ("trials", lambda one: f"{one.trials}"),
        ("FAIL", lambda one: f"{one.failed_ratio:.0%}"),
        ("PASS", lambda one: f"{one.passed_ratio:.0%}"),
        ("of them with the shape of a fault", lambda one: f"{one.suspect_ratio:.0%}"),
        ("PASS, of those that cost over 20 %", lambda one: f"{one.harmful_passed_ratio:.0%}"),
        ("right fault first", lambda one: f"{one.first_ratio:.0%}"),
        ("right fault in the first 3", lambda one: f"{one.top3_ratio:.0%}"),
        ("right fault in the group", lambda one: f"{one.group_ratio:.0%}"),
        ("faults in a group", lambda one: f"{one.group_size:.1f}"),
        ("groups of one fault", lambda one: f"{one.alone}"),
        ("of them right", lambda one: f"{one.alone_ratio:.0%}"),
        ("runs with lost NICs", lambda one: f"{one.counted}"),
        ("amount, right", lambda one: f"{one.count_first_ratio:.0%}"),
        ("amount, among those named", lambda one: f"{one.count_told_ratio:.0%}"),
        ("amounts named", lambda one: f"{one.counts_told:.1f}"),
    )
    return Table(
        title="Faults added to healthy sweeps",
        columns=("", "by the model", "three collectives", "by a good run"),
        rows=rows_of(*((name, *(show(one) for one in ways)) for name, show in rows)),
        left=(0,),
        notes=(
            "Group: the most probable faults, which the run cannot distinguish.",
            "Three collectives: all-to-all and send and receive, next to an all-reduce.",
            "A good run: another of the same system, a few per cent apart from day to day.",
        ),
    )


def _stated(one: Stated) -> tuple[str, ...]:
    return (
        f"{one.from_ratio:.0%} to {one.to_ratio:.0%}", f"{one.trials}",
        f"{one.stated_ratio:.0%}", f"{one.right_ratio:.0%}",
    )  # fmt: skip


def _runs(title: str, runs: "list[JudgedRun] | tuple[JudgedRun, ...]") -> Table:
    return Table(
        title=title,
        columns=("run", "health", "sizes", "verdict", "most probable"),
        rows=rows_of(*((r.run, r.health, f"{r.sizes}", r.outcome, r.first) for r in runs)),
        left=(0, 1, 3, 4),
    )


def _fault(one: JudgedFault) -> tuple[str, ...]:
    others = [f"{name} {count}" for name, count in one.taken_for if name != one.fault]
    return (
        one.fault, f"{one.trials}", f"{one.failed}", f"{one.inconclusive}", f"{one.passed}",
        f"{one.first}", f"{one.top3}", f"{one.group}", ", ".join(others[:_MOST_TAKEN]),
    )  # fmt: skip


judge_score = View(shows="weft.accuracy.judge.JudgeScore", verb="", page=_page)

"""`weft accuracy --judge`: how often the judge of benchmarks is right."""

from collections.abc import Iterator

from weft.accuracy.judge import JudgedFault, JudgedRun, JudgeScore, Stated
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
    odd = [one for one in result.runs if one.outcome != Outcome.PASS]
    yield _runs("Healthy sweeps that did not pass", odd)
    if result.broken:
        yield _runs("Sweeps of systems not known to be healthy", result.broken)
    yield Table(
        title="Whether the stated probability of the leading group holds",
        columns=("stated", "trials", "mean stated", "right"),
        rows=rows_of(*(_stated(one) for one in result.stated)),
        left=(0,),
    )
    yield Table(
        title="Faults laid over healthy sweeps",
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
            "A fault within the band of the model cannot be told.",
        ),
    )


def _facts(result: JudgeScore) -> Iterator[tuple[str, str]]:
    yield "healthy sweeps", f"{result.healthy} (left out: {result.left_out})"
    false = f"{result.false_fails} of {result.healthy} ({result.false_fail_ratio:.1%})"
    yield "false FAIL", f"{false}; {result.stated_ratio:.0%} is allowed"
    yield "healthy, INCONCLUSIVE", f"{result.healthy_inconclusive} of {result.healthy}"
    yield "faulty trials", f"{result.trials}"
    yield (
        "of them",
        f"{result.failed_ratio:.0%} FAIL, {result.passed_ratio:.0%} PASS, else INCONCLUSIVE",
    )
    harm = f"{result.harmful_passed_ratio:.0%} of {result.harmful}"
    yield "PASS with real harm", f"{harm} that slow a range of sizes by more than 20 %"
    group = f"{result.group_ratio:.0%}; it has {result.group_size:.1f} faults on average"
    yield "right fault in the group", group
    yield "group of one fault", f"{result.alone} trials, right in {result.alone_ratio:.0%}"
    yield "right fault first", f"{result.first_ratio:.0%}"
    yield "right fault in the first 3", f"{result.top3_ratio:.0%}"


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

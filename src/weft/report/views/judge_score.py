"""`weft accuracy --judge`: how often the judge of benchmarks is right."""

from collections.abc import Callable, Iterator, Sequence

from weft.accuracy.judge import JudgedFault, JudgedRun, JudgeScore, Rates
from weft.bench.verdict import Outcome
from weft.report.page import Block, Facts, Table, View, table

_MOST_TAKEN = 3


def _blocks(result: JudgeScore) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    yield _rates(result)
    odd = [run for run in result.runs if run.outcome != Outcome.PASS]
    yield _runs("Healthy sweeps that did not pass", odd)
    if result.broken:
        yield _runs("Sweeps of systems not known to be healthy", result.broken)
    yield table(
        result.by_model.stated,
        {
            "stated": lambda group: f"{group.from_ratio:.0%} to {group.to_ratio:.0%}",
            "trials": "trials", "mean stated": lambda group: f"{group.stated_ratio:.0%}",
            "right": lambda group: f"{group.right_ratio:.0%}",
        },
        title="Whether the stated probability of the leading group holds",
    )  # fmt: skip
    yield table(
        [fault for fault in result.faults if fault.trials],
        {
            "fault": "fault", "trials": "trials", "FAIL": "failed", "open": "inconclusive",
            "PASS": "passed", "first": "first", "first 3": "top3", "group": "group",
            "taken for": _taken_for,
        },
        title="By fault, by the model",
        left=(0, 8),
        notes=(
            "First: named first among the faults. Group: among those said to fit equally.",
            "A fault within the band of the model cannot be detected.",
        ),
    )  # fmt: skip


def _facts(result: JudgeScore) -> Iterator[tuple[str, str]]:
    yield "healthy sweeps", f"{result.healthy} (left out: {result.left_out})"
    false = f"{result.false_fails} of {result.healthy} ({result.false_fail_ratio:.1%})"
    yield "false FAIL", f"{false}; {result.stated_ratio:.0%} is allowed"
    yield "healthy, INCONCLUSIVE", f"{result.healthy_inconclusive} of {result.healthy}"
    yield "PASS with the shape of a fault", f"{result.false_suspects} of {result.healthy}"
    yield "false FAIL by a good run", f"{result.good_false_fails} of {result.healthy}"


def _rates(result: JudgeScore) -> Table:
    ways = (result.by_model, result.by_three_collectives, result.by_good_run)
    shown: dict[str, Callable[[Rates], str]] = {
        "trials": lambda rates: f"{rates.trials}",
        "FAIL": lambda rates: f"{rates.failed_ratio:.0%}",
        "PASS": lambda rates: f"{rates.passed_ratio:.0%}",
        "of them with the shape of a fault": lambda rates: f"{rates.suspect_ratio:.0%}",
        "PASS, of those that cost over 20 %": lambda rates: f"{rates.harmful_passed_ratio:.0%}",
        "right fault first": lambda rates: f"{rates.first_ratio:.0%}",
        "right fault in the first 3": lambda rates: f"{rates.top3_ratio:.0%}",
        "right fault in the group": lambda rates: f"{rates.group_ratio:.0%}",
        "faults in a group": lambda rates: f"{rates.group_size:.1f}",
        "groups of one fault": lambda rates: f"{rates.alone}",
        "of them right": lambda rates: f"{rates.alone_ratio:.0%}",
        "runs with lost NICs": lambda rates: f"{rates.counted}",
        "amount, right": lambda rates: f"{rates.count_first_ratio:.0%}",
        "amount, among those named": lambda rates: f"{rates.count_told_ratio:.0%}",
        "amounts named": lambda rates: f"{rates.counts_told:.1f}",
    }
    return Table(
        title="Faults added to healthy sweeps",
        columns=("", "by the model", "three collectives", "by a good run"),
        rows=tuple((name, *map(show, ways)) for name, show in shown.items()),
        left=(0,),
        notes=(
            "Group: the most probable faults, which the run cannot distinguish.",
            "Three collectives: all-to-all and send and receive, next to an all-reduce.",
            "A good run: another of the same system, a few per cent apart from day to day.",
        ),
    )


def _runs(title: str, runs: Sequence[JudgedRun]) -> Table:
    columns = {"run": "run", "health": "health", "sizes": "sizes", "verdict": "outcome",
               "most probable": "first"}  # fmt: skip
    return table(runs, columns, title=title, left=(0, 1, 3, 4))


def _taken_for(fault: JudgedFault) -> str:
    others = [f"{name} {count}" for name, count in fault.taken_for if name != fault.fault]
    return ", ".join(others[:_MOST_TAKEN])


judge_score = View(
    shows="weft.accuracy.judge.JudgeScore", verb="",
    title=lambda _: "How often the judge is right", blocks=_blocks,
)  # fmt: skip

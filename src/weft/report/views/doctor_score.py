"""`weft accuracy --doctor`: how often the doctor names the right cause."""

from collections.abc import Iterator

from weft.accuracy.doctor import DoctorScore
from weft.accuracy.posterior import Scale
from weft.report.numbers import percent
from weft.report.page import Block, Columns, Facts, Sentences, View, table


def _blocks(result: DoctorScore) -> Iterator[Block]:
    yield Facts(
        pairs=(
            ("cases", result.folder),
            ("faulty", f"{result.faulty}, of which the evidence decides {result.decided}"),
            ("right cause first", percent(result.first_ratio)),
            ("in the first three", percent(result.top3_ratio)),
            ("healthy or benign", str(result.quiet)),
            ("false alarms", str(result.false_alarms)),
        )
    )
    levels: Columns = {
        "confidence": lambda group: (
            f"{group.level} ({percent(group.from_ratio)} to {percent(group.to_ratio)})"
        ),
        "stated on average": "stated_ratio",
        "findings": "findings",
        "right": lambda group: percent(group.right / group.findings),
    }
    title = "How sure it was, and how often that was right"
    yield table(result.reliability, levels, title=title)
    if result.scale is not None:
        yield Sentences(lines=(_scale(result.scale),))
    wrong = [case for case in result.cases
             if case.false_alarm or not (case.healthy or case.first)]  # fmt: skip
    if wrong:
        ranked: Columns = {"case": "id", "expected": "expected",
                  "found": lambda case: ", ".join(case.ranked[:3]) or "-"}  # fmt: skip
        yield table(wrong, ranked, title="Where it is wrong", left=(0, 1, 2))
    pairs = {"expected": "expected", "found first": "found", "cases": "cases"}
    yield table(result.confusion, pairs, title="Confusion")


def _scale(found: Scale) -> str:
    verdict = "scaling would help" if found.helps else "scaling would not help"
    return (
        f"The scale of the odds that fits best is {found.best:g} (1 is as stated); on cases "
        f"left out one at a time {verdict}: loss {found.loss_left_out:.3f} scaled, "
        f"{found.loss_as_stated:.3f} as stated."
    )


doctor_score = View(
    shows="weft.accuracy.doctor.DoctorScore", verb="",
    title=lambda _: "How often the doctor is right", blocks=_blocks,
)  # fmt: skip

"""`weft accuracy --doctor`: how often the doctor names the right cause."""

from collections.abc import Iterator

from weft.accuracy.doctor import DoctorCase, DoctorScore
from weft.accuracy.posterior import Scale
from weft.report.numbers import percent
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of


def _page(result: DoctorScore) -> Page:
    return Page(title="How often the doctor is right", blocks=tuple(_blocks(result)))


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
    yield Table(
        title="How sure it was, and how often that was right",
        columns=("confidence", "stated on average", "findings", "right"),
        rows=rows_of(
            *(
                (
                    f"{one.level} ({percent(one.from_ratio)} to {percent(one.to_ratio)})",
                    percent(one.stated_ratio),
                    str(one.findings),
                    percent(one.right / one.findings),
                )
                for one in result.reliability
            )
        ),
        left=(0,),
    )
    if result.scale is not None:
        yield Sentences(lines=(_scale(result.scale),))
    wrong = [one for one in result.cases if one.false_alarm or not (one.healthy or one.first)]
    if wrong:
        yield Table(
            title="Where it is wrong",
            columns=("case", "expected", "found"),
            rows=rows_of(*(_row(one) for one in wrong)),
            left=(0, 1, 2),
        )
    yield Table(
        title="Confusion",
        columns=("expected", "found first", "cases"),
        rows=rows_of(*((one.expected, one.found, str(one.cases)) for one in result.confusion)),
        left=(0, 1),
    )


def _scale(found: Scale) -> str:
    verdict = "scaling would help" if found.helps else "scaling would not help"
    return (
        f"The scale of the odds that fits best is {found.best:g} (1 is as stated); on cases "
        f"left out one at a time {verdict}: loss {found.loss_left_out:.3f} scaled, "
        f"{found.loss_as_stated:.3f} as stated."
    )


def _row(case: DoctorCase) -> tuple[str, ...]:
    return (case.id, case.expected, ", ".join(case.ranked[:3]) or "-")


doctor_score = View(shows="weft.accuracy.doctor.DoctorScore", verb="", page=_page)

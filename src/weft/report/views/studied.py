"""`weft sweep`: what a study found, and where its table is."""

from collections.abc import Iterator

from weft.report.numbers import by_unit, seconds
from weft.report.page import Block, Columns, Facts, Sentences, View, table
from weft.report.views.grid import TITLES
from weft.study.journal import SUFFIX
from weft.study.run import Extreme, Spread, Studied


def _title(result: Studied) -> str:
    if result.complete:
        return f"{result.name}: {result.points} points of weft {result.verb} in {result.table}"
    return (
        f"{result.name}: {result.done} of {result.points} points done; the table is not written"
    )


def _answer(result: Studied) -> Iterator[Block]:
    new = result.done - result.taken_over
    pairs = [("Run now", f"{new} points in {seconds(result.elapsed_s)} on {result.backend}")]
    if result.taken_over:
        pairs.append(("Taken over", f"{result.taken_over} points of an earlier run"))
    if not result.complete:
        kept = f"in {result.table}{SUFFIX}; the same command goes on with them"
        pairs.append(("Kept", kept))
    yield Facts(pairs=tuple(pairs))
    columns: Columns = {
        "measure": lambda spread: TITLES.get(spread.name, spread.name),
        "least": lambda spread: _value(spread, spread.least.value),
        "median": lambda spread: _value(spread, spread.median),
        "most": lambda spread: _value(spread, spread.most.value),
        "least at": lambda spread: _place(spread.least),
        "most at": lambda spread: _place(spread.most),
    }
    yield table(result.spreads, columns, left=(0, 4, 5), least=(5, 4))
    yield Sentences(
        title="Points without measures",
        lines=tuple(f"{n} x {reason}" for reason, n in result.failed.items()),
    )


def _value(spread: Spread, value: float) -> str:
    """Show a value of a measure; titles of rates end with their unit."""
    return by_unit(spread.name, value).removesuffix(" /s")


def _place(extreme: Extreme) -> str:
    return ", ".join(f"{key.rpartition('.')[2]}={value}" for key, value in extreme.at)


studied = View(shows="weft.study.run.Studied", verb="sweep", title=_title, answer=_answer)

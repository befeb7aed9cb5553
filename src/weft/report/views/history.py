"""`weft bench history`: runs that are alike, and whether they became slower."""

from collections.abc import Iterator

from weft.bench.history import LEVEL, ORDERS, History, Series
from weft.report.numbers import figures, signed_percent
from weft.report.page import Block, Drawing, Page, Sentences, Table, View, rows_of

_MOST_RUNS = 12
_MOST_HOSTS = 4
_MOST_UNREADABLE = 5


def _page(result: History) -> Page:
    slower = (
        f"{result.regressions} slower than before" if result.series else "nothing to compare"
    )
    return Page(
        title=f"{result.runs} runs in {result.url}; {slower}.",
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
    )


def _answer(result: History) -> Iterator[Block]:
    """Yield the newest run of each series against those before, the slower ones first."""
    if result.series:
        order = sorted(result.series, key=lambda one: not one.regression)
        yield Table(
            columns=("benchmark", "runs", "newest", "fails from", "verdict"),
            rows=rows_of(*(_newest(one) for one in order)),
            left=(0, 4),
        )
        for one in order[:1]:
            yield Sentences(lines=tuple(_notes(one)))
    yield Sentences(lines=result.unreadable[:_MOST_UNREADABLE])


def _newest(one: Series) -> tuple[str, ...]:
    if one.newest_slower_ratio is None or one.newest_limit_ratio is None:
        return _title(one), str(len(one.runs)), "-", "-", "too few runs"
    return (
        _title(one),
        str(len(one.runs)),
        signed_percent(one.newest_slower_ratio),
        signed_percent(one.newest_limit_ratio),
        "SLOWER" if one.regression else "as before",
    )


def _blocks(result: History) -> Iterator[Block]:
    for place, one in enumerate(result.series, start=1):
        yield _table(one)
        if len(one.runs) > 1:
            yield _drawing(one, place)
    yield Sentences(
        title="How it is compared",
        lines=(
            "Only runs of the same operation, sizes, hosts, ranks, versions and options.",
            f"The newest against those before: the {1 - LEVEL:.0%} interval of one more run.",
            f"A change: the best split against {ORDERS} random orders, p below {LEVEL:g}.",
        ),
    )


def _table(one: Series) -> Table:
    start = max(0, len(one.runs) - _MOST_RUNS)
    rows = (
        (f"{run}", began, figures(peak / 1e9), signed_percent(slower))
        for run, began, peak, slower in list(
            zip(one.runs, one.began, one.peaks_bytes_per_s, one.slower_ratios, strict=True)
        )[start:]
    )
    return Table(
        title=_title(one),
        columns=("run", "began", "peak algbw GB/s", "time against the median"),
        rows=rows_of(*rows),
        left=(1,),
        notes=tuple(_notes(one)),
    )


def _drawing(one: Series, place: int) -> Drawing:
    """Draw a series; the limit of the newest is told against the median as its runs are."""
    rows = tuple(
        {"run": run or at, "slower": slower, "regression": False}
        for at, (run, slower) in enumerate(
            zip(one.runs, one.slower_ratios, strict=True), start=1
        )
    )
    marks: dict[str, float | int] = {}
    if one.newest_slower_ratio is not None and one.newest_limit_ratio is not None:
        before = (1 + one.slower_ratios[-1]) / (1 + one.newest_slower_ratio)
        marks["limit"] = before * (1 + one.newest_limit_ratio) - 1
        rows = (*rows[:-1], {**rows[-1], "regression": one.regression})
    if one.change is not None and one.change.run is not None:
        marks["changed"] = one.change.run
    return Drawing(
        chart="run_history",
        name=f"series{place}",
        rows=rows,
        marks=marks,
        title=f"{one.tool} {one.operation} on {_hosts(one)}, run by run",
    )


def _title(one: Series) -> str:
    ranks = f", {one.ranks} ranks" if one.ranks else ""
    versions = f" ({', '.join(one.versions)})" if one.versions else ""
    return f"{one.tool} {one.operation} on {_hosts(one)}{ranks}{versions}"


def _hosts(one: Series) -> str:
    if len(one.hosts) <= _MOST_HOSTS:
        return ", ".join(one.hosts)
    return f"{one.hosts[0]} to {one.hosts[-1]}, {len(one.hosts)} hosts"


def _notes(one: Series) -> Iterator[str]:
    if one.newest_slower_ratio is None or one.newest_limit_ratio is None:
        yield "Too few runs to compare the newest: four are needed."
    else:
        word = "SLOWER" if one.regression else "as before"
        yield (
            f"Newest run: {word} ({signed_percent(one.newest_slower_ratio)}; a regression from "
            f"{signed_percent(one.newest_limit_ratio)})."
        )
    if one.regression and one.runs[0] is not None and one.runs[-2] is not None:
        yield (
            "Next: what made it slower, as weft bench judge OUTPUT cluster.yaml --good "
            f"{one.runs[0]}-{one.runs[-2]} says."
        )
    if one.change is not None:
        yield (
            f"Changed at run {one.change.run} ({one.change.began}): "
            f"{signed_percent(one.change.slower_ratio)}, p = {one.change.probability:.2g}."
        )


history = View(shows="weft.bench.history.History", verb="", page=_page)

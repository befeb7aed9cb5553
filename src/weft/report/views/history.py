"""`weft bench history`: runs that are alike, and whether they became slower."""

from collections.abc import Iterator

from weft.bench.history import LEVEL, ORDERS, History, Series
from weft.report.numbers import figures, signed_percent
from weft.report.page import Block, Drawing, Sentences, Table, View

_MOST_RUNS = 12
_MOST_HOSTS = 4
_MOST_UNREADABLE = 5


def _page_title(result: History) -> str:
    slower = (
        f"{result.regressions} slower than before" if result.series else "nothing to compare"
    )
    return f"{result.runs} runs in {result.url}; {slower}."


def _answer(result: History) -> Iterator[Block]:
    """Yield the newest run of each series against those before, the slower ones first."""
    if not result.runs:
        yield Sentences(lines=("weft bench run runs a benchmark and keeps what it measured.",))
    if result.series:
        order = sorted(result.series, key=lambda series: not series.regression)
        yield Table(
            columns=("benchmark", "runs", "newest", "fails from", "verdict"),
            rows=tuple(map(_newest, order)),
            left=(0, 4),
        )
        yield Sentences(lines=tuple(_notes(order[0])))
    yield Sentences(lines=result.unreadable[:_MOST_UNREADABLE])


def _newest(series: Series) -> tuple[str, ...]:
    if series.newest_slower_ratio is None or series.newest_limit_ratio is None:
        return _title(series), str(len(series.runs)), "-", "-", "too few runs"
    return (
        _title(series),
        str(len(series.runs)),
        signed_percent(series.newest_slower_ratio),
        signed_percent(series.newest_limit_ratio),
        "SLOWER" if series.regression else "as before",
    )


def _blocks(result: History) -> Iterator[Block]:
    for place, series in enumerate(result.series, start=1):
        yield _table(series)
        if len(series.runs) > 1:
            yield _drawing(series, place)
    yield Sentences(
        title="How it is compared",
        lines=(
            "Only runs of the same operation, sizes, hosts, ranks, versions and options.",
            f"The newest against those before: the {1 - LEVEL:.0%} interval of one more run.",
            f"A change: the best split against {ORDERS} random orders, p below {LEVEL:g}.",
        ),
    )


def _table(series: Series) -> Table:
    runs = zip(
        series.runs, series.began, series.peaks_bytes_per_s, series.slower_ratios, strict=True
    )
    rows = (
        (f"{run}", began, figures(peak / 1e9), signed_percent(slower))
        for run, began, peak, slower in list(runs)[-_MOST_RUNS:]
    )
    return Table(
        title=_title(series),
        columns=("run", "began", "peak algbw GB/s", "time against the median"),
        rows=tuple(rows),
        left=(1,),
        notes=tuple(_notes(series)),
    )


def _drawing(series: Series, place: int) -> Drawing:
    """Draw a series; the limit of the newest is told against the median as its runs are."""
    rows = tuple(
        {"run": run or at, "slower": slower, "regression": False}
        for at, (run, slower) in enumerate(
            zip(series.runs, series.slower_ratios, strict=True), start=1
        )
    )
    marks: dict[str, float | int] = {}
    if series.newest_slower_ratio is not None and series.newest_limit_ratio is not None:
        before = (1 + series.slower_ratios[-1]) / (1 + series.newest_slower_ratio)
        marks["limit"] = before * (1 + series.newest_limit_ratio) - 1
        rows = (*rows[:-1], {**rows[-1], "regression": series.regression})
    if series.change is not None and series.change.run is not None:
        marks["changed"] = series.change.run
    return Drawing(
        chart="run_history",
        name=f"series{place}",
        rows=rows,
        marks=marks,
        title=f"{series.tool} {series.operation} on {_hosts(series)}, run by run",
    )


def _title(series: Series) -> str:
    ranks = f", {series.ranks} ranks" if series.ranks else ""
    versions = f" ({', '.join(series.versions)})" if series.versions else ""
    return f"{series.tool} {series.operation} on {_hosts(series)}{ranks}{versions}"


def _hosts(series: Series) -> str:
    if len(series.hosts) <= _MOST_HOSTS:
        return ", ".join(series.hosts)
    return f"{series.hosts[0]} to {series.hosts[-1]}, {len(series.hosts)} hosts"


def _notes(series: Series) -> Iterator[str]:
    if series.newest_slower_ratio is None or series.newest_limit_ratio is None:
        yield "Too few runs to compare the newest: four are needed."
    else:
        word = "SLOWER" if series.regression else "as before"
        slower, limit = series.newest_slower_ratio, signed_percent(series.newest_limit_ratio)
        yield f"Newest run: {word} ({signed_percent(slower)}; a regression from {limit})."
    if series.regression and series.runs[0] is not None and series.runs[-2] is not None:
        yield (
            "Next: what made it slower, as weft bench judge OUTPUT cluster.yaml --good "
            f"{series.runs[0]}-{series.runs[-2]} says."
        )
    if change := series.change:
        yield (
            f"Changed at run {change.run} ({change.began}): "
            f"{signed_percent(change.slower_ratio)}, p = {change.probability:.2g}."
        )


history = View(
    shows="weft.bench.history.History", verb="", title=_page_title, answer=_answer,
    blocks=_blocks,
)  # fmt: skip

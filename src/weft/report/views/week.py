"""`weft report week`: goodput, what faults cost, the slowest links, what changed."""

from collections.abc import Iterator
from datetime import UTC, datetime

from weft.monitor.week import Changed, Week
from weft.report.numbers import by_unit, money, percent, signed_percent
from weft.report.page import Block, Columns, Sentences, Table, View, listed, table

_MOST_ROWS = 5
_MOST_PLACES = 2


def _title(result: Week) -> str:
    goodput, expected = percent(result.goodput_ratio), percent(result.expected_goodput_ratio)
    return (
        f"{result.cluster}, {_day(result.begin_s)} to {_day(result.end_s)}: goodput {goodput} "
        f"(expected {expected}), faults cost {money(result.usd)}"
    )


def _answer(result: Week) -> Iterator[Block]:
    yield Sentences(lines=(_busy(result),))
    yield _losses(result, _MOST_ROWS)
    for worst in result.worst:
        rows = tuple((place, _valued(value, worst.unit)) for place, value in worst.places)
        yield Table(title=worst.title, columns=("place", "value"), rows=rows)
    lines = [_change(change) for change in result.changed]
    lines += [f"benchmark {name}: {signed_percent(change.slower_ratio)} time since "
              f"{change.began}" for name, change in result.benchmarks]  # fmt: skip
    yield Sentences(title="Changed", lines=tuple(lines) or ("Nothing that was asked about.",))


def _blocks(result: Week) -> Iterator[Block]:
    yield _losses(result, len(result.losses))


def _day(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M")


def _busy(result: Week) -> str:
    job = f"for {result.job} on {result.gpus:,} GPUs"
    if result.busy_ratio is None:
        return f"Prices are {job}. No exporter says how busy the network was."
    return f"Hosts sent in {percent(result.busy_ratio)} of the time. Prices are {job}."


def _losses(result: Week, most: int) -> Block:
    if not result.losses:
        return Sentences(title="Faults", lines=("No alert fired.",))
    places = _MOST_PLACES if most < len(result.losses) or most == _MOST_ROWS else 10**6
    more = len(result.losses) - most
    columns: Columns = {
        "alert": "alert", "times": "episodes", "lasted": "lasted_s",
        "cost": lambda loss: money(loss.usd.value) if loss.usd else "no price",
        "where": lambda loss: listed(loss.places, places),
    }  # fmt: skip
    notes = (f"{more} more with --full",) if more > 0 else ()
    return table(result.losses[:most], columns, title="Faults", left=(0, 4), notes=notes)


def _valued(value: float, unit: str) -> str:
    if unit == "ratio":
        return percent(value)
    return by_unit("_bytes_per_s", value) if unit == "Bps" else f"{value:,.0f}"


def _change(change: Changed) -> str:
    before, after = (_valued(value, change.unit) for value in (change.before, change.after))
    return f"{change.title}: {before} before, {after} now"


week = View(
    shows="weft.monitor.week.Week", verb="report week", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, rest="every alert with all its places",
)  # fmt: skip

"""`weft report week`: goodput, what faults cost, the slowest links, what changed."""

from collections.abc import Iterator
from datetime import UTC, datetime

from weft.monitor.week import Changed, Loss, Week
from weft.report.numbers import by_unit, money, percent, seconds, signed_percent
from weft.report.page import Block, Page, Sentences, Table, View
from weft.report.views._provenance import footer

_MOST_ROWS = 5
_MOST_PLACES = 2


def _page(result: Week) -> Page:
    goodput, expected = result.goodput_ratio, result.expected_goodput_ratio
    return Page(
        title=f"{result.cluster}, {_day(result.begin_s)} to {_day(result.end_s)}: goodput "
        f"{percent(goodput)} (expected {percent(expected)}), faults cost {money(result.usd)}",
        answer=(
            Sentences(lines=(_busy(result),)),
            _losses(result, _MOST_ROWS),
            *_worst(result),
            *_changes(result),
        ),
        blocks=(
            _losses(result, len(result.losses)),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        rest="every alert with all its places",
        footer=footer(result.provenance),
    )


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
    return Table(
        title="Faults", columns=("alert", "times", "lasted", "cost", "where"),
        rows=tuple(_row(one, places) for one in result.losses[:most]), left=(0, 4),
        notes=(f"{more} more with --full",) if more > 0 else (),
    )  # fmt: skip


def _row(one: Loss, most: int) -> tuple[str, ...]:
    more = len(one.places) - most
    where = ", ".join(one.places[:most]) + (f" and {more} more" if more > 0 else "")
    cost = money(one.usd.value) if one.usd else "no price"
    return one.alert, str(one.episodes), seconds(one.lasted_s), cost, where


def _worst(result: Week) -> Iterator[Block]:
    for one in result.worst:
        yield Table(
            title=one.title, columns=("place", "value"), left=(0,),
            rows=tuple((place, _valued(value, one.unit)) for place, value in one.places),
        )  # fmt: skip


def _valued(value: float, unit: str) -> str:
    if unit == "ratio":
        return percent(value)
    return by_unit("_bytes_per_s", value) if unit == "Bps" else f"{value:,.0f}"


def _changes(result: Week) -> Iterator[Block]:
    lines = [_change(one) for one in result.changed]
    lines += [f"benchmark {name}: {signed_percent(one.slower_ratio)} time since {one.began}"
              for name, one in result.benchmarks]  # fmt: skip
    yield Sentences(title="Changed", lines=tuple(lines) or ("Nothing that was asked about.",))


def _change(one: Changed) -> str:
    before, after = (_valued(value, one.unit) for value in (one.before, one.after))
    return f"{one.title}: {before} before, {after} now"


week = View(shows="weft.monitor.week.Week", verb="report week", page=_page)

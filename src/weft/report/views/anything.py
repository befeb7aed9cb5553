"""The view of a result that has none of its own: its fields, its lists as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weft.report.numbers import figures
from weft.report.page import Block, Facts, Page, Sentences, Table, View
from weft.report.plain import flat, plain

MOST_COLUMNS = 9


def _page(result: Any) -> Page:  # noqa: ANN401 - any result
    body = plain(result)
    title = type(result).__name__ if isinstance(body, Mapping) else ""
    return Page(title=title, blocks=tuple(_blocks(body)))


def _blocks(body: Any) -> Iterator[Block]:  # noqa: ANN401 - plain data
    if isinstance(body, str):
        yield Sentences(lines=tuple(body.splitlines()))
    elif isinstance(body, Mapping):
        simple = {key: value for key, value in body.items() if not _nested(value)}
        if simple:
            yield Facts(pairs=tuple((key, _cell(value)) for key, value in simple.items()))
        for key, value in body.items():
            if _nested(value):
                yield from _titled(key, value)
    elif isinstance(body, Sequence):
        yield from _titled("", body)
    else:
        yield Sentences(lines=(_cell(body),))


def _titled(key: str, value: Any) -> Iterator[Block]:  # noqa: ANN401 - plain data
    if isinstance(value, Mapping):
        pairs = tuple((name, _cell(item)) for name, item in flat(value, _estimate))
        yield Facts(title=key, pairs=pairs)
    elif all(isinstance(item, Mapping) for item in value):
        yield _table(key, value)
    else:
        yield Sentences(title=key, lines=tuple(_cell(item) for item in value))


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    shown = [c for c in columns if not any(_long(row.get(c)) for row in rows)][:MOST_COLUMNS]
    words = tuple(
        i for i, c in enumerate(shown) if any(isinstance(r.get(c), str) for r in rows)
    )
    cells = tuple(tuple(_cell(row.get(column)) for column in shown) for row in rows)
    return Table(title=title, columns=tuple(shown), rows=cells, left=words)


def _nested(value: object) -> bool:
    return bool(value) and isinstance(value, Mapping | list) and not _estimate(value)


def _long(value: object) -> bool:
    return isinstance(value, Mapping | list) and not _estimate(value)


def _estimate(value: object) -> bool:
    return isinstance(value, Mapping) and {"value", "low", "high"} <= value.keys()


def _cell(value: Any) -> str:  # noqa: ANN401 - plain data
    if value is None:
        return "-"
    if isinstance(value, float):
        return figures(value)
    if _estimate(value):
        ends = f"[{_cell(value['low'])}–{_cell(value['high'])}]"  # noqa: RUF001 - a range
        return f"{_cell(value['value'])} {ends}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(_cell(item) for item in value)
    return str(value)


anything = View(shows="", verb="", whole=_page)

"""`weft diff`: what runs otherwise than planned, what was not seen, and whether it matters."""

from collections.abc import Iterator
from typing import Final

from weft.lint.diff import Drift, Row, Verdict
from weft.report.page import (
    Block,
    Entries,
    Entry,
    Facts,
    Page,
    Sentences,
    Table,
    View,
    rows_of,
)
from weft.report.views._provenance import footer

_TITLES: Final = {
    Verdict.DIFFERENT: "Different",
    Verdict.UNSEEN: "Not found in the files",
    Verdict.EXTRA: "Running and not planned",
}
_VERDICTS: Final = {
    Verdict.EQUAL: "everything read is as planned.",
    Verdict.DIFFERENT: "what is running differs from the plan.",
    Verdict.UNSEEN: "nothing differs, but settings that lossless traffic needs are missing.",
}
_MOST: Final = 60
_WIDE: Final = 28
_PORTS: Final = 3


def _page(result: Drift) -> Page:
    return Page(
        title=f"{result.cluster}: {_VERDICTS[result.verdict]}",
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance)[:1],
    )


def _answer(result: Drift) -> Iterator[Block]:
    """Yield a row for each setting that differs or was not seen, the critical ones first."""
    rows = [row for row in result.rows if row.verdict in _TITLES]
    rows.sort(key=lambda row: (not row.critical, list(_TITLES).index(row.verdict)))
    if rows:
        yield Table(
            columns=("setting", "planned", "running"),
            rows=rows_of(*(_short(row) for row in rows)),
            left=(0, 1, 2),
        )
    yield Facts(pairs=tuple(_counts(result)))


def _short(row: Row) -> tuple[str, str, str]:
    named = " ".join(part for part in (row.device, row.setting, _ports(row)) if part)
    return named, _cut(row.planned, _WIDE), _cut(row.running, _WIDE)


def _blocks(result: Drift) -> Iterator[Block]:
    for verdict, title in _TITLES.items():
        rows = [row for row in result.rows if row.verdict is verdict]
        if rows:
            yield Entries(title=title, items=tuple(map(_entry, rows[:_MOST])))
        if len(rows) > _MOST:
            yield Sentences(lines=(f"and {len(rows) - _MOST} more; -o json has all",))


def _entry(row: Row) -> Entry:
    return Entry(
        head=" ".join(part for part in (row.device, row.setting, _ports(row)) if part),
        text=f"planned {row.planned}, running {row.running}",
        lines=tuple(_lines(row)),
    )


def _cut(text: str, width: int) -> str:
    """Cut a long value; its end tells least."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _ports(row: Row) -> str:
    shown = ", ".join(row.where[:_PORTS])
    more = len(row.where) - _PORTS
    return f"({shown} and {more} more)" if more > 0 else f"({shown})" if shown else ""


def _lines(row: Row) -> Iterator[str]:
    for place in row.evidence:
        yield f"seen: {place.file}:{place.line}: {place.text}"
    matters = "lossless traffic depends on it" if row.critical else "it can do harm"
    yield f"matters: {matters} ({row.rule}: {row.why})"


def _counts(result: Drift) -> Iterator[tuple[str, str]]:
    yield "files", str(len(result.files))
    yield "settings as planned", str(result.equal)
    yield "switches seen", str(len(result.devices))
    yield "switches not seen", str(result.unseen_devices)


drift = View(shows="weft.lint.diff.Drift", verb="diff", page=_page)

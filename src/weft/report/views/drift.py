"""`weft diff`: what runs otherwise than planned, what was not seen, and whether it matters."""

from collections.abc import Iterator
from typing import Final

from weft.check.diff import Drift, Row, Verdict
from weft.report.page import (
    Block,
    Columns,
    Entries,
    Entry,
    Facts,
    Sentences,
    View,
    listed,
    table,
)

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


def _title(result: Drift) -> str:
    return f"{result.cluster}: {_VERDICTS[result.verdict]}"


def _answer(result: Drift) -> Iterator[Block]:
    """Yield a row for each setting that differs or was not seen, the critical ones first."""
    rows = [row for row in result.rows if row.verdict in _TITLES]
    rows.sort(key=lambda row: (not row.critical, list(_TITLES).index(row.verdict)))
    if rows:
        columns: Columns = {"setting": _named, "planned": lambda row: _cut(row.planned),
                   "running": lambda row: _cut(row.running)}  # fmt: skip
        yield table(rows, columns, left=(0, 1, 2))
    yield Facts(
        pairs=(
            ("files", str(len(result.files))),
            ("settings as planned", str(result.equal)),
            ("switches seen", str(len(result.devices))),
            ("switches not seen", str(result.unseen_devices)),
        )
    )


def _named(row: Row) -> str:
    ports = f"({listed(row.where, _PORTS)})" if row.where else ""
    return " ".join(part for part in (row.device, row.setting, ports) if part)


def _cut(text: str) -> str:
    """Cut a long value; its end tells least."""
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 3]}..."


def _blocks(result: Drift) -> Iterator[Block]:
    for verdict, title in _TITLES.items():
        rows = [row for row in result.rows if row.verdict is verdict]
        if rows:
            yield Entries(title=title, items=tuple(map(_entry, rows[:_MOST])))
        if len(rows) > _MOST:
            yield Sentences(lines=(f"and {len(rows) - _MOST} more; -o json has all",))


def _entry(row: Row) -> Entry:
    return Entry(
        head=_named(row),
        text=f"planned {row.planned}, running {row.running}",
        lines=tuple(_lines(row)),
    )


def _lines(row: Row) -> Iterator[str]:
    for place in row.evidence:
        yield f"seen: {place.file}:{place.line}: {place.text}"
    matters = "lossless traffic depends on it" if row.critical else "it can do harm"
    yield f"matters: {matters} ({row.rule}: {row.why})"


drift = View(
    shows="weft.check.diff.Drift", verb="diff", title=_title, answer=_answer, blocks=_blocks,
    is_modelled=False,
)  # fmt: skip

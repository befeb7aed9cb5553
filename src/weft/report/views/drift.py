"""`weft diff`: what runs otherwise than planned, what was not seen, and whether it matters."""

from collections.abc import Iterator
from typing import Final

from weft.lint.diff import Drift, Row, Verdict
from weft.report.page import Block, Entries, Entry, Facts, Page, Sentences, View
from weft.report.views._provenance import footer

_TITLES: Final = {
    Verdict.DIFFERENT: "Different",
    Verdict.UNSEEN: "Not seen",
    Verdict.EXTRA: "Running and not planned",
}
_VERDICTS: Final = {
    Verdict.EQUAL: "All that was seen is as planned.",
    Verdict.DIFFERENT: "What is running is not what was planned.",
    Verdict.UNSEEN: "Nothing differs, but settings that losslessness needs were not seen.",
}
_MOST: Final = 60
_PORTS: Final = 3


def _page(result: Drift) -> Page:
    return Page(
        title=f"Drift of {result.cluster}",
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance)[:1],
    )


def _blocks(result: Drift) -> Iterator[Block]:
    yield Sentences(lines=(_VERDICTS[result.verdict],))
    for verdict, title in _TITLES.items():
        rows = [row for row in result.rows if row.verdict is verdict]
        if rows:
            yield Entries(title=title, items=tuple(map(_entry, rows[:_MOST])))
        if len(rows) > _MOST:
            yield Sentences(lines=(f"and {len(rows) - _MOST} more; -o json has all",))
    yield Facts(title="Compared", pairs=tuple(_counts(result)))


def _entry(row: Row) -> Entry:
    return Entry(
        head=" ".join(part for part in (row.device, row.setting, _ports(row)) if part),
        text=f"planned {row.planned}, running {row.running}",
        lines=tuple(_lines(row)),
    )


def _ports(row: Row) -> str:
    shown = ", ".join(row.where[:_PORTS])
    more = len(row.where) - _PORTS
    return f"({shown} and {more} more)" if more > 0 else f"({shown})" if shown else ""


def _lines(row: Row) -> Iterator[str]:
    for place in row.evidence:
        yield f"seen: {place.file}:{place.line}: {place.text}"
    matters = "losslessness depends on it" if row.critical else "it can do harm"
    yield f"matters: {matters} ({row.rule}: {row.why})"


def _counts(result: Drift) -> Iterator[tuple[str, str]]:
    yield "files", str(len(result.files))
    yield "settings as planned", str(result.equal)
    yield "switches seen", str(len(result.devices))
    yield "switches not seen", str(result.unseen_devices)


drift = View(shows="weft.lint.diff.Drift", verb="diff", page=_page)

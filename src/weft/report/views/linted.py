"""`weft lint`: what is wrong, file by file, with the line, the reason and what to do."""

from collections.abc import Iterator
from typing import Final

from weft.lint.lint import Finding, Linted
from weft.lint.rule import Severity
from weft.report.page import Block, Entries, Entry, Facts, Page, Sentences, View
from weft.report.views._provenance import footer

_MOST_PLACES: Final = 3
_MOST_UNREAD: Final = 8


def _page(result: Linted) -> Page:
    return Page(
        title="Lint", blocks=tuple(_blocks(result)), footer=footer(result.provenance)[:1]
    )


def _blocks(result: Linted) -> Iterator[Block]:
    yield Sentences(lines=(_verdict(result),))
    by_file: dict[str, list[Finding]] = {}
    for one in result.findings:
        by_file.setdefault(one.at.file, []).append(one)
    for file, found in by_file.items():
        yield Entries(title=file, items=tuple(map(_entry, found)))
    if result.unchecked:
        lines = (
            f"{one.rule}: nothing was read of {' or '.join(one.missing)}"
            for one in result.unchecked
        )
        yield Sentences(title="Could not be checked", lines=tuple(lines))
    if result.unread:
        yield Sentences(title="Not read", lines=tuple(_unread(result)))
    yield Facts(title="Read", pairs=tuple(_read(result)))


def _verdict(result: Linted) -> str:
    counts = dict.fromkeys(Severity, 0)
    for one in result.findings:
        counts[one.severity] += 1
    if not result.files:
        return "Nothing was checked: weft can read none of these files."
    if not result.findings:
        return "Nothing is wrong in these files, as far as they show."
    return (
        f"{_many(counts[Severity.ERROR], 'error')}, "
        f"{_many(counts[Severity.WARNING], 'warning')}, "
        f"{_many(counts[Severity.INFO], 'remark')}."
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _entry(one: Finding) -> Entry:
    return Entry(
        head=f"{one.at.line}  {one.severity.value}  {one.rule}",
        text=one.message,
        lines=tuple(_lines(one)),
    )


def _lines(one: Finding) -> Iterator[str]:
    if one.at.text:
        yield f"here: {one.at.text}"
    for place in one.evidence[1 : 1 + _MOST_PLACES]:
        yield f"and {place.file}:{place.line}: {place.text}"
    yield f"do: {one.fix}"
    yield f"see: {one.reference}"


def _unread(result: Linted) -> Iterator[str]:
    for one in result.unread[:_MOST_UNREAD]:
        yield f"{one.name}: {one.reason}"
    if len(result.unread) > _MOST_UNREAD:
        yield f"and {len(result.unread) - _MOST_UNREAD} more; -o json lists them"


def _read(result: Linted) -> Iterator[tuple[str, str]]:
    yield "files", str(len(result.files))
    yield "settings", str(result.facts)
    yield "rules asked", str(result.rules)
    yield "fabric", result.fabric or "not said; rules of one fabric alone are not asked"


linted = View(shows="weft.lint.lint.Linted", verb="lint", page=_page)

"""`weft lint`: what is wrong, file by file, with the line, the reason and what to do."""

from collections.abc import Iterator, Sequence
from typing import Final

from weft.lint.lint import Finding, Linted, causes
from weft.lint.rule import Severity
from weft.report.page import Block, Entries, Entry, Page, Sentences, View
from weft.report.views._provenance import footer

_MOST_PLACES: Final = 3
_MOST_UNREAD: Final = 8
_MOST_OF_A_CAUSE: Final = 30
"""Findings of one cause that are shown one by one; all of them are counted."""


def _page(result: Linted) -> Page:
    return Page(
        title=_verdict(result),
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        rest="each finding with its line, its fix and its reference",
        footer=footer(result.provenance)[:1],
    )


def _answer(result: Linted) -> Iterator[Block]:
    """Yield each cause once, with its first place, its fix and how many more places it has."""
    if result.findings:
        yield Entries(items=tuple(_folded(found) for found in causes(result.findings)))
    if result.absent:
        names = _some(result.absent)
        yield Sentences(lines=(f"Part of the fabric: sessions lead to {names}, not read.",))
    failed = [f"{one.name}: {one.reason}" for one in result.unread if one.failed]
    if failed:
        yield Sentences(lines=(f"Not checked, by a defect of weft: {_some(failed)}.",))
    if strange := [one.name for one in result.unread if not one.failed]:
        yield Sentences(lines=(f"Not read: {_some(strange)}.",))
    yield Sentences(lines=(_read(result),))


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_PLACES
    return ", ".join(names[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def _folded(found: list[Finding]) -> Entry:
    first = found[0]
    files = len({one.at.file for one in found})
    times = f", {len(found)} times in {_many(files, 'file')}; first" if len(found) > 1 else ""
    return Entry(
        head=first.severity.value,
        text=first.message,
        lines=(f"{first.rule}{times}: {first.at.file}:{first.at.line}", f"fix: {first.fix}"),
    )


def _blocks(result: Linted) -> Iterator[Block]:
    groups = causes(result.findings)
    shown = {id(one) for found in groups for one in found[:_MOST_OF_A_CAUSE]}
    by_file: dict[str, list[Finding]] = {}
    for one in result.findings:
        if id(one) in shown:
            by_file.setdefault(one.at.file, []).append(one)
    for file, found in by_file.items():
        yield Entries(title=file, items=tuple(map(_entry, found)))
    more = tuple(
        f"{found[0].rule}: {_many(len(found) - _MOST_OF_A_CAUSE, 'more place')}; "
        "-o json lists them"
        for found in groups
        if len(found) > _MOST_OF_A_CAUSE
    )
    if more:
        yield Sentences(title="Not shown", lines=more)
    if result.unchecked:
        lines = (
            f"{one.rule}: no file has {' or '.join(one.missing)}" for one in result.unchecked
        )
        yield Sentences(title="Not checked", lines=tuple(lines))
    if result.unread:
        yield Sentences(title="Not read", lines=tuple(_unread(result)))


def _verdict(result: Linted) -> str:
    counts = dict.fromkeys(Severity, 0)
    for one in result.findings:
        counts[one.severity] += 1
    if not result.files:
        return "Nothing was checked: weft cannot read any of these files."
    if not result.findings:
        return f"No problem found in {_many(len(result.files), 'file')}."
    groups, places = len(causes(result.findings)), len(result.findings)
    return (
        f"{_many(groups, 'cause')} in {_many(places, 'place')}: "
        f"{_many(counts[Severity.ERROR], 'error')}, "
        f"{_many(counts[Severity.WARNING], 'warning')}, "
        f"{_many(counts[Severity.INFO], 'remark')} in {_many(len(result.files), 'file')}."
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
    yield f"fix: {one.fix}"
    yield f"see: {one.reference}"


def _unread(result: Linted) -> Iterator[str]:
    for one in result.unread[:_MOST_UNREAD]:
        yield f"{one.name}: {one.reason}"
    if len(result.unread) > _MOST_UNREAD:
        yield f"and {len(result.unread) - _MOST_UNREAD} more; -o json lists them"


def _read(result: Linted) -> str:
    idle = f", {len(result.unchecked)} had nothing to check" if result.unchecked else ""
    fabric = result.fabric or "unknown (rules for one fabric were not evaluated)"
    return (
        f"{result.facts} settings read, {_many(result.rules, 'rule')} evaluated{idle}; "
        f"fabric: {fabric}."
    )


linted = View(shows="weft.lint.lint.Linted", verb="lint", page=_page)

"""`weft lint`: what is wrong, file by file, with the line, the reason and what to do."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from weft.lint.lint import Finding, Linted, causes
from weft.lint.rule import Severity
from weft.report.page import Block, Entries, Entry, Sentences, View, listed, many

_MOST_PLACES: Final = 3
_MOST_UNREAD: Final = 8
_MOST_OF_A_CAUSE: Final = 30
"""Findings of one cause that are shown one by one; all of them are counted."""


def _answer(result: Linted) -> Iterator[Block]:
    """Yield each cause once, with its first place, its fix and how many more places it has."""
    if result.findings:
        yield Entries(items=tuple(_folded(found) for found in causes(result.findings)))
    if result.absent:
        names = listed(result.absent, _MOST_PLACES)
        yield Sentences(lines=(f"Part of the fabric: sessions lead to {names}, not read.",))
    failed = [f"{file.name}: {file.reason}" for file in result.unread if file.failed]
    if failed:
        yield Sentences(
            lines=(f"Not checked, by a defect of weft: {listed(failed, _MOST_PLACES)}.",)
        )
    if strange := [file.name for file in result.unread if not file.failed]:
        yield Sentences(lines=(f"Not read: {listed(strange, _MOST_PLACES)}.",))
    yield Sentences(lines=(_read(result),))


def _folded(found: list[Finding]) -> Entry:
    first = found[0]
    files = len({finding.at.file for finding in found})
    times = f", {len(found)} times in {many(files, 'file')}; first" if len(found) > 1 else ""
    return Entry(
        head=first.severity.value,
        text=first.message,
        lines=(f"{first.rule}{times}: {first.at.file}:{first.at.line}", f"fix: {first.fix}"),
    )


def _blocks(result: Linted) -> Iterator[Block]:
    groups = causes(result.findings)
    shown = {id(finding) for found in groups for finding in found[:_MOST_OF_A_CAUSE]}
    by_file: dict[str, list[Finding]] = {}
    for finding in result.findings:
        if id(finding) in shown:
            by_file.setdefault(finding.at.file, []).append(finding)
    for file, found in by_file.items():
        yield Entries(title=file, items=tuple(map(_entry, found)))
    more = tuple(
        f"{found[0].rule}: {many(len(found) - _MOST_OF_A_CAUSE, 'more place')}; "
        "-o json lists them"
        for found in groups
        if len(found) > _MOST_OF_A_CAUSE
    )
    if more:
        yield Sentences(title="Not shown", lines=more)
    if result.unchecked:
        missing = {rule.rule: " or ".join(rule.missing) for rule in result.unchecked}
        lines = tuple(f"{name}: no file has {facts}" for name, facts in missing.items())
        yield Sentences(title="Not checked", lines=lines)
    if result.unread:
        yield Sentences(title="Not read", lines=tuple(_unread(result)))


def _verdict(result: Linted) -> str:
    counts = Counter(finding.severity for finding in result.findings)
    if not result.files:
        return "Nothing was checked: weft cannot read any of these files."
    if not result.findings:
        return f"No problem found in {many(len(result.files), 'file')}."
    groups, places = len(causes(result.findings)), len(result.findings)
    return (
        f"{many(groups, 'cause')} in {many(places, 'place')}: "
        f"{many(counts[Severity.ERROR], 'error')}, "
        f"{many(counts[Severity.WARNING], 'warning')}, "
        f"{many(counts[Severity.INFO], 'remark')} in {many(len(result.files), 'file')}."
    )


def _entry(finding: Finding) -> Entry:
    return Entry(
        head=f"{finding.at.line}  {finding.severity.value}  {finding.rule}",
        text=finding.message,
        lines=tuple(_lines(finding)),
    )


def _lines(finding: Finding) -> Iterator[str]:
    if finding.at.text:
        yield f"here: {finding.at.text}"
    for place in finding.evidence[1 : 1 + _MOST_PLACES]:
        yield f"and {place.file}:{place.line}: {place.text}"
    yield f"fix: {finding.fix}"
    yield f"see: {finding.reference}"


def _unread(result: Linted) -> Iterator[str]:
    for file in result.unread[:_MOST_UNREAD]:
        yield f"{file.name}: {file.reason}"
    if len(result.unread) > _MOST_UNREAD:
        yield f"and {len(result.unread) - _MOST_UNREAD} more; -o json lists them"


def _read(result: Linted) -> str:
    idle = f", {len(result.unchecked)} had nothing to check" if result.unchecked else ""
    fabric = result.fabric or "unknown (rules for one fabric were not evaluated)"
    return (
        f"{result.facts} settings read, {many(result.rules, 'rule')} evaluated{idle}; "
        f"fabric: {fabric}."
    )


linted = View(
    shows="weft.lint.lint.Linted", verb="lint", title=_verdict, answer=_answer,
    blocks=_blocks, rest="each finding with its line, its fix and its reference",
    is_modelled=False,
)  # fmt: skip

"""`weft diagnose`: the verdict, causes with evidence and fix, and what was not covered."""

from collections import Counter
from collections.abc import Iterator

from weft.doctor.cost import Price
from weft.doctor.diagnose import Diagnosis
from weft.doctor.findings import Finding, folded
from weft.doctor.verdict import Verdict
from weft.inventory.evidence import Evidence
from weft.inventory.severity import Severity
from weft.report.numbers import money, percent, seconds
from weft.report.page import Block, Entries, Entry, Facts, Sentences, View, many

_FIRST = 3
"""Findings of the first screen."""
_MOST_LINES = 2
_MOST_LINES_IN_FULL = 8
_MOST_PLACES = 3
_MOST_REASONS = 4
_MOST_UNREAD = 6
_LONGEST_HEADLINE = 90


def _headline(result: Diagnosis) -> str:
    """Return the verdict in one sentence, which names what it is about."""
    shown = [found for found in result.findings if found.severity is not Severity.INFO]
    if result.verdict is Verdict.NONE or not shown:
        return _without_problem(result)
    more = f" ({len(shown) - 1} more)" if len(shown) > 1 else ""
    verdict = "cannot tell; suspected" if result.verdict is Verdict.UNKNOWN else result.verdict
    return f"{verdict.capitalize()}: {_short(shown[0])}{more}"


def _without_problem(result: Diagnosis) -> str:
    files = many(sum(not file.skipped for file in result.files), "file")
    if result.verdict is not Verdict.UNKNOWN:
        return f"No problem found in {files}"
    if lost := sum(bool(file.notes) for file in result.files):
        of_all = f"{lost} of {len(result.files)} files"
        return f"Cannot tell: no problem found, but {of_all} could not be read whole"
    unread = sum(len(file.unread) for file in result.files)
    if unread and any(file.matched for file in result.files):
        return f"Cannot tell: {many(unread, 'line')} that weft cannot interpret may be errors"
    return f"Cannot tell: nothing in {files} that weft can judge"


def _short(found: Finding) -> str:
    """Return the title without its details, and the first place that it is about."""
    if len(found.title) <= _LONGEST_HEADLINE:
        return found.title
    title = found.title.split(": ", 1)[0]
    if not found.entities or any(name in title for name in found.entities):
        return title
    return f"{title}: {folded(found.entities, 1)}"


def _answer(result: Diagnosis) -> Iterator[Block]:
    if result.findings:
        first = result.findings[:_FIRST]
        yield Entries(items=tuple(_entry(found, _MOST_LINES) for found in first))
    if len(result.findings) > _FIRST:
        rest = folded([found.cause for found in result.findings[_FIRST:]], 6)
        yield Sentences(lines=(f"Further findings (--full): {rest}",))
    lost = [f"{file.file}: {file.notes[0]}" for file in result.files if file.notes]
    if lost:
        yield Sentences(lines=(f"Not read whole: {folded(lost, _MOST_PLACES)}",))
    if not result.findings:
        yield from _not_interpreted(result, _FIRST)
    if result.not_covered:
        yield Sentences(lines=(f"Not checked (no data): {', '.join(result.not_covered)}",))


def _rest(result: Diagnosis) -> Iterator[Block]:
    if result.findings:
        yield Entries(
            title="All findings",
            items=tuple(_entry(found, _MOST_LINES_IN_FULL) for found in result.findings),
        )
    yield from _not_interpreted(result, _MOST_UNREAD)
    yield Facts(title="Read", pairs=tuple(_read(result)))


def _not_interpreted(result: Diagnosis, most: int) -> Iterator[Block]:
    """Yield the first lines that look like trouble and that no reader knows."""
    unread = [line for file in result.files for line in file.unread][:most]
    if unread:
        items = tuple(Entry(head=line.place, text=line.text) for line in unread)
        yield Entries(title="Lines that look like errors and that weft cannot interpret",
                      items=items)  # fmt: skip


def _entry(found: Finding, most_lines: int) -> Entry:
    head = f"{found.cause}, {found.severity}, {found.confidence} confidence"
    shown = any(found.detail in " ".join(line.text.split()) for line in found.evidence)
    text = found.title if shown else found.told
    return Entry(head=head, text=text, lines=tuple(_lines(found, most_lines)))


def _lines(found: Finding, most_lines: int) -> Iterator[str]:
    if found.entities and not any(name in found.title for name in found.entities):
        yield f"where: {folded(found.entities, _MOST_PLACES)}"
    for line in _spread(found.evidence, most_lines):
        yield f"evidence: {line.place}: {line.text}" if line.text else f"evidence: {line.place}"
    for text in found.deviations[: most_lines - _MOST_LINES]:
        yield f"deviation: {text}"
    if found.fix:
        yield f"fix: {found.fix}"
    if found.confirm:
        yield f"to confirm: {found.confirm}"
    for rival in found.rivals:
        yield f"or: {rival.cause} ({percent(rival.probability_ratio)}); {rival.confirm}"
    if found.price is not None:
        yield _price(found.price)
    if found.consequences:
        yield f"consequences: {', '.join(found.consequences)}"


def _spread(lines: tuple[Evidence, ...], most: int) -> Iterator[Evidence]:
    """Yield some of the lines, of different files first."""
    seen: set[str] = set()
    others = [line for line in lines if not (line.file in seen or seen.add(line.file))]  # type: ignore[func-returns-value]
    rest = [line for line in lines if line not in others]
    yield from [*others, *rest][:most]


def _price(price: Price) -> str:
    whose = "your job" if price.stated else "a default job"
    harm = (
        f"{seconds(price.stop_s)} and {money(price.usd)} a stop"
        if price.stop_s
        else f"step {percent(price.step_ratio or 0.0)} longer, {money(price.usd)} a day"
    )
    return (
        f"cost: {harm} ({whose}: {price.job} on {price.gpus} GPUs of {price.cluster}; "
        f"{price.fault})"
    )


def _read(result: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "files", str(len(result.files))
    yield "lines", str(sum(file.lines for file in result.files))
    yield "lines recognised", str(sum(file.matched for file in result.files))
    skipped = Counter(file.skipped for file in result.files if file.skipped)
    for why, count in skipped.most_common(_MOST_REASONS):
        yield "files not read", f"{count}: {why}"
    notes = Counter(note for file in result.files for note in file.notes)
    for why, count in notes.most_common(_MOST_REASONS):
        yield "could not be read", f"{count}: {why}"


diagnosis = View(
    shows="weft.doctor.diagnose.Diagnosis", verb="diagnose", title=_headline,
    answer=_answer, blocks=_rest, is_modelled=False,
)  # fmt: skip

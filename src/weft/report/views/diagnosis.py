"""`weft diagnose`: what is wrong, on which lines, how sure, what it costs and what to do."""

from collections import Counter
from collections.abc import Iterator

from weft.doctor.diagnose import Diagnosed, Diagnosis
from weft.doctor.price import Price
from weft.doctor.ranking import Verdict
from weft.doctor.rule import Finding, Severity
from weft.observe.facts.base import Evidence
from weft.report.numbers import money, percent
from weft.report.page import Block, Entries, Entry, Facts, Page, Sentences, View
from weft.report.views._provenance import footer

_VERDICTS = {
    Verdict.QUIET: "Nothing is wrong, as far as these outputs show.",
    Verdict.FINDINGS: "Something is wrong.",
    Verdict.UNDECIDED: "Something may be wrong, and these outputs cannot tell what.",
}
_MOST_LINES = 4
_MOST_REASONS = 4
_ALIKE_SHOWN_RATIO = 0.2
_MOST_COMPLAINTS = 6


def _page(result: Diagnosis) -> Page:
    return Page(
        title="Diagnosis",
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance)[:1],
    )


def _verdict(result: Diagnosis) -> str:
    """Say what came of it; a suspicion that is too weak for a verdict is no all-clear."""
    suspected = any(one.finding.severity is not Severity.INFO for one in result.findings)
    if result.verdict is Verdict.QUIET and suspected:
        return "Nothing is sure to be wrong, as far as these outputs show; see what may be."
    if result.verdict is Verdict.QUIET and any(file.complaints for file in result.files):
        return "Nothing is wrong in what was understood; not all was, and some of it complains."
    return _VERDICTS[result.verdict]


def _blocks(result: Diagnosis) -> Iterator[Block]:
    yield Sentences(lines=(_verdict(result),))
    for severity, title in (
        (Severity.ERROR, "Errors"),
        (Severity.WARNING, "Warnings"),
        (Severity.INFO, "Remarks"),
    ):
        found = [one for one in result.findings if one.finding.severity is severity]
        if found:
            yield Entries(title=title, items=tuple(_entry(one) for one in found))
    heard = tuple(_complaints(result))
    if heard:
        yield Entries(title="Not understood, and it sounds like trouble", items=heard)
    yield Facts(title="Read", pairs=tuple(_read(result)))


def _complaints(result: Diagnosis) -> Iterator[Entry]:
    """Yield the lines to read first where no cause is named."""
    if any(one.finding.decided for one in result.findings):
        return
    shown = {line for one in result.findings for line in one.finding.evidence}
    lines = [one.evidence for file in result.files for one in file.complaints]
    for line in [line for line in lines if line not in shown][:_MOST_COMPLAINTS]:
        yield Entry(head=_place(line), text=line.text)


def _entry(one: Diagnosed) -> Entry:
    finding = one.finding
    named = not finding.subject or finding.subject in finding.message
    where = "" if named else f" ({finding.subject})"
    return Entry(
        head=_head(finding), text=f"{finding.message}{where}", lines=tuple(_lines(one))
    )


def _head(finding: Finding) -> str:
    sure = f"{finding.confidence_ratio:.0%} sure"
    return f"{finding.cause}, {sure}" if finding.decided else "undecided"


def _lines(one: Diagnosed) -> Iterator[str]:
    finding = one.finding
    for line in finding.evidence[:_MOST_LINES]:
        yield f"seen: {_place(line)}: {line.text}"
    if not finding.decided and not finding.suspects:
        yield f"suspect: {finding.cause} ({finding.confidence_ratio:.0%})"
    if not finding.decided:
        for suspect in finding.suspects:
            yield f"suspect: {suspect.cause} ({suspect.confidence_ratio:.0%}): " + (
                suspect.question
            )
    elif finding.missing:
        yield f"to be sure: {'; '.join(finding.missing)}"
    if finding.decided and finding.alike_ratio >= _ALIKE_SHOWN_RATIO:
        yield f"speaks for it: {finding.alike_ratio:.0%} of the known outputs that read alike"
    yield f"do: {finding.advice}"
    if finding.next_command:
        yield f"next: {finding.next_command}"
    if one.price is not None:
        yield _price(one.price)
    if one.consequences:
        follow = dict.fromkeys(_name(finding) for finding in one.consequences)
        yield f"follows from it: {', '.join(follow)}"


def _name(finding: Finding) -> str:
    if finding.symptom is not None and not finding.decided:
        return finding.symptom
    return finding.cause


def _place(line: Evidence) -> str:
    return f"{line.file}:{line.line}"


def _price(price: Price) -> str:
    whose = "your job" if price.stated else "a default job"
    return (
        f"costs: step {percent(price.step_ratio)} longer, {money(price.usd_per_day)} a day "
        f"({whose}: {price.job} on {price.gpus} GPUs of {price.cluster}; {price.fault})"
    )


def _read(result: Diagnosis) -> Iterator[tuple[str, str]]:
    yield "files", str(len(result.files))
    yield "facts", str(result.facts)
    yield "rules asked", str(result.rules)
    unread = sum(file.unread for file in result.files)
    yield "lines not understood", str(unread)
    skipped = Counter(file.skipped for file in result.files if file.skipped)
    for why, count in skipped.most_common(_MOST_REASONS):
        yield "files not read", f"{count}: {why}"
    left_out = sum(file.left_out for file in result.files)
    if left_out:
        yield "facts left out", f"{left_out}: more of a kind than one diagnosis can hold"


diagnosis = View(shows="weft.doctor.diagnose.Diagnosis", verb="diagnose", page=_page)

"""`weft claims`: what the articles say, put to the test on one cluster."""

from collections.abc import Iterator
from math import isfinite

from weft.advise.claim import ARTICLES, Claimed, Finding, Outcome, Tested
from weft.advise.claims import Claims
from weft.advise.wording import figure
from weft.report.page import Block, Columns, Entries, Entry, Sentences, View, table

ORDER = (Outcome.HOLDS, Outcome.WHEN, Outcome.FAILS, Outcome.OPEN, Outcome.UNTESTED)
SHORT = {
    Outcome.HOLDS: "holds", Outcome.WHEN: "in part", Outcome.FAILS: "does not",
    Outcome.OPEN: "undecided", Outcome.UNTESTED: "untested",
}  # fmt: skip
COUNTED = {
    Outcome.HOLDS: "hold", Outcome.WHEN: "hold in part", Outcome.FAILS: "do not hold",
    Outcome.OPEN: "are within error", Outcome.UNTESTED: "cannot be tested here",
}  # fmt: skip
TEXT_WIDTH = 62


def _title(result: Claims) -> str:
    counts = (
        (result.outcomes.get(str(kind.value), 0), words) for kind, words in COUNTED.items()
    )
    found = ", ".join(f"{count} {words}" for count, words in counts if count)
    name = f"{result.job.model.name} on {result.cluster.name}"
    return f"{name}: of {len(result.claims)} claims {found}"


def _answer(result: Claims) -> Iterator[Block]:
    ordered = sorted(result.claims, key=lambda claim: ORDER.index(claim.outcome))
    columns: Columns = {"point": "point", "outcome": lambda claim: SHORT[claim.outcome],
               "claim": lambda claim: _cut(claim.text)}  # fmt: skip
    yield table(ordered, columns, left=(0, 1, 2))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_WIDTH else f"{text[: TEXT_WIDTH - 3].rstrip()}..."


def _blocks(result: Claims) -> Iterator[Block]:
    yield Entries(title="Evidence", items=tuple(map(_entry, result.claims)))
    yield Sentences(
        title="Articles", lines=tuple(f"{letter}: {name}" for letter, name in ARTICLES.items())
    )


def _entry(claim: Tested) -> Entry:
    condition = f": {claim.condition}" if claim.condition else ""
    return Entry(
        head=f"{claim.point} ({', '.join(claim.articles)})",
        text=f'"{claim.text}" {claim.outcome.value}{condition}',
        lines=tuple(map(_line, claim.findings)),
    )


def _line(finding: Finding) -> str:
    """Write a finding: the number, the range claimed, the outcome of the two."""
    head = f"{finding.label}: {finding.outcome.value}"
    found, unit = finding.found, finding.unit
    if found is None:
        return f"{head}, {finding.evidence}"
    number = figure(found.value, unit)
    if found.low != found.high:
        number += f" ({figure(found.low, unit)} to {figure(found.high, unit)})"
    claimed = f"claimed {_range(finding.claimed, unit)}"
    return f"{head}. {finding.quantity}: {number}, {claimed}; {finding.evidence}"


def _range(claimed: Claimed, unit: str) -> str:
    low, high = claimed.low, claimed.high
    if isfinite(low) and isfinite(high):
        return f"{figure(low, unit)} to {figure(high, unit)}"
    return f"at least {figure(low, unit)}" if isfinite(low) else f"at most {figure(high, unit)}"


claims = View(
    shows="weft.advise.claims.Claims", verb="claims", title=_title, answer=_answer,
    blocks=_blocks, charts=(),
)  # fmt: skip

"""`weft claims`: what the articles say, put to the test on one cluster."""

from math import isfinite

from weft.advise.claim import ARTICLES, Claimed, Finding, Outcome, Tested
from weft.advise.claims import Claims
from weft.advise.wording import figure
from weft.report.page import Entries, Entry, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer

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


def _page(result: Claims) -> Page:
    ordered = sorted(result.claims, key=lambda one: ORDER.index(one.outcome))
    name = f"{result.job.model.name} on {result.cluster.name}"
    counts = (
        (words, result.outcomes.get(str(kind.value), 0)) for kind, words in COUNTED.items()
    )
    told = ", ".join(f"{count} {words}" for words, count in counts if count)
    return Page(
        title=f"{name}: of {len(result.claims)} claims {told}",
        answer=(
            Table(
                columns=("point", "outcome", "claim"),
                rows=rows_of(
                    *((one.point, SHORT[one.outcome], _cut(one.text)) for one in ordered)
                ),
                left=(0, 1, 2),
            ),
        ),
        blocks=(
            Entries(title="Evidence", items=tuple(_entry(one) for one in result.claims)),
            Sentences(
                title="Articles",
                lines=tuple(f"{letter}: {title}" for letter, title in ARTICLES.items()),
            ),
        ),
        footer=footer(result.provenance),
    )


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_WIDTH else f"{text[: TEXT_WIDTH - 3].rstrip()}..."


def _entry(one: Tested) -> Entry:
    condition = f": {one.condition}" if one.condition else ""
    return Entry(
        head=f"{one.point} ({', '.join(one.articles)})",
        text=f'"{one.text}" {one.outcome.value}{condition}',
        lines=tuple(_line(finding) for finding in one.findings),
    )


def _line(one: Finding) -> str:
    """Write a finding: the number, the range claimed, the outcome of the two."""
    if one.found is None:
        return f"{one.label}: {one.outcome.value}, {one.evidence}"
    number = figure(one.found.value, one.unit)
    if one.found.low != one.found.high:
        number += f" ({figure(one.found.low, one.unit)} to {figure(one.found.high, one.unit)})"
    claimed = f"claimed {_range(one.claimed, one.unit)}"
    return (
        f"{one.label}: {one.outcome.value}. {one.quantity}: {number}, {claimed}; {one.evidence}"
    )


def _range(claimed: Claimed, unit: str) -> str:
    low, high = claimed.low, claimed.high
    if isfinite(low) and isfinite(high):
        return f"{figure(low, unit)} to {figure(high, unit)}"
    return f"at least {figure(low, unit)}" if isfinite(low) else f"at most {figure(high, unit)}"


claims = View(
    shows="weft.advise.claims.Claims",
    verb="claims",
    page=_page,
    charts=(),
)

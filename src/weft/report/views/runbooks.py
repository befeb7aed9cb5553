"""`weft runbook`: what to do about each fault, with the names of one cluster."""

from collections.abc import Iterator

from weft.generate.runbook import Runbook, Runbooks
from weft.report.page import Block, Page, Sentences, Table, View
from weft.report.views._provenance import footer


def _page(result: Runbooks) -> Page:
    several = len(result.runbooks) > 1
    title = f"{len(result.runbooks)} runbooks" if several else result.runbooks[0].title
    blocks = [block for one in result.runbooks for block in _blocks(one)]
    if not several:
        return _one(f"{title} for {result.cluster}", blocks, result)
    listed = [one for one in result.runbooks if one.check]
    rows = tuple((one.name, str(len(one.alerts)), str(len(one.causes))) for one in listed)
    rest = len(result.runbooks) - len(listed)
    named = Table(
        title="Runbooks", columns=("name", "alerts", "causes"), rows=rows,
        notes=(f"and {rest} causes with a short runbook each",) if rest else (),
    )  # fmt: skip
    return Page(
        title=f"{title} for {result.cluster}", answer=(named,), blocks=tuple(blocks),
        rest="the runbooks; weft runbook NAME prints one",
        footer=footer(result.provenance)[:1],
    )  # fmt: skip


def _one(title: str, blocks: list[Block], result: Runbooks) -> Page:
    """Return the page of one runbook: what to check is on the first screen."""
    first = [block for block in blocks if isinstance(block, Table) and ": check" in block.title]
    answer = [blocks[0], *first] if first else blocks[:2]
    return Page(
        title=title, answer=tuple(answer),
        blocks=tuple(block for block in blocks if block not in answer),
        rest="alerts, how to tell causes apart, what to do, verify, escalate",
        footer=footer(result.provenance)[:1],
    )  # fmt: skip


def _blocks(one: Runbook) -> Iterator[Block]:
    yield Sentences(title=one.title if one.check else one.name, lines=one.see)
    yield from _alerts(one)
    if one.check:
        yield Table(
            title=f"{one.title}: check", columns=("command", "where all is well"),
            rows=tuple((row.command, row.expected) for row in one.check), left=(0, 1),
        )  # fmt: skip
    if one.apart:
        yield Sentences(title=f"{one.title}: tell causes apart", lines=one.apart)
    yield from _causes(one)
    yield Sentences(title=f"{one.title}: act", lines=one.act)
    yield Sentences(title=f"{one.title}: verify", lines=one.verify)
    yield Sentences(title=f"{one.title}: escalate", lines=(one.escalate,))


def _alerts(one: Runbook) -> Iterator[Block]:
    if one.alerts:
        yield Table(
            title=f"{one.title}: alerts", columns=("alert", "severity", "threshold"),
            rows=tuple((row.name, row.severity, row.because) for row in one.alerts),
            left=(0, 1, 2),
        )  # fmt: skip


def _causes(one: Runbook) -> Iterator[Block]:
    if one.causes and one.check:
        yield Table(
            title=f"{one.title}: causes", columns=("cause", "what it is", "fix", "confirm"),
            rows=tuple((row.cause, row.title, row.fix, row.confirm) for row in one.causes),
            left=(0, 1, 2, 3),
        )  # fmt: skip


runbooks = View(shows="weft.generate.runbook.Runbooks", verb="runbook", page=_page)

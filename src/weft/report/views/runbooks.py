"""`weft runbook`: what to do about each fault, with the names of one cluster."""

from collections.abc import Iterator

from weft.generate.runbook import Runbook, Runbooks
from weft.report.page import Block, Columns, Page, Sentences, Table, View, footer, table


def _page(result: Runbooks) -> Page:
    several = len(result.runbooks) > 1
    blocks = [block for runbook in result.runbooks for block in _blocks(runbook)]
    if not several:
        return _one(f"{result.runbooks[0].title} for {result.cluster}", blocks, result)
    long = [runbook for runbook in result.runbooks if runbook.check]
    rest = len(result.runbooks) - len(long)
    columns: Columns = {"name": "name", "alerts": lambda runbook: str(len(runbook.alerts)),
                        "causes": lambda runbook: str(len(runbook.causes))}  # fmt: skip
    named = table(long, columns)
    short = f", and {rest} short ones for single causes" if rest else ""
    return Page(
        title=f"{result.cluster}: {len(long)} runbooks{short}", answer=(named,),
        blocks=tuple(blocks),
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


def _blocks(runbook: Runbook) -> Iterator[Block]:
    title = runbook.title
    yield Sentences(title=title if runbook.check else runbook.name, lines=runbook.see)
    if runbook.alerts:
        alerts = {"alert": "name", "severity": "severity", "threshold": "because"}
        yield table(runbook.alerts, alerts, title=f"{title}: alerts")
    if runbook.check:
        steps = {"command": "command", "where all is well": "expected"}
        yield table(runbook.check, steps, title=f"{title}: check")
    if runbook.apart:
        yield Sentences(title=f"{title}: tell causes apart", lines=runbook.apart)
    if runbook.causes and runbook.check:
        causes = {"cause": "cause", "what it is": "title", "fix": "fix", "confirm": "confirm"}
        yield table(runbook.causes, causes, title=f"{title}: causes")
    yield Sentences(title=f"{title}: act", lines=runbook.act)
    yield Sentences(title=f"{title}: verify", lines=runbook.verify)
    yield Sentences(title=f"{title}: escalate", lines=(runbook.escalate,))


runbooks = View(shows="weft.generate.runbook.Runbooks", verb="runbook", whole=_page)

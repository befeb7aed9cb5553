"""`weft plan --explain`: every number of a configuration, why, and where that is from."""

from collections.abc import Iterator

from weft.generate.plan import ExplainedPlan, Plan
from weft.report.page import Block, Entries, Entry, Page, View
from weft.report.views._plan import TITLES, value, within
from weft.report.views._provenance import footer


def _page(result: ExplainedPlan) -> Page:
    plan = result.plan
    return Page(
        title=f"Plan of {plan.names.cluster.text()}, explained",
        blocks=(*_parts(plan), *_refused(plan), _sources(plan)),
        footer=footer(plan.provenance)[:1],
    )


def _parts(plan: Plan) -> Iterator[Block]:
    numbers = tuple(plan.numbers())
    for part, title in TITLES.items():
        items = tuple(
            Entry(head=f"{name}: {value(one)}", text=one.reason, lines=(f"[{one.source}]",))
            for name, one in within(numbers, part)
        )
        if items:
            yield Entries(title=title, items=items)


def _refused(plan: Plan) -> Iterator[Block]:
    items = tuple(
        Entry(head=f"{one.name}={one.value}", text=one.reason, lines=(f"[{one.source}]",))
        for one in plan.nccl.refused
    )
    if items:
        yield Entries(title="Asked for and left out", items=items)


def _sources(plan: Plan) -> Block:
    return Entries(
        title="Sources",
        items=tuple(
            Entry(
                head=f"[{source.key}]",
                text=source.title,
                lines=(source.url,) * bool(source.url),
            )
            for source in plan.sources
        ),
    )


explained_plan = View(shows="weft.generate.plan.ExplainedPlan", verb="", page=_page)

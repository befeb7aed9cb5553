"""`weft plan --explain`: every number of a configuration, why, and where that is from."""

from collections.abc import Iterator

from weft.generate.effects import Effect, ExplainedPlan
from weft.generate.plan import Plan
from weft.report.numbers import seconds
from weft.report.page import Block, Entries, Entry, Page, View
from weft.report.views._plan import TITLES, value, within
from weft.report.views._provenance import footer


def _page(result: ExplainedPlan) -> Page:
    plan = result.plan
    return Page(
        title=f"Plan of {plan.names.cluster.text()}, explained",
        blocks=(*_parts(plan), *_effects(result), *_refused(plan), _sources(plan)),
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
        for one in (*plan.nccl.refused, *plan.left_out)
    )
    if items:
        yield Entries(title="Requested and left out", items=items)


def _effects(result: ExplainedPlan) -> Iterator[Block]:
    items_of = result.effects
    items = tuple(
        Entry(head=f"without {one.without}", text=_worth(one), lines=(_stopped(one),))
        for one in items_of
    )
    if items:
        simulated = Entry(head="simulated", text=items_of[0].scenario)
        yield Entries(title="Effect of the values, by simulation", items=(simulated, *items))


def _worth(effect: Effect) -> str:
    planned = f"as planned {seconds(effect.collective_s)}"
    if effect.collective_without_s is None or effect.longer_ratio is None:
        return f"the collective does not end; {planned}"
    return (
        f"the collective takes {seconds(effect.collective_without_s)}, "
        f"{100 * effect.longer_ratio:+.0f} %; {planned}"
    )


def _stopped(effect: Effect) -> str:
    return (
        f"links are paused for {seconds(effect.paused_without_s)} in all (as planned "
        f"{seconds(effect.paused_s)}); {effect.drops_without} packets dropped"
    )


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


explained_plan = View(shows="weft.generate.effects.ExplainedPlan", verb="", page=_page)

"""`weft plan --explain`: every number of a configuration, why, and where that is from."""

from collections.abc import Iterator

from weft.generate.effects import Effect, ExplainedPlan
from weft.report.numbers import seconds
from weft.report.page import Block, Entries, Entry, View
from weft.report.views._plan import TITLES, value, within


def _title(result: ExplainedPlan) -> str:
    return f"Plan of {result.plan.names.cluster.text()}, explained"


def _blocks(result: ExplainedPlan) -> Iterator[Block]:
    plan, numbers = result.plan, tuple(result.plan.numbers())
    for part, title in TITLES.items():
        yield from _entries(
            title,
            *(
                Entry(head=f"{name}: {value(own)}", text=own.reason, lines=(f"[{own.source}]",))
                for name, own in within(numbers, part)
            ),
        )
    if result.effects:
        yield from _entries(
            "Effect of the values, by simulation",
            Entry(head="simulated", text=result.effects[0].scenario),
            *map(_effect, result.effects),
        )
    yield from _entries(
        "Requested and left out",
        *(
            Entry(head=f"{own.name}={own.value}", text=own.reason, lines=(f"[{own.source}]",))
            for own in (*plan.nccl.refused, *plan.left_out)
        ),
    )
    yield from _entries(
        "Sources",
        *(
            Entry(head=f"[{own.key}]", text=own.title, lines=(own.url,) * bool(own.url))
            for own in plan.sources
        ),
    )


def _entries(title: str, *items: Entry) -> Iterator[Entries]:
    if items:
        yield Entries(title=title, items=items)


def _effect(effect: Effect) -> Entry:
    text = f"as planned {seconds(effect.collective_s)}"
    if effect.collective_without_s is None or effect.longer_ratio is None:
        text = f"the collective does not end; {text}"
    else:
        text = (
            f"the collective takes {seconds(effect.collective_without_s)}, "
            f"{100 * effect.longer_ratio:+.0f} %; {text}"
        )
    paused = (
        f"links are paused for {seconds(effect.paused_without_s)} in all (as planned "
        f"{seconds(effect.paused_s)}); {effect.drops_without} packets dropped"
    )
    return Entry(head=f"without {effect.without}", text=text, lines=(paused,))


explained_plan = View(
    shows="weft.generate.effects.ExplainedPlan", verb="", title=_title, blocks=_blocks,
    is_modelled=False, held_by=lambda result: result.plan,
)  # fmt: skip

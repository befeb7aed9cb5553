"""`weft whatif`: faults ranked by what they cost the job."""

from weft.advise.failover import FailOver
from weft.advise.whatif import Harm, WhatIf
from weft.advise.year import STOCK_RATIO, Spare, Year
from weft.report.numbers import band, figures, money, percent, seconds, signed_percent
from weft.report.page import Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer

NOTE = (
    "A stop costs its restart and the work since a checkpoint; a slow step is counted for one "
    "day. Events a month only where a rate is published."
)


def _page(result: WhatIf) -> Page:
    name = f"{result.job.model.name} on {result.cluster.name}"
    stops = [harm for harm in result.harms if harm.step_s is None]
    return Page(
        title=f"{name}: {_verdict(result, stops)}",
        answer=(
            Table(
                columns=("fault", "parts", "step", "slower", "one costs", "a month"),
                rows=rows_of(*(_row(harm) for harm in result.harms)),
                left=(0,),
            ),
            Sentences(lines=(_of_fail_over(result), _of_year(result.year), NOTE)),
        ),
        blocks=(
            Table(
                title="Spares",
                columns=("part that fails", "parts", "failures until delivery", "hold"),
                rows=rows_of(*(_spare(one) for one in result.year.spares)),
                left=(0,),
            ),
            Sentences(lines=(_of_spares(result.year),)),
            Table(
                title="Fail-over by fabric",
                columns=("fabric", "traffic flows again in", "other links in", "then timers"),
                rows=rows_of(*(_fail_over(one) for one in result.fail_overs)),
                left=(0,),
            ),
            Sentences(
                title="Why the job stops",
                lines=tuple(f"{harm.title}: {harm.reason}" for harm in stops),
            ),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        footer=footer(result.provenance),
    )


def _verdict(result: WhatIf, stops: list[Harm]) -> str:
    lasting = [harm for harm in result.harms if harm.slower_ratio is not None]
    worst = max(lasting, key=lambda harm: harm.slower_ratio or 0.0, default=None)
    said = f"{len(stops)} of {len(result.harms)} faults stop it"
    if worst is None or worst.slower_ratio is None:
        return said
    if worst.slower_ratio == 1:
        return f"{said}; the others do not slow it"
    return f"{said}; the others slow it by up to {percent(worst.slower_ratio - 1)}"


def _of_fail_over(result: WhatIf) -> str:
    found = result.fail_over
    if found is None:
        return "Fail-over: no time is published for this fabric."
    steps = found.until_s.value / result.prediction.step_s.value
    ends = (
        f" If other links take more than {seconds(found.patience_s)}, the job ends."
        if found.patience_s is not None and found.may_end_the_job
        else ""
    )
    return (
        f"Fail-over: traffic flows again {seconds(found.until_s)} after a part of the network "
        f"fails ({figures(steps)} steps lost): other links in "
        f"{seconds(found.reroutes_s)}, then senders' timers.{ends}"
    )


def _fail_over(one: FailOver) -> tuple[str, ...]:
    times = (one.until_s, one.reroutes_s, one.resends_s)
    return one.title, *("-" if time.high == 0 else seconds(time) for time in times)


def _of_year(year: Year) -> str:
    if not year.spares:
        return "A year: no rate is published for faults of this network."
    return (
        f"A year of those whose rate is published: {band(year.faults)} faults, "
        f"{percent(year.lost_ratio)} of the work lost, {money(year.usd)}."
    )


def _of_spares(year: Year) -> str:
    return (
        f"Held so that {percent(STOCK_RATIO)} of deliveries come in time, {year.lead_weeks:g} "
        f"weeks after the order (--lead-weeks); {year.draws:,} years were drawn."
    )


def _spare(one: Spare) -> tuple[str, ...]:
    return one.title, f"{one.parts:,}", figures(one.expected), str(one.held)


def _row(harm: Harm) -> tuple[str, ...]:
    step = "stops" if harm.step_s is None else seconds(harm.step_s.value)
    slower = "" if harm.slower_ratio is None else signed_percent(harm.slower_ratio - 1)
    monthly = "" if harm.monthly is None else figures(harm.monthly)
    parts = f"{harm.parts:,}"
    return harm.title, parts, step, slower, money(harm.usd.value), monthly


what_if = View(shows="weft.advise.whatif.WhatIf", verb="whatif", page=_page, charts=())

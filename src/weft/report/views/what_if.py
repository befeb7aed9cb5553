"""`weft whatif`: faults ranked by what they cost the job."""

from collections.abc import Iterator

from weft.advise.whatif import Harm, WhatIf
from weft.advise.year import STOCK_RATIO, Year
from weft.report.numbers import figures, money, percent, seconds, signed_percent
from weft.report.page import Block, Columns, Sentences, View, table
from weft.results import Estimate

NOTE = (
    "A stop costs its restart and the work since a checkpoint; a slow step is counted for one "
    "day. Events a month only where a rate is published."
)


def _stops(result: WhatIf) -> list[Harm]:
    return [harm for harm in result.harms if harm.step_s is None]


def _answer(result: WhatIf) -> Iterator[Block]:
    columns: Columns = {
        "fault": "title", "parts": lambda harm: f"{harm.parts:,}",
        "step": lambda harm: "stops" if harm.step_s is None else seconds(harm.step_s.value),
        "slower": _slower, "one costs": lambda harm: money(harm.usd.value),
        "a month": lambda harm: "" if harm.monthly is None else figures(harm.monthly),
    }  # fmt: skip
    yield table(result.harms, columns)
    yield Sentences(lines=(_of_fail_over(result), _of_year(result.year), NOTE))


def _slower(harm: Harm) -> str:
    return "" if harm.slower_ratio is None else signed_percent(harm.slower_ratio - 1)


def _blocks(result: WhatIf) -> Iterator[Block]:
    year = result.year
    columns: Columns = {
        "part that fails": "title", "parts": lambda spare: f"{spare.parts:,}",
        "failures until delivery": "expected", "hold": "held",
    }  # fmt: skip
    yield table(year.spares, columns, title="Spares")
    held = (
        f"Held so that {percent(STOCK_RATIO)} of deliveries come in time, {year.lead_weeks:g} "
        f"weeks after the order (--lead-weeks); {year.draws:,} years were drawn."
    )
    yield Sentences(lines=(held,))
    yield table(result.fail_overs, _FAIL_OVER, title="Fail-over by fabric")
    reasons = tuple(f"{harm.title}: {harm.reason}" for harm in _stops(result))
    yield Sentences(title="Why the job stops", lines=reasons)


def _title(result: WhatIf) -> str:
    return f"{result.job.model.name} on {result.cluster.name}: {_verdict(result)}"


def _verdict(result: WhatIf) -> str:
    stops = _stops(result)
    lasting = [harm for harm in result.harms if harm.slower_ratio is not None]
    worst = max(lasting, key=lambda harm: harm.slower_ratio or 0.0, default=None)
    said = f"{len(stops)} of {len(result.harms)} faults stop it"
    if worst is None or worst.slower_ratio is None:
        return said
    if worst.slower_ratio == 1:
        return f"{said}; the others do not slow it"
    slower = signed_percent(worst.slower_ratio - 1).removeprefix("+")
    return f"{said}; the others slow it by up to {slower}"


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
    timers = ", then senders' timers" if found.resends_s.high else ""
    return (
        f"Fail-over: traffic flows again {seconds(found.until_s)} after a part of the network "
        f"fails ({figures(steps)} steps lost): other links in "
        f"{seconds(found.reroutes_s)}{timers}.{ends}"
    )


def _until(time: Estimate) -> str:
    return "-" if time.high == 0 else seconds(time)


_FAIL_OVER: Columns = {
    "fabric": "title", "traffic flows again in": lambda found: _until(found.until_s),
    "other links in": lambda found: _until(found.reroutes_s),
    "then timers": lambda found: _until(found.resends_s),
}  # fmt: skip


def _of_year(year: Year) -> str:
    if not year.spares:
        return "A year: no rate is published for faults of this network."
    faults, lost, usd = year.faults, year.lost_ratio, year.usd
    return (
        f"A year of those whose rate is published, on average: {figures(faults.value)} faults, "
        f"{percent(lost.value)} of the work lost, {money(usd.value)}; in 8 of 10 years "
        f"{figures(faults.low)} to {figures(faults.high)} faults, {percent(lost.low)} to "
        f"{percent(lost.high)}, {money(usd.low)} to {money(usd.high)}."
    )


what_if = View(
    shows="weft.advise.whatif.WhatIf", verb="whatif", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, charts=(),
)  # fmt: skip

"""`weft replay`: traced jobs on another network, by collective and by placement."""

from collections.abc import Iterator
from statistics import fmean

from weft.predict.replay import CollectiveReplay, JobReplay, Placed, Replay
from weft.report.numbers import percent, seconds, show_size, signed_percent
from weft.report.page import Block, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer

EXPOSED = (
    "Exposed: while the rank computed nothing, waiting for slower ranks included. The step is "
    "from the first begin to the last end, over the steps of the trace."
)
UNKNOWN = (
    "No collective of the trace has a size that could be predicted, so all keep their traced "
    "times: record with PyTorch 2.3 or newer, which writes the metadata of NCCL."
)
GAIN = (
    "Gain: how much shorter the step is than under the first placement. What neighbours cost "
    "is what isolation would save. Bands of placements are over hash seeds."
)


def _page(result: Replay) -> Page:
    names = ", ".join(job.name for job in result.jobs)
    traced = ", ".join(
        f"{job.name}: {job.traced_ranks} of {job.ranks} ranks, {job.steps} steps"
        for job in result.jobs
    )
    return Page(
        title=f"{names} on {result.cluster.name}: {_verdict(result)}",
        answer=(
            *_placements(result),
            _steps(result),
            *(_collectives(job, result) for job in result.jobs[:1]),
            Sentences(lines=tuple(_next(result))),
        ),
        blocks=(
            *(_collectives(job, result) for job in result.jobs[1:]),
            *((_by_job(result),) if len(result.jobs) > 1 and result.placements else ()),
            Sentences(title="Traces", lines=(traced,)),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        footer=footer(result.provenance),
    )


def _verdict(result: Replay) -> str:
    job = max(result.jobs, key=lambda one: one.step_s.value)
    said = f"a step takes {seconds(job.step_s)}"
    if len(result.placements) > 1:
        best = max(result.placements, key=lambda one: fmean(one.gain_ratio))
        first, gain = result.placements[0], fmean(best.gain_ratio)
        if gain < 0.0005:  # noqa: PLR2004 - as below
            return f"no placement is faster than {first.placement}"
        return f"{best.placement} shortens steps by {percent(gain)} against {first.placement}"
    if job.traced_s is None:
        return said
    change = job.step_s.value / job.traced_s - 1
    if abs(change) < 0.0005:  # noqa: PLR2004 - what the figures show
        return f"{said}, as traced"
    return f"{said}, {percent(abs(change))} {'longer' if change > 0 else 'shorter'} than traced"


def _steps(result: Replay) -> Table:
    own = result.traced_on is not None
    model = ("model of it",) if own else ()
    columns = ("job", "ranks", "traced", *model, "here", "computing", "exposed traced",
               "exposed here")  # fmt: skip
    return Table(
        columns=columns, rows=rows_of(*(_step(job, own=own) for job in result.jobs)), left=(0,)
    )


def _step(job: JobReplay, *, own: bool) -> tuple[str, ...]:
    model = ("" if job.modelled_s is None else seconds(job.modelled_s.value),) if own else ()
    return (
        job.name, f"{job.ranks:,}", _perhaps(job.traced_s), *model, seconds(job.step_s.value),
        seconds(job.compute_s), _perhaps(job.exposed_traced_s), seconds(job.exposed_s),
    )  # fmt: skip


def _perhaps(time_s: float | None) -> str:
    return "-" if time_s is None else seconds(time_s)


def _placements(result: Replay) -> Iterator[Block]:
    """Show one row a placement: of one job its step, of several what holds for all of them."""
    if not result.placements:
        return
    if len(result.jobs) == 1:
        rows = [
            (one.placement, seconds(one.step_s[0]), _gain(one.gain_ratio[0], first=at == 0))
            for at, one in enumerate(result.placements)
        ]
        yield Table(columns=("placement", "step", "gain"), rows=rows_of(*rows), left=(0,))
        return
    yield Table(
        columns=("placement", "longest step", "mean gain", "neighbours cost"),
        rows=rows_of(*(
            (one.placement, seconds(max(step.value for step in one.step_s)),
             _gain(fmean(one.gain_ratio), first=at == 0), signed_percent(_cost(one)))
            for at, one in enumerate(result.placements)
        )),
        left=(0,),
    )  # fmt: skip


def _cost(placed: Placed) -> float:
    pairs = zip(placed.step_s, placed.alone_s, strict=True)
    return fmean(step.value / alone.value - 1 for step, alone in pairs)


def _gain(ratio: float, *, first: bool) -> str:
    return "base" if first else signed_percent(ratio)


def _by_job(result: Replay) -> Table:
    rows = [
        (one.placement, job.name, seconds(one.step_s[at]), seconds(one.alone_s[at]),
         _gain(one.gain_ratio[at], first=number == 0))
        for number, one in enumerate(result.placements) for at, job in enumerate(result.jobs)
    ]  # fmt: skip
    return Table(
        title="Placements by job", columns=("placement", "job", "step", "alone", "gain"),
        rows=rows_of(*rows), left=(0, 1),
    )  # fmt: skip


def _collectives(job: JobReplay, result: Replay) -> Table:
    named = f"{job.name}: " if len(result.jobs) > 1 else ""
    return Table(
        title=f"{named}Collectives of a step",
        columns=("operation", "size", "ranks", "hosts", "calls", "traced", "here",
                 "exposed traced", "exposed here"),
        rows=rows_of(*(_collective(one) for one in job.collectives)),
        left=(0,), least=(7,),
    )  # fmt: skip


def _collective(one: CollectiveReplay) -> tuple[str, ...]:
    here = seconds(one.predicted_s.value) if one.modelled else "as traced"
    return (
        one.operation, show_size(one.size_bytes), f"{one.ranks:,}", f"{one.hosts:,}",
        f"{one.calls:g}", _perhaps(one.traced_s), here, _perhaps(one.exposed_traced_s),
        seconds(one.exposed_s),
    )  # fmt: skip


def _next(result: Replay) -> Iterator[str]:
    if not any(row.modelled for job in result.jobs for row in job.collectives):
        yield UNKNOWN
    if result.placements:
        yield GAIN
    yield EXPOSED
    if result.traced_on is None and any(job.traced_s is not None for job in result.jobs):
        yield (
            "Name the cluster of the trace with --traced-on: collectives are then scaled from "
            "their traced times, and the model is held against the trace."
        )


replay = View(shows="weft.predict.replay.Replay", verb="replay", page=_page, charts=())

"""`weft replay`: traced jobs on another network, by collective and by placement."""

from collections.abc import Iterator
from statistics import fmean

from weft.predict.replay import CollectiveReplay, JobReplay, Replay
from weft.predict.traced import Placed
from weft.report.numbers import percent, seconds, signed_percent
from weft.report.page import Block, Columns, Sentences, Table, View, table

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


def _title(result: Replay) -> str:
    names = ", ".join(job.name for job in result.jobs)
    return f"{names} on {result.cluster.name}: {_verdict(result)}"


def _answer(result: Replay) -> Iterator[Block]:
    yield from _placements(result)
    yield _steps(result)
    yield _collectives(result.jobs[0], result)
    yield Sentences(lines=tuple(_next(result)))


def _blocks(result: Replay) -> Iterator[Block]:
    for job in result.jobs[1:]:
        yield _collectives(job, result)
    if len(result.jobs) > 1 and result.placements:
        yield _by_job(result)
    traced = ", ".join(
        f"{job.name}: {job.traced_ranks} of {job.ranks} ranks, {job.steps} steps"
        for job in result.jobs
    )
    yield Sentences(title="Traces", lines=(traced,))


def _verdict(result: Replay) -> str:
    job = max(result.jobs, key=lambda job: job.step_s.value)
    said = f"a step takes {seconds(job.step_s)}"
    if len(result.placements) > 1:
        best = max(result.placements, key=lambda placed: fmean(placed.gain_ratio))
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
    model: Columns = {"model of it": _model} if result.traced_on is not None else {}
    columns: Columns = {
        "job": "name", "ranks": lambda job: f"{job.ranks:,}", "traced": "traced_s", **model,
        "here": lambda job: seconds(job.step_s.value), "computing": "compute_s",
        "exposed traced": "exposed_traced_s", "exposed here": "exposed_s",
    }  # fmt: skip
    return table(result.jobs, columns)


def _model(job: JobReplay) -> str:
    return "" if job.modelled_s is None else seconds(job.modelled_s.value)


def _placements(result: Replay) -> Iterator[Block]:
    """Show one row a placement: of one job its step, of several what holds for all of them."""
    if not result.placements:
        return
    first = result.placements[0]
    if len(result.jobs) == 1:
        columns: Columns = {
            "placement": "placement", "step": lambda placed: seconds(placed.step_s[0]),
            "gain": lambda placed: _gain(placed.gain_ratio[0], is_first=placed is first),
        }  # fmt: skip
    else:
        columns = {
            "placement": "placement",
            "longest step": lambda placed: seconds(max(step.value for step in placed.step_s)),
            "mean gain": lambda placed: _gain(
                fmean(placed.gain_ratio), is_first=placed is first
            ),
            "neighbours cost": lambda placed: signed_percent(_cost(placed)),
        }
    yield table(result.placements, columns)


def _cost(placed: Placed) -> float:
    pairs = zip(placed.step_s, placed.alone_s, strict=True)
    return fmean(step.value / alone.value - 1 for step, alone in pairs)


def _gain(ratio: float, *, is_first: bool) -> str:
    return "base" if is_first else signed_percent(ratio)


def _by_job(result: Replay) -> Table:
    rows = (
        (placed.placement, job.name, seconds(placed.step_s[at]), seconds(placed.alone_s[at]),
         _gain(placed.gain_ratio[at], is_first=placed is result.placements[0]))
        for placed in result.placements for at, job in enumerate(result.jobs)
    )  # fmt: skip
    columns = ("placement", "job", "step", "alone", "gain")
    return Table(title="Placements by job", columns=columns, rows=tuple(rows), left=(0, 1))


def _collectives(job: JobReplay, result: Replay) -> Table:
    named = f"{job.name}: " if len(result.jobs) > 1 else ""
    columns: Columns = {
        "operation": "operation", "size": "size_bytes",
        "ranks": lambda own: f"{own.ranks:,}", "hosts": lambda own: f"{own.hosts:,}",
        "calls": lambda own: f"{own.calls:g}", "traced": "traced_s", "here": _predicted,
        "exposed traced": "exposed_traced_s", "exposed here": "exposed_s",
    }  # fmt: skip
    title = f"{named}Collectives of a step"
    return table(job.collectives, columns, title=title, left=(0,), least=(7,))


def _predicted(own: CollectiveReplay) -> str:
    return seconds(own.predicted_s.value) if own.modelled else "as traced"


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


replay = View(
    shows="weft.predict.replay.Replay", verb="replay", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, charts=(),
)  # fmt: skip

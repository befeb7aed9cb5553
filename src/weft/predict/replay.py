"""Traced jobs on another network: computing as it was, collectives as the network runs them.

Computing keeps its traced time. A collective takes what the engine predicts for its operation,
size and ranks; where the network of the trace is given, what was traced times the prediction
for the new network over that for the old one, so that the same network gives the trace again.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from weft.engines.analytic.collective import collective_time
from weft.engines.flow.solver import Ends
from weft.errors import SpecError
from weft.network.graph import Floats
from weft.predict.provenance import provenance
from weft.predict.traced import Placed, Run, group_of
from weft.readers.trace import Traced
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.traffic.recorded import Instance, Recorded, check_fits, recorded

COMPUTING: Final = "computing keeps its traced times: GPUs and hosts are those of the trace"
SCALED: Final = (
    "a collective takes its traced time times the prediction for this network over that for "
    "the traced one"
)
ALONE: Final = (
    "one rank stands for all: its traced collectives include waiting for slower ranks, and the "
    "others run what it runs"
)
WAITS: Final = (
    "the trace does not record which computing waited for a collective: the band reaches from "
    "waits that its times show to the next computing waiting for each"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveReplay:
    """Calls of one operation, size and group in one step of one rank; times are of all."""

    operation: str
    ranks: int
    hosts: int
    size_bytes: float
    calls: float
    traced_s: float | None
    predicted_s: Estimate
    exposed_traced_s: float | None
    exposed_s: float
    """While the rank computed nothing."""
    modelled: bool
    """False where no engine predicts it, or the trace has no size: its traced time stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReplay:
    """One traced job on the cluster; times are of one step."""

    name: str
    ranks: int
    traced_ranks: int
    steps: int
    traced_s: float | None
    """As it was; none where the trace has no times of collectives."""
    modelled_s: Estimate | None
    """The model's own prediction for the network of the trace, where that is given."""
    step_s: Estimate
    compute_s: float
    exposed_traced_s: float | None
    exposed_s: float
    collectives: tuple[CollectiveReplay, ...]
    """Those that expose most first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Traced jobs on a cluster."""

    cluster: Cluster
    traced_on: Cluster | None
    jobs: tuple[JobReplay, ...]
    placements: tuple[Placed, ...] = ()
    """With the flow engine; the first is what the others are compared with."""
    provenance: Provenance


def replay(
    jobs: Mapping[str, Sequence[Traced]],
    cluster: Cluster,
    *,
    traced_on: Cluster | None = None,
    fidelity: str = "analytic",
    placements: Sequence[str] = (),
    ranks: int | None = None,
) -> Replay:
    """Replay traced jobs, given by name, on the network of a cluster.

    ``traced_on`` is the cluster that they ran on; ``ranks`` of a job whose trace does not say.
    With the fidelity ``flow`` the jobs run side by side, placed in each of ``placements``
    (packed if none is named). Raises SpecError where the traces do not fit together or the
    cluster.
    """
    if fidelity not in {"analytic", "flow"}:
        raise SpecError(f"a trace is replayed with analytic or flow, not {fidelity!r}")
    if placements and fidelity != "flow":
        raise SpecError("placements need links that jobs share; add --fidelity flow")
    late = [recorded(name, traces, ranks=ranks) for name, traces in jobs.items()]
    early = [
        late[at] if late[at].waits_recorded or late[at].traced_s is None
        else recorded(name, traces, ranks=ranks, early=True)
        for at, (name, traces) in enumerate(jobs.items())
    ]  # fmt: skip
    for job in late:
        check_fits(job, cluster.gpus, cluster.name)
        if traced_on is not None:
            check_fits(job, traced_on.gpus, traced_on.name)
    placed: tuple[Placed, ...] = ()
    shown: Sequence[Ends | None] = [None] * len(late)
    if fidelity == "flow":
        from weft.predict.placement import place  # noqa: PLC0415 - it compiles kernels

        placed, shown = place(
            cluster, [(Run(item), scaled(item, cluster, traced_on)) for item in late],
            placements or ("packed",),
        )  # fmt: skip
    found = tuple(
        _job(item, other, cluster, traced_on, ends)
        for item, other, ends in zip(late, early, shown, strict=True)
    )
    if placed:
        found = tuple(map(_with_flows, found, placed[0].step_s))
    return Replay(
        cluster=cluster, traced_on=traced_on, jobs=found, placements=placed,
        provenance=_provenance(cluster, traced_on, late, fidelity),
    )  # fmt: skip


def scaled(
    job: Recorded, cluster: Cluster, traced_on: Cluster | None
) -> list[tuple[Estimate, float]]:
    """Return by collective the prediction, and what of it the trace takes in its place.

    The second is 1, or the traced time over the prediction for the traced network. What no
    engine predicts is its traced time.
    """
    found: list[tuple[Estimate, float]] = []
    for instance in job.instances:
        if instance.operation is None:
            found.append(
                (Estimate(instance.traced_s, instance.traced_s, instance.traced_s), 1.0)
            )
            continue
        new = predicted(instance, job, cluster)
        factor = 1.0
        if traced_on is not None and instance.traced_s > 0:
            factor = instance.traced_s / predicted(instance, job, traced_on).value
        if traced_on == cluster:
            new = Estimate(new.value, new.value, new.value)
        found.append((new, factor))
    return found


def predicted(one: Instance, job: Recorded, cluster: Cluster) -> Estimate:
    """Return what the closed forms expect of a collective."""
    assert one.operation is not None
    group = group_of(one, job, cluster)
    return collective_time(cluster, one.operation, one.size_bytes, group).time_s


def _job(
    late: Recorded,
    early: Recorded,
    cluster: Cluster,
    traced_on: Cluster | None,
    flows: Ends | None,
) -> JobReplay:
    """Replay one job with the closed forms; ``flows`` is what happened with links, if known."""
    run, steps = Run(late), late.steps
    times = scaled(late, cluster, traced_on)
    ends = run.replayed(_column(times, "value"))
    runs = [run] if late is early else [run, Run(early)]
    both = [times, *(scaled(other.job, cluster, traced_on) for other in runs[1:])]
    every = [
        _last(run.replayed(_column(own, end)))
        for run, own in zip(runs, both, strict=True) for end in ("low", "value", "high")
    ]  # fmt: skip
    compute, exposed = _exposed(run, flows or ends)
    before = None
    if late.traced_s is not None or all(instance.traced_s > 0 for instance in late.instances):
        before = run.replayed(np.array([instance.traced_s for instance in late.instances]))
    waited = None if before is None else _exposed(run, before)[1]
    return JobReplay(
        name=late.name, ranks=late.ranks, traced_ranks=len(late.traced_ranks), steps=steps,
        traced_s=None if before is None else _last(before) / steps,
        modelled_s=None if traced_on is None else _modelled(run, traced_on),
        step_s=Estimate(_last(ends) / steps, min(every) / steps, max(every) / steps),
        compute_s=compute / steps, exposed_s=sum(exposed.values()) / steps,
        exposed_traced_s=None if waited is None else sum(waited.values()) / steps,
        collectives=_collectives(run, cluster, (times, flows or ends), (exposed, waited)),
    )  # fmt: skip


def _modelled(run: Run, traced_on: Cluster) -> Estimate:
    """Return the step that the model alone predicts for the network of the trace."""
    model = scaled(run.job, traced_on, None)
    value, low, high = (
        _last(run.replayed(_column(model, end))) / run.job.steps
        for end in ("value", "low", "high")
    )
    return Estimate(value, low, high)


def _column(times: Iterable[tuple[Estimate, float]], end: str) -> Floats:
    return np.array([getattr(time, end) * factor for time, factor in times])


def _last(ends: Ends) -> float:
    return float(ends.end_s.max())


def _exposed(run: Run, ends: Ends) -> tuple[float, dict[int, float]]:
    """Return what the first traced rank computes, and by collective what it waits for it.

    Time in which several collectives run and nothing is computed is shared by them.
    """
    rank = run.job.traced_ranks[0]
    instance_of = {
        m: at for at, instance in enumerate(run.job.instances) for m in instance.members
    }
    edges: list[tuple[float, int, int]] = []
    for at, node in enumerate(run.job.nodes):
        if node.rank != rank:
            continue
        begin = float(ends.begin_s[at]) + node.lag_s
        edges += [(begin, 1, instance_of.get(at, -1))]
        edges += [(float(ends.end_s[run.done[at]]), -1, instance_of.get(at, -1))]
    edges.sort()
    active: dict[int, int] = defaultdict(int)
    exposed: dict[int, float] = defaultdict(float)
    computed, before = 0.0, 0.0
    for time_s, change, what in edges:
        running = [number for number, count in active.items() if count > 0]
        if -1 in running:
            computed += time_s - before
        for number in () if -1 in running else running:
            exposed[number] += (time_s - before) / len(running)
        active[what] += change
        if not active[what]:
            del active[what]
        before = time_s
    return computed, exposed


def _collectives(
    run: Run,
    cluster: Cluster,
    took: tuple[Sequence[tuple[Estimate, float]], Ends],
    waits: tuple[Mapping[int, float], Mapping[int, float] | None],
) -> tuple[CollectiveReplay, ...]:
    """Return the collectives of the first traced rank by operation, size, ranks and hosts.

    ``took`` is what each was predicted to take and what happened, ``waits`` what is exposed of
    each here and in the trace.
    """
    job, rank = run.job, run.job.traced_ranks[0]
    (times, ends), (exposed, waited) = took, waits
    calls_of: dict[tuple[str, int, int, float], list[int]] = defaultdict(list)
    for at, instance in enumerate(job.instances):
        if any(job.nodes[member].rank == rank for member in instance.members):
            hosts = len({member // cluster.gpus_per_domain for member in instance.ranks})
            name = instance.name if instance.operation is None else instance.operation.value
            calls_of[name, len(instance.ranks), hosts, instance.size_bytes].append(at)
    took_s = ends.end_s[run.instance_flows] - ends.begin_s[run.instance_flows]
    rows = [
        CollectiveReplay(
            operation=name, ranks=ranks, hosts=hosts, size_bytes=size,
            calls=len(places) / job.steps,
            traced_s=None if waited is None
            else math.fsum(job.instances[at].traced_s for at in places) / job.steps,
            predicted_s=_sum(times, took_s, places, job.steps),
            exposed_traced_s=None if waited is None
            else math.fsum(waited.get(at, 0.0) for at in places) / job.steps,
            exposed_s=math.fsum(exposed.get(at, 0.0) for at in places) / job.steps,
            modelled=job.instances[places[0]].operation is not None,
        )
        for (name, ranks, hosts, size), places in calls_of.items()
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-row.exposed_s, -row.predicted_s.value)))


def _sum(
    times: Sequence[tuple[Estimate, float]], took_s: Floats, places: list[int], steps: int
) -> Estimate:
    """Return what some collectives took together, with the band that the closed forms give."""
    value, low, high = (
        math.fsum(getattr(times[at][0], end) * times[at][1] for at in places)
        for end in ("value", "low", "high")
    )
    took = float(took_s[places].sum()) / steps
    ratio = took / value if value else 0.0
    return Estimate(took, low * ratio, high * ratio)


def _with_flows(job: JobReplay, step_s: Estimate) -> JobReplay:
    """Put what the flows give in the place of the closed forms; their band stays."""
    low, high = (end / job.step_s.value for end in (job.step_s.low, job.step_s.high))
    return replace(job, step_s=Estimate(step_s.value, step_s.low * low, step_s.high * high))


def _provenance(
    cluster: Cluster, traced_on: Cluster | None, jobs: Sequence[Recorded], fidelity: str
) -> Provenance:
    said = [COMPUTING]
    if traced_on is not None:
        said.append(SCALED)
    if any(len(job.traced_ranks) == 1 for job in jobs):
        said.append(ALONE)
    if any(not job.waits_recorded and job.traced_s is not None for job in jobs):
        said.append(WAITS)
    kept = sorted(
        {
            instance.name
            for job in jobs
            for instance in job.instances
            if instance.operation is None
        }
    )
    if kept:
        said.append(f"keeps its traced time, not predicted: {', '.join(kept)}")
    said += [note for job in jobs for note in job.notes]
    made = provenance(
        cluster,
        *(() if traced_on is None else (traced_on,)),
        sources=(),
        assumptions=tuple(said),
    )
    if fidelity == "analytic":
        return made
    from weft.predict.placement import SAID  # noqa: PLC0415 - it compiles kernels
    from weft.predict.probing import SEEDS  # noqa: PLC0415 - as above
    from weft.predict.simulate import FLOW, FLOW_EFFECTS  # noqa: PLC0415 - as above

    return replace(
        made, engine=FLOW, models=made.models | FLOW_EFFECTS, seed=SEEDS[0],
        assumptions=(*made.assumptions, *SAID),
    )  # fmt: skip

"""What each fault of the network costs a job: the step with it, and the money.

Every fault is tried in one place of the network, as flows, once routing has converged on what
is left. A fault that leaves a NIC of the job without a link stops the job: collectives wait for
every rank.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Final

from weft.advise.failover import FailOver, every_fail_over, fail_over
from weft.advise.year import LEAD_WEEKS, Year, year
from weft.engines.analytic.step.goodput import DAY_S, stop_s
from weft.errors import Infeasible, SpecError
from weft.network.faults import Fault, faults_of, known_faults, links_of, places_of
from weft.network.graph import Graph
from weft.network.network import graph
from weft.predict.flows import degraded
from weft.predict.probing import Prober
from weft.predict.training import Prediction, predict_with
from weft.predict.watching import Report
from weft.results import Estimate, Provenance, combine
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.units import SECONDS

MOST_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """What one fault, or several at once, do to the job."""

    title: str
    faults: tuple[str, ...]
    parts: int
    """Of the kind in the whole network; of several faults the fewest."""
    step_s: Estimate | None
    """While it lasts; none where it stops the job."""
    slower_ratio: float | None
    """Step over that without a fault; none where it stops the job."""
    usd: Estimate
    """Of the job's GPUs that wait: a day and its fail-over, or a stop with its restart."""
    monthly: float | None
    """Events a month over all parts; none where no rate is published."""
    reason: str = ""
    """Why it stops the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Faults of a network, ranked by what they cost this job."""

    cluster: Cluster
    job: Job
    prediction: Prediction
    """Without a fault, as flows."""
    harms: tuple[Harm, ...]
    """The most expensive first."""
    fail_over: FailOver | None
    """Until traffic flows again after a part of the network fails; none: not published."""
    fail_overs: tuple[FailOver, ...]
    """The same of every fabric of which it is published."""
    year: Year
    """Of the faults whose rate is published."""
    provenance: Provenance


def whatif(
    cluster: Cluster,
    job: Job,
    *,
    faults: int = 1,
    lead_weeks: float = LEAD_WEEKS,
    report: Report | None = None,
) -> WhatIf:
    """Try every kind of fault (``faults`` 2: and every two at once) on the network of a job.

    ``lead_weeks`` is the time from ordering a spare part to having it.
    """
    if not 1 <= faults <= MOST_AT_ONCE:
        raise SpecError(f"{faults} faults at once; 1 or {MOST_AT_ONCE} are tried")
    network = graph(cluster)
    base = predict_with(cluster, job, Prober(engine=degraded(()), report=report))
    kinds = [fault for fault in known_faults() if len(places_of(network, fault))]
    tried = [(kind,) for kind in kinds]
    stop = stop_s(base.cluster, base.gpus, base.step_s.value)
    single = [_harm(base, network, pair, stop, report) for pair in tried]
    if faults == MOST_AT_ONCE:
        lasting = [kind for kind, harm in zip(kinds, single, strict=True) if harm.step_s]
        pairs = combinations_with_replacement(lasting, 2)
        single += [_harm(base, network, pair, stop, report) for pair in pairs]
    harms = tuple(sorted(single, key=lambda harm: -harm.usd.value))
    return WhatIf(
        cluster=cluster, job=base.job, prediction=base, harms=harms,
        fail_over=fail_over(cluster), fail_overs=tuple(every_fail_over()),
        year=year(harms, stop.value, lead_weeks=lead_weeks),
        provenance=_provenance(base, kinds),
    )  # fmt: skip


def predict_failed(
    cluster: Cluster, job: Job, names: Sequence[str], *, report: Report | None = None
) -> Prediction:
    """Predict a job, simulated as flows, while faults of ``faults.toml`` last.

    A name given twice is in two places. Raises SpecError for an unknown name or a part that
    the network does not have that often, Infeasible where a NIC of the job has no link left.
    """
    network = graph(cluster)
    faults = faults_of(network, names)
    prober = Prober(engine=degraded(links_of(network, faults)), report=report)
    found = predict_with(cluster, job, prober)
    said = "each fault is in the next place of its kind; routing has converged on the rest"
    origin = found.provenance
    return replace(
        found,
        failed=tuple(row.title for row in faults),
        provenance=replace(origin, assumptions=(said, *origin.assumptions)),
    )


def _harm(
    base: Prediction,
    network: Graph,
    faults: tuple[Fault, ...],
    stop: Estimate,
    report: Report | None,
) -> Harm:
    """Predict the job with some faults."""
    parts = min(len(places_of(network, fault)) for fault in faults)
    alone = faults[0] if len(faults) == 1 else None
    monthly = alone and alone.monthly_ratio and alone.monthly_ratio * parts
    per_hour = base.cost.usd_per_gpu_hour.map(lambda usd: usd * base.gpus)
    two = len(faults) > 1 and faults[0] == faults[1]
    harm = Harm(
        title=f"two of: {faults[0].title}" if two else " and ".join(f.title for f in faults),
        faults=tuple(fault.name for fault in faults),
        parts=parts,
        step_s=None,
        slower_ratio=None,
        usd=combine(lambda rate, s: rate * s / SECONDS["h"], per_hour, stop),
        monthly=monthly or None,
    )
    prober = Prober(engine=degraded(links_of(network, faults)), report=report)
    try:
        step_s = predict_with(base.cluster, base.job, prober).step_s
    except Infeasible as error:
        return replace(harm, reason=str(error))
    # Other hashes may by luck collide less; that is no gain of the fault.
    slower = max(1.0, step_s.value / base.step_s.value)
    lost_s = _stall_s(base.cluster, faults).map(lambda s: s + DAY_S * (1 - 1 / slower))
    usd = combine(lambda rate, s: rate * s / SECONDS["h"], per_hour, lost_s)
    return replace(harm, step_s=step_s, slower_ratio=slower, usd=usd)


def _stall_s(cluster: Cluster, faults: tuple[Fault, ...]) -> Estimate:
    """Return how long all wait until other links carry what those that are down carried."""
    found = fail_over(cluster)
    if found is None or all(fault.left_ratio > 0 for fault in faults):
        return Estimate(0.0, 0.0, 0.0)
    return found.until_s


def _provenance(base: Prediction, kinds: list[Fault]) -> Provenance:
    sources = sorted({kind.source for kind in kinds if kind.source})
    known = fail_over(base.cluster)
    said = (
        "each fault is in one place, the first of its kind; routing has converged on the rest",
        "a stop costs the restart on another host and the work since the last checkpoint",
        *(f"failures a month are those of {source}" for source in sources),
        *(f"fail-over: {title}" for title in (known.sources if known else ())),
    )
    return replace(base.provenance, assumptions=(*base.provenance.assumptions, *said))

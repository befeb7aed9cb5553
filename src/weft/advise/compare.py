"""Networks side by side for the same hosts and jobs, each at its best."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from weft.advise.attachment import is_cloud
from weft.advise.best import Found, Weighted
from weft.advise.break_even import BreakEven, break_even
from weft.advise.candidate import GIVEN, NONE, candidates, find
from weft.advise.case import Case, Row
from weft.advise.chosen import Chosen, chosen, nics_text
from weft.advise.consideration import CONSIDERATIONS, Opinion, Weighed
from weft.advise.inputs import INPUTS
from weft.advise.oracle import Oracle
from weft.advise.pins import Pins
from weft.advise.recommendation import Recommendation, is_dominated, recommend
from weft.advise.spread import Spread, difference, spread
from weft.advise.wording import percent
from weft.errors import SpecError, WeftError
from weft.network.faults import named, places_of
from weft.network.network import graph
from weft.predict.training import Prediction, prober_for
from weft.predict.watching import Report
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.units import SECONDS

DEFAULT = (
    "infiniband", "roce_tuned", "roce_default", "scheduled_ethernet", "ultra_ethernet", "tcp",
)  # fmt: skip
"""What an architect chooses from."""
SMALLEST = 0.01
"""A band that reaches zero is cut there: nothing could be clearly cheaper."""
RENTED = "rented: every row pays the same for a GPU-hour, so rows differ in speed alone"


class Word(StrEnum):
    """The verdict on one row."""

    ADVISED = "recommended"
    BEST = "cheapest"
    TIED = "costs the same"
    EXCLUDED = "not recommended"
    COSTS_MORE = "more expensive"
    SLOWER = "more expensive and slower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the table: a candidate, what it does and what it costs."""

    name: str
    title: str
    prediction: Prediction
    """Of the first job; its cluster and its job are those that were found."""
    others: tuple[Prediction, ...]
    """Of the other jobs."""
    chosen: tuple[Chosen, ...]
    """What was pinned, and what was found."""
    alternatives: tuple[str, ...]
    """The next best with another topology or other NICs, and what they cost more."""
    step_s: Estimate
    mfu_ratio: Estimate
    exposed_s: float
    exposed_ratio: float
    tokens_per_s: Estimate
    goodput_ratio: Estimate
    cluster_usd: Estimate
    """Whole cluster over the years."""
    network_usd: Estimate
    """Network alone: switches, NICs, optics, their power, support and staff."""
    usd_per_1t_tokens: Estimate
    energy_wh_per_1m_tokens: Estimate
    speed_ratio: float
    """Progress over that of the fastest row."""
    cost_ratio: Estimate
    """Cost of a token over that of the cheapest row, errors that both share cancelled."""
    objections: tuple[str, ...]
    """Why it is not recommended whatever it costs."""
    verdict: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A candidate that could not be compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Table, recommendation, and what would change it."""

    cluster: Cluster
    """As it was specified."""
    jobs: tuple[Job, ...]
    """As they were specified."""
    weights: tuple[float, ...]
    years: float
    pinned: tuple[str, ...]
    """Keys that all rows keep, with their values."""
    lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]
    recommendation: Recommendation
    considerations: tuple[Weighed, ...]
    break_evens: tuple[BreakEven, ...]
    notes: tuple[str, ...]
    failed: tuple[str, ...] = ()
    """Faults that last, each with the networks that have it."""
    timed: int
    """How many networks the answer took."""
    complete: bool = True
    """False where the simulation was interrupted: what was missing is sourced."""
    provenance: Provenance

    @property
    def job(self) -> Job:
        """The first job."""
        return self.jobs[0]


def compare(
    cluster: Cluster | Sequence[Cluster],
    job: Job | Sequence[Job],
    fabrics: Sequence[str] | None = None,
    *,
    years: float | None = None,
    pins: Iterable[str] = (),
    same: Iterable[str] = (),
    fidelity: str = "analytic",
    failed: Sequence[str] = (),
    report: Report | None = None,
) -> Comparison:
    """Compare networks for the same hosts, each at its best for the job.

    ``pins`` are dotted keys that keep the value of the cluster (``topology.kind``); ``same``
    names groups that all rows share as the cluster has them (parallelism, topology, switch,
    nics). Several jobs count by their weights; several clusters are compared as they are.
    ``fidelity`` and ``report`` are those of ``predict``; ``failed`` names faults that last in
    every network that has the part, with the fidelity ``flow``.
    """
    prober = prober_for(fidelity, report, failed)
    oracle = Oracle() if prober is None else Oracle.with_packets(prober)
    given = (cluster,) if isinstance(cluster, Cluster) else tuple(cluster)
    span = given[0].prices.years if years is None else years
    given = tuple(over_years(cluster, span) for cluster in given)
    asked = (job,) if isinstance(job, Job) else tuple(job)
    jobs = tuple(Weighted(job=job, weight=job.weight) for job in asked)
    groups = tuple(same)
    kept = Pins.of(pins).and_same(groups)
    if "parallelism" in groups:
        jobs = tuple(replace(job, job=oracle.predict(given[0], job.job).job) for job in jobs)
    case = Case(
        cluster=given[0], jobs=jobs, years=span, names=names_of(given[0], jobs, fabrics),
        pins=kept, oracle=oracle,
    )  # fmt: skip
    found = compared(case if len(given) == 1 else _as_they_are(case, given))
    made = found.provenance
    if failed:
        said = f"while {', '.join(failed)} lasts in every network that has the part"
        made = replace(made, assumptions=(said, *made.assumptions))
    complete = prober is None or not prober.interrupted
    lasting = tuple(_lasting(found.lines, failed))
    return replace(found, complete=complete, failed=lasting, provenance=made)


def _lasting(lines: Sequence[Line], failed: Sequence[str]) -> Iterator[str]:
    """Say of each fault which networks have the part, at their best for the job."""
    for fault in named(failed):
        having = [
            line.name for line in lines
            if len(places_of(graph(line.prediction.cluster), fault))
        ]  # fmt: skip
        where = ", ".join(having) or "no network: none has such a part at its best for the job"
        yield f"{fault.title}, in {where}"


def over_years(cluster: Cluster, years: float) -> Cluster:
    """Return a cluster whose cost is counted over some years."""
    if not 0 < years < inf:
        raise SpecError(f"a cost over {years:g} years means nothing; give more than 0 years")
    return cluster.with_(prices=cluster.prices.with_(years=years))


def _as_they_are(case: Case, clusters: Sequence[Cluster]) -> Case:
    """Return a case whose rows are clusters, by their names."""
    named: dict[str, Cluster] = {}
    for cluster in clusters:
        name = (
            cluster.name if cluster.name not in named else f"{cluster.name} ({len(named) + 1})"
        )
        named[name] = cluster
    return replace(case, names=tuple(named), given=named)


def names_of(
    cluster: Cluster, jobs: Sequence[Weighted], fabrics: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the candidates; hosts alone where no job leaves a domain."""
    for name in fabrics or ():
        find(name)
    most = max(job.job.gpus or cluster.gpus for job in jobs)
    if most <= cluster.gpus_per_domain:
        return (NONE,)
    return tuple(dict.fromkeys(fabrics or _usual(cluster)))


def _usual(cluster: Cluster) -> tuple[str, ...]:
    """Return the usual six and the cluster's own network where it is none of their kind.

    Hosts that are rented have the network that they are rented with, and TCP over it.
    """
    if is_cloud(cluster):
        return (*_renting(cluster), "tcp")
    if cluster.fabric.kind in {candidate.fabric for candidate in map(find, DEFAULT)}:
        return DEFAULT
    return (*DEFAULT, GIVEN)


def _renting(cluster: Cluster) -> tuple[str, ...]:
    """Return the candidate of the fabric that a provider rents, run as the provider does."""
    kind = cluster.fabric.kind
    if kind == "tcp":
        return ()
    own = (
        candidate
        for candidate in candidates().values()
        if candidate.fabric == kind and candidate.choice
    )
    return (next((candidate.name for candidate in own), GIVEN),)


def compared(case: Case) -> Comparison:
    """Return the table of a case, the recommendation and what would change it."""
    cheapest = case.best  # raises with the reasons of each when none can run
    spreads = {row.name: spread(case, row) for row in case.rows}
    asked = () if case.given else CONSIDERATIONS
    alone = len(case.rows) == 1  # nothing to choose between
    weighed = () if alone else tuple(_weigh(case, name) for name in asked)
    advice = recommend(case, spreads, weighed)
    case = replace(case, advised=advice.fabric or advice.cheapest)
    break_evens = () if alone else tuple(_break_evens(case, spreads))
    total = sum(job.weight for job in case.jobs)
    return Comparison(
        cluster=case.cluster, jobs=tuple(job.job for job in case.jobs),
        weights=tuple(job.weight / total for job in case.jobs), years=case.years,
        pinned=case.pins.shown(case.cluster),
        lines=tuple(_line(case, row, advice, (cheapest, spreads)) for row in case.rows),
        left_out=_left_out(case), recommendation=advice, considerations=weighed,
        break_evens=break_evens, notes=tuple(_notes(case)),
        timed=sum(found.timed for found in case.searched.values()),
        provenance=case.verdict.prediction.provenance,
    )  # fmt: skip


def _weigh(case: Case, name: str) -> Weighed:
    asked = CONSIDERATIONS[name]
    try:
        opinion = asked.weigh(case)
    except WeftError as error:
        opinion = Opinion(favours=(), reason=f"cannot be weighed here: {error}")
    return Weighed(
        consideration=name, title=asked.title, favours=opinion.favours, reason=opinion.reason,
        numbers=opinion.numbers, source=asked.source, evidence=asked.evidence,
        breaks_ties=asked.breaks_ties,
    )  # fmt: skip


def _break_evens(case: Case, spreads: Mapping[str, Spread]) -> Iterator[BreakEven]:
    mine = case.verdict
    own = spreads[mine.name]
    apart = {r.name: difference(mine, r, own, spreads[r.name]) for r in case.rivals}
    margins = {n: ratio.value / max(ratio.low, SMALLEST) - 1 for n, ratio in apart.items()}
    for name, asked in INPUTS.items():
        # Nothing of clusters that are given is searched.
        if asked.applies(case) and not (case.given and asked.confirmed):
            yield break_even(case, name, asked, margins)


def _line(
    case: Case, row: Row, advice: Recommendation, against: tuple[Row, Mapping[str, Spread]]
) -> Line:
    prediction, (cheapest, spreads) = row.prediction, against
    fastest = max(r.progress_tokens_per_s for r in case.rows)
    ratio = difference(row, cheapest, spreads[row.name], spreads[cheapest.name])
    found = case.found(row.name)
    mixed = row.usd_per_1t_tokens / prediction.usd_per_1t_tokens.value
    return Line(
        name=row.name, title=row.candidate.title, prediction=prediction,
        others=row.predictions[1:],
        chosen=chosen(found, case.pins, searched=case.jobs[0].job.parallelism == "auto"),
        alternatives=tuple(_alternative(found, other) for other in found.alternatives),
        step_s=prediction.step_s, mfu_ratio=prediction.mfu_ratio, exposed_s=row.exposed_s,
        exposed_ratio=row.exposed_ratio, tokens_per_s=prediction.tokens_per_s,
        goodput_ratio=prediction.goodput_ratio, cluster_usd=prediction.cost.total_usd,
        network_usd=prediction.cost.network_usd,
        usd_per_1t_tokens=prediction.usd_per_1t_tokens.map(lambda usd: usd * mixed),
        energy_wh_per_1m_tokens=prediction.energy_j_per_token.map(
            lambda joules: joules * 1e6 / SECONDS["h"]
        ),
        speed_ratio=row.progress_tokens_per_s / fastest,
        cost_ratio=Estimate(1.0, 1.0, 1.0) if row.name == cheapest.name else ratio,
        objections=case.objections[row.name], verdict=_word(case, row, advice),
    )  # fmt: skip


def _alternative(found: Found, other: Found) -> str:
    host = nics_text(other.cluster)
    more = percent(other.score / found.score - 1)
    return f"{other.cluster.topology.kind} with {host}: a token costs {more} more"


def _word(case: Case, row: Row, advice: Recommendation) -> Word:
    if row.name == advice.fabric:
        return Word.ADVISED
    if case.objections[row.name]:
        return Word.EXCLUDED
    if row is case.best:
        return Word.BEST
    if row.name in advice.tied_with:
        return Word.TIED
    return Word.SLOWER if is_dominated(row, case.choices) else Word.COSTS_MORE


def _left_out(case: Case) -> tuple[LeftOut, ...]:
    there = {row.name for row in case.rows}
    return tuple(
        LeftOut(name=name, reason=case.why_not(name))
        for name in case.names
        if name not in there
    )


def _notes(case: Case) -> Iterator[str]:
    if case.verdict.prediction.cost.rented:
        yield RENTED
    yield from dict.fromkeys(reason for found in case.objections.values() for reason in found)
    if case.given:
        yield "clusters are compared as they are: nothing of them is searched but parallelism"
    else:
        yield (
            "each row has its own parallelism, NICs, switch and topology: the best found for "
            "the job; --same parallelism,topology,nics holds them equal"
        )
    yield from _engine_notes(case)


def _engine_notes(case: Case) -> Iterator[str]:
    """Say which rows were simulated and which have sourced factors, and why."""
    packets = {row.name: row.prediction.packets for row in case.rows}
    if not any(packets.values()):
        yield "hash collisions, pauses and mis-tuning are sourced factors, not simulated"
        return
    for name, packet in packets.items():
        yield from (
            f"{name}: {line}" for line in ((*packet.said, *packet.missing) if packet else ())
        )

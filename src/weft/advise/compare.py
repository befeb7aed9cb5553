"""Fabrics side by side for one job: the table, the recommendation, flips, claims."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from math import inf

from weft import plugins
from weft.advise import candidates, claims, considerations, inputs
from weft.advise.case import RIVALS, Case, Row
from weft.advise.claim import Claim, Outcome, Tested, Trial, Verdict
from weft.advise.consideration import Consideration, Opinion, Weighed
from weft.advise.flip import Flip, flip
from weft.advise.input import Input
from weft.advise.oracle import Oracle
from weft.advise.recommendation import Recommendation, recommend
from weft.advise.spread import Spread, difference, spread
from weft.advise.wording import joined
from weft.errors import SpecError, UnknownName, WeftError
from weft.predict.training import Prediction, prober_for
from weft.predict.watching import Report
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.spec.problems import nearest
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

    ADVISED = "advised"
    BEST = "cheapest"
    TIED = "as cheap"
    RISK = "a risk, not a choice"
    DEARER = "dearer"
    SLOWER = "dearer and slower"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the table: a candidate, what it does and what it costs."""

    name: str
    title: str
    prediction: Prediction
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
    verdict: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A candidate that could not be compared, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All that an architect asked: table, verdict, what would flip it, what is claimed."""

    cluster: Cluster
    job: Job
    """With the parallelism that all rows share."""
    years: float
    parallelism: str
    """Whether it was given or searched, and on which fabric."""
    lines: tuple[Line, ...]
    left_out: tuple[LeftOut, ...]
    recommendation: Recommendation
    considerations: tuple[Weighed, ...]
    flips: tuple[Flip, ...]
    claims: tuple[Tested, ...]
    notes: tuple[str, ...]
    predictions: int
    """How many predictions the answer took."""
    complete: bool = True
    """False where the simulation was interrupted: what was missing is sourced."""
    provenance: Provenance


def compare(
    cluster: Cluster,
    job: Job,
    fabrics: Sequence[str] | None = None,
    *,
    years: float | None = None,
    ask: Callable[[Cluster, Job], Prediction] | None = None,
    fidelity: str = "analytic",
    report: Report | None = None,
) -> Comparison:
    """Compare networks for the same hosts and job; ``ask`` stands in for predict().

    Parallelism that is "auto" is searched once, on the cluster as it is given, and kept for
    every row: rows then differ in the network alone. ``fidelity`` and ``report`` are those of
    ``predict``.
    """
    prober = prober_for(fidelity, report)
    oracle = Oracle.of(ask) if prober is None else Oracle.with_packets(prober)
    span = cluster.prices.years if years is None else years
    if not 0 < span < inf:
        raise SpecError(f"a cost over {span:g} years means nothing; give more than 0 years")
    cluster = cluster.with_(prices=cluster.prices.with_(years=span))
    names = tuple(dict.fromkeys(fabrics or _usual(cluster)))
    _check(names)
    fixed, said = _fix(oracle, cluster, job)
    case = Case(cluster=cluster, job=fixed, years=span, names=names, oracle=oracle)
    cheapest = case.best  # raises with the reasons of each when none can run
    spreads = _spreads(case)
    weighed = _weighed(case)
    advice = recommend(case, spreads, weighed)
    case = replace(case, advised=advice.fabric)
    flips = _flips(case, spreads)
    trial = Trial(case=case, flips=flips, spreads=spreads, packets=prober is not None)
    return Comparison(
        cluster=cluster,
        job=fixed,
        years=span,
        parallelism=said,
        lines=tuple(_line(case, row, cheapest, spreads) for row in case.rows),
        left_out=_left_out(case),
        recommendation=advice,
        considerations=weighed,
        flips=tuple(flips.values()),
        claims=tuple(_tested(trial, name) for name in plugins.names(claims)),
        notes=_notes(case),
        predictions=oracle.calls,
        complete=prober is None or not prober.interrupted,
        provenance=case.verdict.prediction.provenance,
    )


def _check(names: Sequence[str]) -> None:
    known = plugins.names(candidates)
    for name in names:
        if name not in known:
            raise UnknownName(f"no network is called {name!r}; {nearest(name, known)}")


def _usual(cluster: Cluster) -> tuple[str, ...]:
    """Return the usual six, and the cluster's own network where it is none of their kind."""
    if cluster.fabric.kind in {*DEFAULT, "roce"}:
        return DEFAULT
    return (*DEFAULT, "as_given")


def _fix(oracle: Oracle, cluster: Cluster, job: Job) -> tuple[Job, str]:
    """Return the job with its parallelism filled in, and say where that came from."""
    found = oracle.predict(cluster, job).job
    if job.parallelism != "auto":
        return found, "as the job gives it, the same on every fabric"
    return found, f"searched once, on the cluster's own {cluster.fabric.kind}; the same on all"


def _spreads(case: Case) -> dict[str, Spread]:
    missing = [name for name in RIVALS if name not in case.names]
    others = (case.attempt(partial(case.row, name)) for name in missing)
    return {row.name: spread(case, row) for row in (*case.rows, *others) if row is not None}


def _weighed(case: Case) -> tuple[Weighed, ...]:
    return tuple(_weigh(case, name) for name in plugins.names(considerations))


def _weigh(case: Case, name: str) -> Weighed:
    asked = plugins.load(considerations, name, Consideration)
    try:
        opinion = asked.weigh(case)
    except WeftError as error:
        opinion = Opinion(favours=(), reason=f"cannot be weighed here: {error}")
    return Weighed(
        consideration=name,
        title=asked.title,
        favours=opinion.favours,
        reason=opinion.reason,
        numbers=opinion.numbers,
        source=asked.source,
        evidence=asked.evidence,
        breaks_ties=asked.breaks_ties,
    )


def _flips(case: Case, spreads: Mapping[str, Spread]) -> dict[str, Flip]:
    mine = case.verdict
    own = spreads[mine.name]
    apart = {r.name: difference(mine, r, own, spreads[r.name]) for r in case.rivals}
    margins = {n: ratio.value / max(ratio.low, SMALLEST) - 1 for n, ratio in apart.items()}
    asked = {name: plugins.load(inputs, name, Input) for name in plugins.names(inputs)}
    found = {name: flip(case, name, one, margins) for name, one in asked.items()}
    return {name: one for name, one in found.items() if one is not None}


def _tested(trial: Trial, name: str) -> Tested:
    claim = plugins.load(claims, name, Claim)
    try:
        verdict = claim.test(trial)
    except WeftError as error:
        verdict = Verdict(outcome=Outcome.UNTESTED, reasons=(str(error),))
    return Tested(
        claim=name,
        point=claim.point,
        articles=claim.articles,
        text=claim.text,
        verdict=verdict,
    )


def _line(case: Case, row: Row, cheapest: Row, spreads: Mapping[str, Spread]) -> Line:
    prediction = row.prediction
    fastest = max(r.progress_tokens_per_s for r in case.rows)
    ratio = difference(row, cheapest, spreads[row.name], spreads[cheapest.name])
    return Line(
        name=row.name,
        title=row.candidate.title,
        prediction=prediction,
        step_s=prediction.step_s,
        mfu_ratio=prediction.mfu_ratio,
        exposed_s=row.exposed_s,
        exposed_ratio=row.exposed_ratio,
        tokens_per_s=prediction.tokens_per_s,
        goodput_ratio=prediction.goodput_ratio,
        cluster_usd=prediction.cost.total_usd,
        network_usd=prediction.cost.network_usd,
        usd_per_1t_tokens=prediction.usd_per_1t_tokens,
        energy_wh_per_1m_tokens=prediction.energy_j_per_token.map(
            lambda joules: joules * 1e6 / SECONDS["h"]
        ),
        speed_ratio=row.progress_tokens_per_s / fastest,
        cost_ratio=Estimate(1.0, 1.0, 1.0) if row.name == cheapest.name else ratio,
        verdict=_word(case, row, ratio),
    )


def _word(case: Case, row: Row, ratio: Estimate) -> Word:
    if row.name == case.advised:
        return Word.ADVISED
    if row is case.best:
        return Word.BEST
    if row not in case.choices:
        return Word.RISK
    if ratio.low <= 1:
        return Word.TIED
    slower = row.progress_tokens_per_s < case.best.progress_tokens_per_s
    return Word.SLOWER if slower else Word.DEARER


def _left_out(case: Case) -> tuple[LeftOut, ...]:
    there = {row.name for row in case.rows}
    return tuple(
        LeftOut(name=name, reason=case.why_not(name))
        for name in case.names
        if name not in there
    )


def _other_nics(case: Case) -> list[str]:
    asked = case.cluster.host.nic
    built = {row.name: row.prediction.cluster.host.nic for row in case.rows}
    return [
        f"{name}: NICs are {nic}, because {asked} does not speak it"
        for name, nic in built.items()
        if nic != asked
    ]


def _pods_differ(case: Case, row: Row) -> bool:
    asked, built = case.cluster.topology, row.prediction.cluster.topology
    return asked.hosts_per_pod != built.hosts_per_pod


def _notes(case: Case) -> tuple[str, ...]:
    rivals = joined([row.candidate.short for row in case.rivals])
    smaller = [r.name for r in case.rows if _pods_differ(case, r)]
    rented = case.verdict.prediction.cost.rented
    risks = [row.candidate.short for row in case.rows if row not in case.choices]
    return (
        *((RENTED,) * rented),
        *(f"{name} is in the table as a risk, not as a choice" for name in risks),
        *_other_nics(case),
        *(f"{name}: pods as large as its switch allows, not as asked" for name in smaller),
        f"flip points: where {rivals or 'nothing'} would be cheaper by more than is unknown",
        "rows share hosts, NIC rate and topology; the switch follows the fabric and the rate",
        "other sizes keep the batch of each GPU; activations are recomputed where they must be",
        *_engine_notes(case),
    )


def _engine_notes(case: Case) -> Iterator[str]:
    """Say which rows were simulated and which have sourced factors, and why."""
    packets = {row.name: row.prediction.packets for row in case.rows}
    if not any(packets.values()):
        yield "hash collisions, pauses and mis-tuning are sourced factors, not simulated"
        return
    for name, one in packets.items():
        yield from (f"{name}: {line}" for line in ((*one.said, *one.missing) if one else ()))

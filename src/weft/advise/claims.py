"""Claims of the articles put to the test on one cluster and one job."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from weft.advise.best import Weighted
from weft.advise.case import Case
from weft.advise.claim import (
    Claim,
    Finding,
    Outcome,
    Statement,
    Tested,
    claims_of_articles,
    concluded,
    judge,
    rounded,
)
from weft.advise.compare import compared, names_of
from weft.advise.oracle import Oracle
from weft.advise.quantity import COMPUTED, PACKETS, Trial, all_quantities
from weft.errors import WeftError
from weft.predict.training import prober_for
from weft.predict.watching import Report
from weft.results import Provenance
from weft.spec.cluster import Cluster
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Every claim with its outcome on a cluster and a job."""

    cluster: Cluster
    job: Job
    claims: tuple[Tested, ...]
    outcomes: Mapping[str, int]
    """How many claims have each outcome."""
    provenance: Provenance


def claims(
    cluster: Cluster,
    job: Job,
    *,
    fidelity: str = "analytic",
    report: Report | None = None,
) -> Claims:
    """Test every claim of the articles, each network at its best for the job.

    What needs queues and pauses is tested with the fidelity ``packet`` alone.
    """
    trial = study(cluster, job, fidelity=fidelity, report=report)
    found = tuple(put_to_test(trial, claim) for claim in claims_of_articles())
    return Claims(
        cluster=cluster, job=job, claims=found,
        outcomes=Counter(str(tested.outcome.value) for tested in found),
        provenance=trial.case.verdict.prediction.provenance,
    )  # fmt: skip


def study(
    cluster: Cluster, job: Job, *, fidelity: str = "analytic", report: Report | None = None
) -> Trial:
    """Return what quantities are computed from."""
    prober = prober_for(fidelity, report)
    oracle = Oracle() if prober is None else Oracle.with_packets(prober)
    jobs = (Weighted(job=job),)
    case = Case(
        cluster=cluster, jobs=jobs, years=cluster.prices.years,
        names=names_of(cluster, jobs), oracle=oracle,
    )  # fmt: skip
    found = compared(case)
    case = replace(case, advised=found.recommendation.fabric or found.recommendation.cheapest)
    packets = prober is not None and prober.engine.name == "packet"
    break_evens = {even.input: even for even in found.break_evens}
    return Trial(case=case, break_evens=break_evens, packets=packets)


def put_to_test(trial: Trial, claim: Claim) -> Tested:
    """Return a claim with its outcome on one case."""
    return concluded(claim, tuple(finding(trial, statement) for statement in claim.statements))


def finding(trial: Trial, statement: Statement) -> Finding:
    """Compute the quantity of one statement and compare it with the range claimed."""
    asked = all_quantities()[statement.quantity]
    evidence = PACKETS if trial.packets and asked.evidence == COMPUTED else asked.evidence
    try:
        found = rounded(asked.compute(trial, **statement.of))
        outcome = judge(found, statement.claimed)
    except WeftError as error:
        found, outcome, evidence = None, Outcome.UNTESTED, str(error)
    return Finding(
        label=statement.label, quantity=asked.words(statement.of), unit=asked.unit,
        claimed=statement.claimed, found=found, outcome=outcome, evidence=evidence,
    )  # fmt: skip

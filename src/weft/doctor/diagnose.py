"""From files or facts to what is wrong, ranked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from weft import plugins
from weft.doctor import rules as folder
from weft.doctor.joined import joined
from weft.doctor.price import Price, default_case, price
from weft.doctor.ranking import Ranked, Verdict, causes, rank, verdict
from weft.doctor.remarks import heeded
from weft.doctor.rule import Facts, Finding, Rule, Severity
from weft.observe.bundle import observe
from weft.observe.facts.base import Fact
from weft.observe.facts.reading import FileRead
from weft.observe.observation import Observation
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.spec.cluster import Cluster
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosed:
    """One thing that is wrong, what follows from it, and what it costs."""

    finding: Finding
    consequences: tuple[Finding, ...] = ()
    price: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is wrong on a cluster, the gravest and surest first."""

    verdict: Verdict
    findings: tuple[Diagnosed, ...]
    files: tuple[FileRead, ...] = ()
    facts: int = 0
    rules: int = 0
    provenance: Provenance

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes named or suspected, each once, the likeliest first."""
        return causes(one.finding for one in self.findings)


_SAY_NOTHING = frozenset({"weft's own documents", "commands", "quotations", "titles"})
"""What is read and says nothing of a cluster."""


@cache
def all_rules() -> tuple[tuple[str, Rule], ...]:
    """Return every rule by name."""
    return tuple((name, plugins.load(folder, name, Rule)) for name in plugins.names(folder))


def find(facts: Iterable[Fact]) -> list[Finding]:
    """Ask every rule, and name in each finding the rule that made it."""
    seen = Facts(joined(facts))
    found = (
        replace(one, rule=name) for name, rule in all_rules() for one in rule.check(seen)
    )  # fmt: skip
    return heeded(found, seen)


def diagnose(
    observed: Observation | Sequence[Path],
    cluster: Cluster | None = None,
    job: Job | None = None,
) -> Diagnosis:
    """Say what is wrong, from paths or from what was already observed.

    Each finding that is a change of the cluster is priced for the job given, or for a default.
    """
    seen = observed if isinstance(observed, Observation) else observe(*observed)
    ranked = rank(find((*seen.facts, *seen.complaints, *seen.openings)))
    return Diagnosis(
        verdict=_verdict(ranked, seen),
        findings=tuple(_priced(one, cluster, job) for one in ranked),
        files=seen.files,
        facts=len(seen.facts),
        rules=len(all_rules()),
        provenance=_provenance(cluster, job),
    )


def _provenance(cluster: Cluster | None, job: Job | None) -> Provenance:
    """Say with what faults were priced: rules need no spec."""
    default_cluster, default_job = default_case()
    stated = "the job given" if cluster and job else "a default job, named at each price"
    return provenance(
        cluster or default_cluster,
        job or default_job,
        sources=(),
        assumptions=(
            f"prices are for {stated}, with and without the fault",
            "a rail that is slow on one host is slow for the whole job",
        ),
    )


def _verdict(ranked: Sequence[Ranked], seen: Observation) -> Verdict:
    tools = {name for file in seen.files for name, _ in file.tools}
    grave = [one for one in ranked if one.finding.severity is not Severity.INFO]
    if not grave and seen.files and tools <= _SAY_NOTHING:
        return Verdict.UNDECIDED
    return verdict(ranked)


def _priced(ranked: Ranked, cluster: Cluster | None, job: Job | None) -> Diagnosed:
    found = ranked.finding
    worth = found.fault is not None and found.severity is not Severity.INFO
    cost = (
        price(found.fault, found.left_ratio, cluster, job)
        if worth and found.fault and (found.decided or cluster is not None)
        else None
    )
    return Diagnosed(finding=found, consequences=ranked.consequences, price=cost)

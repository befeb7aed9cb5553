"""From files to what is wrong: findings, the most severe and most probable first, a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.doctor.case import Case
from weft.doctor.configurations import Configurations
from weft.doctor.cost import Fault, Price
from weft.doctor.findings import Finding, findings
from weft.doctor.infer import candidates
from weft.doctor.verdict import Verdict, not_covered, verdict
from weft.expectations.compare import deviations
from weft.expectations.derive import derive
from weft.expectations.expectation import Deviation  # noqa: TC001 - a type at run time
from weft.expectations.known import Known
from weft.inventory.inventory import Event, FileRead, Inventory
from weft.inventory.severity import Severity
from weft.predict.provenance import provenance
from weft.readers.read import read
from weft.results import Provenance

if TYPE_CHECKING:  # the models of documents take an eighth of a second to import
    from weft.spec.cluster import Cluster
    from weft.spec.workload import Job

_MOST_PRICES: Final = 5
"""Each price takes two predictions."""
_NOTICED_RATIO: Final = 0.01
_SEVERE_RATIO: Final = 0.05
"""A step that is longer by so much is an error; below the first figure nobody notices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What is wrong on a cluster, the most severe and most probable first."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    not_covered: tuple[str, ...] = ()
    """Areas of which nothing was read."""
    files: tuple[FileRead, ...] = ()
    provenance: Provenance

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes named or suspected, each once, the most probable first."""
        listed = [
            finding.cause for finding in self.findings if finding.severity != Severity.INFO
        ]
        rivals = [rival.cause for finding in self.findings for rival in finding.rivals]
        return tuple(dict.fromkeys((*listed, *rivals)))


def diagnose(
    observed: Inventory | Sequence[Path],
    cluster: "Cluster | None" = None,
    job: "Job | None" = None,
) -> Diagnosis:
    """Say what is wrong, from paths or from what was already read.

    With a cluster, what it declares is expected; with a job as well, findings are priced for
    it, and how severe a loss of speed is follows from the price.
    """
    configurations = Configurations()
    inventory = (
        observed if isinstance(observed, Inventory)
        else read(*observed, configurations=configurations.claim)
    )  # fmt: skip
    configurations.record(inventory, cluster)
    derive(inventory)
    case = case_of(Known(inventory, cluster, job))
    found = findings(case, candidates(case))
    priced = [_priced(finding, cluster, job) for finding in found[:_MOST_PRICES]]
    found = sorted([*priced, *found[_MOST_PRICES:]], key=lambda item: -item.weight)
    return Diagnosis(
        verdict=verdict(found, case),
        findings=tuple(found),
        not_covered=not_covered(inventory),
        files=tuple(inventory.files),
        provenance=_provenance(cluster, job),
    )


def case_of(known: Known) -> Case:
    """Return what the inference works on."""
    by_name: dict[str, list[Deviation]] = {}
    for deviation in deviations(known):
        by_name.setdefault(deviation.attribute, []).append(deviation)
    events: dict[str, list[Event]] = {}
    for event in known.inventory.events.values():
        events.setdefault(event.code, []).append(event)
    return Case(known, by_name, events)


def _priced(found: Finding, cluster: "Cluster | None", job: "Job | None") -> Finding:
    """Return a finding with what it costs; for a stated job its severity follows from that."""
    if not found.model:
        return found
    from weft.doctor.price import price  # noqa: PLC0415 - only where something has a price

    cost = price(Fault[found.model.upper()], found.left_ratio, cluster, job)
    if cost is None or not cost.stated:
        return replace(found, price=cost)
    return replace(found, price=cost, severity=_severity(found.severity, cost))


def _severity(severity: Severity, cost: Price) -> Severity:
    if cost.step_ratio is None:
        return severity
    if cost.step_ratio.value >= _SEVERE_RATIO:
        return Severity.ERROR
    if cost.step_ratio.value >= _NOTICED_RATIO:
        return Severity.WARNING
    return Severity.WARNING if severity is Severity.ERROR else severity


def _provenance(cluster: "Cluster | None", job: "Job | None") -> Provenance:
    stated = "the job given" if cluster and job else "a default job, named at each price"
    return provenance(
        *(item for item in (cluster, job) if item is not None),
        sources=(),
        assumptions=(
            f"prices are for {stated}, with and without the fault",
            "a rail that is slow on one host is slow for the whole job",
        ),
    )

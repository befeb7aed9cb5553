"""The acceptance dossier of a cluster: checklist, benchmarks, localisation, repeats, verdict.

A section without evidence is NOT MEASURED, and then so is the whole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from weft.bench.localise import NOISE_RATIO, SURE
from weft.check.checked import Checklist, Outcome, check, worst
from weft.errors import SpecError
from weft.expectations.known import Known
from weft.expectations.modelled import estimate, taken_part
from weft.inventory.entity import Entity
from weft.inventory.inventory import Inventory
from weft.inventory.values import whole
from weft.readers.read import read
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.spec.document import read_json

LEAST_BYTES: Final = 64 << 20
"""From here on sizes are judged, as in the item all-reduce of the checklist."""
LEAST_RUNS: Final = 3
"""Runs of one benchmark from which on their spread is judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """One size of a collective: what was measured over all runs, and what the model expects."""

    operation: str
    size_bytes: int
    runs: int
    hosts: int | None
    """Hosts of the runs, where their output has it."""
    measured_bytes_per_s: Estimate
    """Bus bandwidth: the median, the slowest and the fastest run."""
    expected_bytes_per_s: Estimate
    """80 % band of the model."""
    outcome: Outcome

    @property
    def spread_ratio(self) -> float:
        """Return the range of the runs as a share of their median."""
        one = self.measured_bytes_per_s
        return (one.high - one.low) / one.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the verdict."""

    section: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier:
    """All that accepts a cluster, or does not."""

    cluster: str
    written: str
    """When, as ISO 8601."""
    outcome: Outcome
    sections: tuple[Section, ...]
    speeds: tuple[Speed, ...]
    checklist: Checklist
    provenance: Provenance

    @property
    def exit_code(self) -> int:
        """Return 0 where all sections pass, 4 where one fails, else 5."""
        return {Outcome.PASS: 0, Outcome.FAIL: 4, Outcome.UNMEASURED: 5}[self.outcome]


def dossier(
    evidence: Iterable[Path], cluster: Cluster, *, written: str, localised: Path | None = None
) -> Dossier:
    """Return the dossier of a cluster from bundles, logs and runs of nccl-tests.

    ``localised`` is the JSON of ``weft bench localise`` over its hosts. Raises Unreadable,
    SpecError.
    """
    inventory = read(*evidence)
    checklist = check(inventory, cluster)
    speeds = tuple(_speeds(inventory, cluster))
    sections = (
        Section(section="checklist", outcome=checklist.outcome, reason=_counted(checklist)),
        _against_model(speeds, cluster), _repeats(speeds), _localised(localised, cluster),
    )  # fmt: skip
    return Dossier(
        cluster=cluster.name,
        written=written,
        outcome=worst(section.outcome for section in sections),
        sections=sections,
        speeds=speeds,
        checklist=checklist,
        provenance=checklist.provenance,
    )


def _counted(checklist: Checklist) -> str:
    counts = {
        outcome: sum(row.outcome is outcome for row in checklist.items) for outcome in Outcome
    }
    return ", ".join(f"{count} {outcome.value}" for outcome, count in counts.items() if count)


def _speeds(inventory: Inventory, cluster: Cluster) -> Iterator[Speed]:
    """Yield every large size measured on so many hosts, over the files that hold it."""
    known = Known(inventory, cluster)
    found: dict[tuple[str, int, int], list[tuple[float, Estimate]]] = {}
    for entity, size, busbw in _measured(inventory):
        modelled = estimate(entity, known)
        if modelled is not None:
            operation, expected = modelled
            hosts = taken_part(entity, known)[1] or 0
            found.setdefault((operation, size, hosts), []).append((busbw, expected))
    for (operation, size, hosts), runs in sorted(found.items()):
        rates, expected = [rate for rate, _ in runs], runs[0][1]
        measured = Estimate(median(rates), min(rates), max(rates))
        yield Speed(
            operation=operation, size_bytes=size, runs=len(runs),
            hosts=hosts or None,
            measured_bytes_per_s=measured, expected_bytes_per_s=expected,
            outcome=Outcome.PASS if measured.low >= expected.low else Outcome.FAIL,
        )  # fmt: skip


def _measured(inventory: Inventory) -> Iterator[tuple[Entity, int, float]]:
    """Yield collective, size and bus bandwidth of large sizes; a copy of a run counts once."""
    runs: dict[str, list[tuple[Entity, int, float]]] = {}
    for entity, _ in inventory.of("collective"):
        size, busbw = whole(entity.field("size")), inventory.value(entity, "busbw")
        if size and size >= LEAST_BYTES and isinstance(busbw, float) and busbw:
            runs.setdefault(str(entity.field("job")), []).append((entity, size, busbw))
    curves = {
        tuple((row.field("operation"), *rest) for row, *rest in rows): rows
        for rows in runs.values()
    }
    for rows in curves.values():
        yield from rows


def _against_model(speeds: tuple[Speed, ...], cluster: Cluster) -> Section:
    if not speeds:
        reason = f"no run of nccl-tests from {LEAST_BYTES >> 20} MiB up was read"
        return Section(section="speed", outcome=Outcome.UNMEASURED, reason=reason)
    slow = [speed for speed in speeds if speed.outcome is Outcome.FAIL]
    share = min(
        speed.measured_bytes_per_s.low / speed.expected_bytes_per_s.low for speed in speeds
    )
    reason = (
        f"{len(speeds) - len(slow)} of {len(speeds)} sizes reach the lower end of the model; "
        f"the worst has {share:.0%} of it"
    )
    outcome = Outcome.FAIL if slow else Outcome.PASS
    most = max(speed.hosts or 0 for speed in speeds)
    if outcome is Outcome.PASS and most < cluster.hosts:
        outcome = Outcome.UNMEASURED
        reason += f", but the largest run has {most} of {cluster.hosts} hosts"
    return Section(section="speed", outcome=outcome, reason=reason)


def _repeats(speeds: tuple[Speed, ...]) -> Section:
    """Judge the spread of the runs over the most hosts: healthy runs repeat as pair tests."""
    most = max((speed.hosts or 0 for speed in speeds), default=0)
    largest = [speed for speed in speeds if (speed.hosts or 0) == most]
    runs = min((speed.runs for speed in largest), default=0)
    if runs < LEAST_RUNS:
        reason = f"runs read: {runs}; {LEAST_RUNS} are needed"
        return Section(section="repeats", outcome=Outcome.UNMEASURED, reason=reason)
    spread = max(speed.spread_ratio for speed in largest)
    good = spread <= 2 * NOISE_RATIO
    reason = f"{runs} runs lie within {spread:.1%}; at most {2 * NOISE_RATIO:.0%} is expected"
    return Section(
        section="repeats", outcome=Outcome.PASS if good else Outcome.FAIL, reason=reason
    )


def _localised(path: Path | None, cluster: Cluster) -> Section:
    if path is None:
        reason = "no tests between hosts were given (weft bench localise -o json)"
        return Section(section="localisation", outcome=Outcome.UNMEASURED, reason=reason)
    result = read_json(path)
    try:
        lists = result["layout"]["hosts"], result["outcomes"], result["named"]
        none = float(result["none_probability"])
    except (KeyError, TypeError, ValueError):
        lists, none = (None, None, None), 0.0
    if not all(isinstance(item, list) for item in lists):
        raise SpecError(
            f"{path}: is not a result of weft bench localise; write one with -o json"
        )
    hosts, tests, named = len(lists[0]), len(lists[1]), ", ".join(map(str, lists[2]))
    seen = f"{tests} tests between {hosts} of {cluster.hosts} hosts"
    if named:
        outcome, reason = Outcome.FAIL, f"{named} is slow ({seen})"
    elif none >= SURE and tests and hosts >= cluster.hosts:
        outcome, reason = Outcome.PASS, f"nothing is slow ({none:.0%} sure, {seen})"
    else:
        outcome, reason = (
            Outcome.UNMEASURED,
            f"not settled: nothing slow at {none:.0%} ({seen})",
        )
    return Section(section="localisation", outcome=outcome, reason=reason)

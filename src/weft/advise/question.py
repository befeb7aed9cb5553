"""The same question with one thing changed: another size, batch, model or pinned key.

A changed question is answered near what was found: each network keeps its kind of topology
and its NICs, unless they are what changes, and takes one of the parallelisms found for any
network. Where it cannot be built so, it is searched anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from weft.advise.best import Weighted
from weft.advise.case import Case, Row
from weft.advise.oracle import Oracle
from weft.advise.pins import Pins
from weft.advise.wording import figure
from weft.errors import Infeasible
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism

SHAPE = frozenset({
    "host.nics", "host.nic_bytes_per_s", "topology.kind", "topology.oversubscription",
})  # fmt: skip
Changed = Callable[[Case, float], Case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One number that moves; what each candidate's tokens cost when it stands elsewhere."""

    title: str
    unit: str
    current: Callable[[Case], float]
    span: Callable[[Case], tuple[float, float]]
    """The range that is searched: what has been seen or published."""
    usd_per_1t_tokens: Callable[[Case, str, float], float]
    """Cost for a candidate by name; raises a WeftError where it cannot be built so."""
    source: str
    """Where the range comes from."""
    choices: Callable[[Case], tuple[float, ...]] = lambda _: ()
    """The only values that exist, where it cannot take any in between; ascending."""
    label: Callable[[Case, float], str] | None = None
    """The name of a value that is a place in a list."""
    confirmed: Callable[[Case, str, float], float] | None = None
    """The same cost by a longer search, which what changes the recommendation must pass."""
    logarithmic: bool = True
    steps: int = 6
    """Halvings of the range; inputs that need no new prediction can afford many."""
    applies: Callable[[Case], bool] = lambda _: True
    evidence: str = "computed by the analytic engine"

    def shown(self, case: Case, value: float) -> str:
        """Return a value as text with its unit."""
        return self.label(case, value) if self.label else figure(value, self.unit)


def search_input(
    *,
    changed: Changed,
    current: Callable[[Case], float],
    **fields: Any,  # noqa: ANN401 - those of Input
) -> Input:
    """Return an input whose values are asked of every network by a search.

    What the search near the rows finds to change the recommendation is confirmed by a whole
    one.
    """

    def near(case: Case, name: str, value: float) -> float:
        return _cost(case, name, value, _near)

    def whole(case: Case, name: str, value: float) -> float:
        return _cost(case, name, value, lambda _, other, name: other.row(name))

    def _cost(
        case: Case, name: str, value: float, answer: Callable[[Case, Case, str], Row]
    ) -> float:
        if value == current(case):
            return case.row(name).usd_per_1t_tokens
        key = changed, value, name, answer is _near
        if key not in case.variants:
            case.variants[key] = answer(case, changed(case, value), name)
        return case.variants[key].usd_per_1t_tokens

    choices = fields["choices"]
    return Input(
        current=current,
        span=lambda case: _ends((*choices(case), current(case))),
        usd_per_1t_tokens=near,
        confirmed=whole,
        logarithmic=False,
        **fields,
    )


def _ends(values: tuple[float, ...]) -> tuple[float, float]:
    return min(values), max(values)


def _near(case: Case, other: Case, name: str) -> Row:
    """Return a row of a changed question, with what was found kept where it can be."""
    found = case.found(name).cluster
    free = SHAPE - (other.pins.keys - case.pins.keys)
    host, topology = other.cluster.host, other.cluster.topology
    kept = {key: getattr(found.host, key) for key in ("nics", "nic_bytes_per_s")}
    host = host.with_(**{k: v for k, v in kept.items() if f"host.{k}" in free})
    shape = {key: getattr(found.topology, key) for key in ("kind", "oversubscription")}
    topology = topology.with_(**{k: v for k, v in shape.items() if f"topology.{k}" in free})
    near = replace(
        other,
        cluster=other.cluster.with_(host=host, topology=topology),
        pins=Pins(other.pins.keys | free),
        searched={},
    )
    try:
        return near.row(name)
    except Infeasible:
        return other.row(name)


def pinned(case: Case, cluster: Cluster, *keys: str) -> Case:
    """Return the case on a changed cluster that keeps some keys in every row."""
    among = tuple(
        _among(case, weighted, n, lambda job: job) for n, weighted in enumerate(case.jobs)
    )
    return _other(case, cluster=cluster, pins=Pins(case.pins.keys | set(keys)), jobs=among)


def resized(case: Case, ratio: float) -> Case:
    """Return the case at another size, with the batch of each GPU."""
    hosts = max(1, round(case.cluster.hosts * ratio))
    jobs = tuple(
        _among(case, weighted, n, lambda job: _scaled(job, ratio))
        for n, weighted in enumerate(case.jobs)
    )
    return _other(case, cluster=case.cluster.with_(hosts=hosts), jobs=jobs)


def with_batch(case: Case, batch: int) -> Case:
    """Return the case with another number of sequences a step of its first job."""
    first, *others = case.jobs
    changed = _among(case, first, 0, lambda job: job.with_(global_batch=batch))
    return _other(case, jobs=(changed, *others))


def with_job(case: Case, change: Callable[[Job], Job]) -> Case:
    """Return the case with another first job, whose parallelism is searched."""
    first, *others = case.jobs
    return _other(case, jobs=(Weighted(job=change(first.job), weight=first.weight), *others))


def _other(case: Case, **changes: Any) -> Case:  # noqa: ANN401 - fields of a case
    """Return a changed case; what it asks is answered in closed form, however rows are."""
    oracle = Oracle() if case.oracle.simulates else case.oracle
    return replace(case, searched={}, variants={}, advised=None, oracle=oracle, **changes)


def _among(case: Case, one: Weighted, place: int, change: Callable[[Job], Job]) -> Weighted:
    """Return a changed job that runs in one of the ways found for any network."""
    ways = dict.fromkeys((job.parallelism, job.recompute) for job in _found_jobs(case, place))
    asked = change(one.job)
    among = (
        asked.with_(parallelism=_free(spread), recompute=recompute)
        for spread, recompute in ways
    )
    return Weighted(job=asked, weight=one.weight, among=tuple(among))


def _found_jobs(case: Case, place: int) -> Iterator[Job]:
    for row in (case.verdict, *case.rivals):
        found = case.found(row.name)
        yield from (each.jobs[place] for each in (found, *found.alternatives))


def _free(spread: Parallelism | str) -> Parallelism:
    """Return a spread whose data parallelism takes up what changes."""
    assert isinstance(spread, Parallelism)
    return spread.with_(dp=None)


def _scaled(job: Job, ratio: float) -> Job:
    """Scale GPUs and batch; data parallelism takes up the change."""
    gpus = None if job.gpus is None else max(1, round(job.gpus * ratio))
    batch = max(1, round(job.global_batch * ratio))
    spread = job.parallelism
    if isinstance(spread, Parallelism):
        spread = spread.with_(dp=None)
    return job.with_(gpus=gpus, global_batch=batch, parallelism=spread)

"""The best network of one candidate for some jobs, within what is pinned.

Parallelism, NICs, switch, topology and oversubscription are chosen together, for the least
cost of a token (or, with a target, the cheapest network that reaches it). The time of a step
depends on a network only through its NICs and a few figures of its wiring, so of the wirings
with equal figures only the cheapest is timed; and what cannot beat the best found, even with
the time of a network that is no slower, is not timed at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from weft.advise.attachment import Attachment, attachments
from weft.advise.candidate import GIVEN, Candidate
from weft.advise.pins import NOTHING, Pins
from weft.advise.wiring import Wiring, wirings
from weft.catalogue.fitting import medium
from weft.design.cost import total_cost
from weft.design.tariff import Tariff, tariff
from weft.engines.analytic.step import all_ways, resolve
from weft.engines.analytic.step.ways import Timed, Ways, ways_of
from weft.errors import Infeasible
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.units import SECONDS

WIRING_GAIN = 0.3
"""The most that better wiring is taken to save of what a job waits for a network: a host with
fewer NICs has more neighbours on its leaf. Bounds rest on it, figures do not."""
ALTERNATIVES = 3
Floors = tuple[tuple[float, ...], ...]
"""Of each job, a bound from below of the step of each of its ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """One job, and its share of all tokens that are trained."""

    job: Job
    weight: float = 1.0
    among: tuple[Job, ...] = ()
    """Ways to run it that are tried; empty: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is sought: the least cost of a token, or the least cost that reaches a step."""

    step_s: float | None = None


CHEAPEST = Goal()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One network that was timed, with the best way to run each job on it."""

    cluster: Cluster
    jobs: tuple[Job, ...]
    steps_s: tuple[float, ...]
    usd_per_gpu_hour: float
    score: float
    """Cost of a token in US dollars; with a target the cost of a GPU-hour."""
    alternatives: tuple["Found", ...] = ()
    """The next best with another topology or other NICs."""
    timed: int = 1
    """Networks that were timed."""


def best(
    candidate: Candidate,
    cluster: Cluster,
    jobs: Sequence[Weighted],
    pins: Pins = NOTHING,
    goal: Goal = CHEAPEST,
) -> Found:
    """Return the best network of a candidate; Infeasible where none can run the jobs."""
    ways = tuple(_ways(cluster, job) for job in jobs)
    if candidate.name == GIVEN:
        return _as_given(cluster, jobs, ways)
    search = _Search(candidate=candidate, jobs=tuple(jobs), ways=ways, pins=pins, goal=goal)
    refused = search.over_settings(cluster, search.run)
    if not search.found:
        raise Infeasible(refused or "no network reaches the target")
    return search.result()


def networks(
    candidate: Candidate, cluster: Cluster, pins: Pins = NOTHING
) -> list[tuple[Cluster, float]]:
    """Return every network of a candidate that can be built, with the cost of a GPU-hour.

    Of wirings with equal figures only the cheapest is among them.
    """
    search = _Search(candidate=candidate, jobs=(), ways=(), pins=pins, goal=CHEAPEST)
    found: list[tuple[Cluster, float]] = []

    def gather(own: Cluster) -> None:
        prices = tariff(own)
        for attachment in attachments(own, pins):
            nics_usd = prices.nics_usd(attachment.nic, own.hosts * attachment.count)
            priced = search.priced(own, attachment, prices, nics_usd)
            found.extend((search.built(own, item), item.usd_per_gpu_hour) for item in priced)

    refused = search.over_settings(cluster, gather)
    if not found:
        raise Infeasible(refused)
    return found


def _ways(cluster: Cluster, one: Weighted) -> Ways:
    """Return the ways to run a job: those named that it can run in, or all."""
    fitting = []
    for way in one.among:
        try:
            fitting.append(resolve(cluster, way))
        except Infeasible:
            continue
    return ways_of(cluster, fitting) if fitting else all_ways(cluster, one.job)


def _as_given(cluster: Cluster, jobs: Sequence[Weighted], ways: Sequence[Ways]) -> Found:
    timed = tuple(way.fastest(cluster) for way in ways)
    usd = total_cost(cluster).usd_per_gpu_hour.value
    return Found(
        cluster=cluster, jobs=tuple(item.job for item in timed),
        steps_s=tuple(item.step_s for item in timed), usd_per_gpu_hour=usd,
        score=usd * _effort(cluster, jobs, [item.step_s for item in timed]),
    )  # fmt: skip


def _effort(cluster: Cluster, jobs: Sequence[Weighted], steps_s: Sequence[float]) -> float:
    """Return the GPU-hours of a token."""
    total = sum(job.weight for job in jobs)
    return sum(
        job.weight / total * (job.job.gpus or cluster.gpus) / SECONDS["h"] * step_s
        / (job.job.global_batch * job.job.sequence_length)
        for job, step_s in zip(jobs, steps_s, strict=True)
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Priced:
    """A wiring that may be timed, with what its network costs."""

    attachment: Attachment
    wiring: Wiring
    usd_per_gpu_hour: float


@dataclass(slots=True, kw_only=True)
class _Search:
    candidate: Candidate
    jobs: tuple[Weighted, ...]
    ways: tuple[Ways, ...]
    pins: Pins
    goal: Goal
    found: list[Found] = field(default_factory=list)
    best_score: float = inf
    floors: Floors = ()
    ideals: dict[tuple[object, ...], tuple[float, ...]] = field(default_factory=dict)
    """Steps with the best wiring of each attachment; settings are searched best first."""

    def over_settings(self, cluster: Cluster, search: Callable[[Cluster], None]) -> str:
        """Search each setting of the fabric; return why those that cannot be built cannot."""
        refusals = []
        for choice in self.candidate.choices(cluster):
            try:
                search(self.candidate.with_storage(cluster.with_(fabric=choice)))
            except Infeasible as error:
                refusals.append(str(error))
        return "; ".join(dict.fromkeys(refusals))

    def run(self, cluster: Cluster) -> None:
        """Search all NICs and wirings on one fabric with its settings, the best bound first."""
        prices = tariff(cluster)
        waiting: list[tuple[float, _Priced]] = []
        for attachment in attachments(cluster, self.pins):
            nics_usd = prices.nics_usd(attachment.nic, cluster.hosts * attachment.count)
            usd = prices.usd_per_gpu_hour(nics_usd)
            if self._is_hopeless(cluster, attachment, usd):
                continue
            priced = self.priced(cluster, attachment, prices, nics_usd)
            if not priced:
                continue
            ideal = min(priced, key=lambda item: _quality(item.wiring))
            self.floors = self.floors or self._floors(self.built(cluster, ideal))
            steps = self._time(cluster, ideal)
            self.ideals[_key(attachment)] = steps
            for item in priced:
                if item is not ideal:
                    least = self._bound(steps, ideal, item)
                    waiting.append((self._score(cluster, item.usd_per_gpu_hour, least), item))
        for bound, item in sorted(waiting, key=lambda pair: pair[0]):
            if bound >= self.best_score:
                break
            self._time(cluster, item)

    def _is_hopeless(self, cluster: Cluster, attachment: Attachment, usd: float) -> bool:
        """Tell whether NICs cannot lead to the best, even with switches for nothing."""
        if not self.floors:
            return False
        known = self.ideals.get(_key(attachment))
        steps = self._relaxed(known) if known else _least(self.floors)
        return self._score(cluster, usd, steps) >= self.best_score

    def priced(
        self, cluster: Cluster, attachment: Attachment, prices: Tariff, nics_usd: float
    ) -> list[_Priced]:
        """Return the cheapest wiring of each set of figures, the cheapest first."""
        cheapest: dict[object, _Priced] = {}
        try:
            ways = wirings(self.candidate, cluster, attachment, self.pins)
        except Infeasible:
            if attachment.count == 1 or self.found:
                return []
            raise
        for wiring in ways:
            try:
                usd = prices.usd_per_gpu_hour(nics_usd + _wired_usd(cluster, wiring, prices))
            except Infeasible:  # no cable is so long at this rate
                continue
            known = cheapest.get(wiring.figures)
            if known is None or usd < known.usd_per_gpu_hour:
                cheapest[wiring.figures] = _Priced(
                    attachment=attachment, wiring=wiring, usd_per_gpu_hour=usd
                )
        return sorted(cheapest.values(), key=lambda item: item.usd_per_gpu_hour)

    def _floors(self, cluster: Cluster) -> Floors:
        """Return, of each way to run each job, what no network of this fabric improves on."""
        return tuple(
            tuple(_rewired(ways.floors_s, ways.steps_s(cluster))) for ways in self.ways
        )

    def _bound(self, steps_s: Sequence[float], ideal: _Priced, one: _Priced) -> Sequence[float]:
        """Return steps that a wiring does not improve on, given those of the ideal one."""
        return steps_s if ideal.wiring.no_worse_than(one.wiring) else self._relaxed(steps_s)

    def _relaxed(self, steps_s: Sequence[float]) -> Sequence[float]:
        """Return what better wiring may make of steps."""
        return _rewired(_least(tuple(ways.floors_s for ways in self.ways)), steps_s)

    def _score(self, cluster: Cluster, usd: float, steps_s: Sequence[float]) -> float:
        if self.goal.step_s is None:
            return usd * _effort(cluster, self.jobs, steps_s)
        return usd if max(steps_s) <= self.goal.step_s else inf

    def built(self, cluster: Cluster, one: _Priced) -> Cluster:
        """Return the cluster with these NICs and this wiring."""
        own, prices = cluster, cluster.prices
        host = one.attachment.on(own, pinned_gpudirect="host.gpudirect" in self.pins)
        return own.with_(
            host=host,
            topology=one.wiring.choice,
            prices=prices.with_(
                nic_usd=prices.nic_usd if host.nic == own.host.nic else None,
                switch_usd=prices.switch_usd if _is_quoted(own, one.wiring) else None,
            ),
        )

    def _time(self, cluster: Cluster, one: _Priced) -> tuple[float, ...]:
        built = self.built(cluster, one)
        timed: list[Timed] = [
            ways.fastest(built, floors_s=each)
            for ways, each in zip(self.ways, self.floors, strict=True)
        ]
        steps = tuple(each.step_s for each in timed)
        score = self._score(cluster, one.usd_per_gpu_hour, steps)
        if score < inf:
            jobs, usd = tuple(each.job for each in timed), one.usd_per_gpu_hour
            self.found.append(
                Found(
                    cluster=built, jobs=jobs, steps_s=steps, usd_per_gpu_hour=usd, score=score
                )
            )
            self.best_score = min(self.best_score, score)
        return steps

    def result(self) -> Found:
        """Return the best found, with the next best that differ in topology or NICs."""
        of_shape: dict[tuple[object, ...], Found] = {}
        for found in sorted(self.found, key=lambda found: found.score):
            of_shape.setdefault(_shape(found), found)
        first, *others = of_shape.values()
        alternatives = tuple(others[:ALTERNATIVES])
        return replace(first, alternatives=alternatives, timed=len(self.found))


def _rewired(alone_s: Sequence[float], steps_s: Sequence[float]) -> list[float]:
    """Return what better wiring may make of steps, given those without any network."""
    return [
        alone + (1 - WIRING_GAIN) * (step - alone)
        for alone, step in zip(alone_s, steps_s, strict=True)
    ]


def _key(attachment: Attachment) -> tuple[object, ...]:
    return attachment.nic.name, attachment.count, attachment.bytes_per_s


def _least(floors: Floors) -> list[float]:
    return [min(each) for each in floors]


def _shape(found: Found) -> tuple[object, ...]:
    host = found.cluster.host
    return found.cluster.topology.kind, host.nics, host.nic_bytes_per_s


def _quality(wiring: Wiring) -> tuple[float, ...]:
    one = wiring.layout
    return (*one.oversubscriptions[::-1], *one.hops[::-1], -one.hosts_per_unit)


def _is_quoted(cluster: Cluster, wiring: Wiring) -> bool:
    return cluster.topology.switch in {None, wiring.switch.name}


def _wired_usd(cluster: Cluster, wiring: Wiring, prices: Tariff) -> float:
    """Return what switches and cables cost over the years."""
    layout = wiring.layout
    rate = layout.link_bytes_per_s * layout.planes
    cable = medium(rate, cluster.topology.cable_m, cluster.fabric.kind)
    quoted = _is_quoted(cluster, wiring)
    switches_usd = prices.switches_usd(wiring.switch, layout.switches, quoted=quoted)
    return switches_usd + sum(layout.cables.values()) * prices.link_usd(cable)

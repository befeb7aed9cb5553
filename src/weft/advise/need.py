"""How much network a target needs: one thing at a time, the others as they are."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Literal

from weft.advise.best import Found, Goal, Weighted, best
from weft.advise.candidate import Candidate, candidates
from weft.advise.chosen import Chosen, chosen
from weft.advise.knobs import with_bandwidth
from weft.advise.latencies import waited_steps
from weft.advise.limits import objections
from weft.advise.oracle import Oracle
from weft.advise.pins import NOTHING, Pins
from weft.advise.wording import figure, percent
from weft.errors import SpecError, WeftError
from weft.network.network import layout
from weft.predict.training import Prediction, predict, prober_for
from weft.results import Provenance
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.units import gbit_from_rate

Metric = Literal["mfu_of_max", "mfu", "tokens_per_s", "step_s"]
SHARES = ("mfu_of_max", "mfu")
"""Metrics that are shares, from 0 to 1."""
KNEE_GAIN = 0.02
"""The knee: from here on, doubling the bandwidth gives less than 2 % more speed."""
UNLIMITED = 32.0
"""The most that a network is asked for, as a multiple of what there is."""
LEAST = 1 / 64
HALVINGS = 9
"""A range of 2,048 to 1 is known to 1.5 % after nine halvings of its logarithm."""
MOST_OVERSUBSCRIPTION = 32.0
MOST_LATENCY_S = 500e-6
Change = Callable[[Cluster, float], Cluster]
"""Gives a cluster so much of something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the job should reach; a share of the maximum means: with unlimited bandwidth."""

    metric: Metric
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One property of the network: what there is, what the target needs."""

    name: str
    title: str
    unit: str
    have: float
    need: float | None
    """None: no amount of it reaches the target while the others stay as they are."""
    at_least: bool
    """Whether more of it is better (bandwidth), or less (oversubscription, latency)."""
    bounded: bool
    """Whether the search ended at the end of its range: "at least" or "at most" that."""
    text: str

    @property
    def met(self) -> bool:
        """Whether what there is suffices."""
        if self.need is None:
            return False
        return self.have >= self.need if self.at_least else self.have <= self.need


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of the curve of speed against bandwidth."""

    bytes_per_s_per_gpu: float
    mfu_ratio: float
    tokens_per_s: float
    step_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Knee:
    """Where more bandwidth stops to pay."""

    bytes_per_s_per_gpu: float
    mfu_ratio: float
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """A network that reaches the target at the least cost of a GPU-hour."""

    name: str
    title: str
    prediction: Prediction
    chosen: tuple[Chosen, ...]
    """What was pinned, and what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a target asks of the network, and the curve it is read from."""

    cluster: Cluster
    job: Job
    target: Target
    now: float
    """The metric as the cluster is, in its own unit."""
    wanted: float
    """The target as an absolute value of the metric."""
    most: float
    """What unlimited bandwidth would give."""
    reached: bool
    requirements: tuple[Requirement, ...]
    curve: tuple[Point, ...]
    knee: Knee
    cheapest: Reaching | None
    """The cheapest network that reaches the target, each fabric at its best; none: no network
    does."""
    sentence: str
    predictions: int
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class _Search:
    start: Prediction
    oracle: Oracle
    metric: Metric

    @property
    def cluster(self) -> Cluster:
        return self.start.cluster

    def at(self, change: Change, amount: float) -> float:
        """Return the step time on a changed cluster, whose switches must be able to be so."""
        changed = change(self.cluster, amount)
        layout(changed)
        return self.oracle.pace(changed, self.start.job).step_s

    def metric_at(self, step_s: float) -> float:
        """Return the metric at a step time of this job; and the step time at a metric."""
        now = self.start.step_s.value
        value = measure(self.start, self.metric)
        return step_s if self.metric == "step_s" else value * now / step_s

    def reaching(self, change: Change, step_s: float) -> Callable[[float], bool]:
        """Return what tells whether an amount suffices; what cannot be built does not."""

        def reaches(amount: float) -> bool:
            try:
                return self.at(change, amount) <= step_s
            except WeftError:
                return False

        return reaches


def measure(prediction: Prediction, metric: Metric) -> float:
    """Return a metric of a prediction."""
    if metric == "step_s":
        return prediction.step_s.value
    if metric == "tokens_per_s":
        return prediction.tokens_per_s.value
    return prediction.mfu_ratio.value


def need(
    cluster: Cluster,
    job: Job,
    target: Target | None = None,
    *,
    pins: Iterable[str] = (),
    fidelity: str = "analytic",
    ask: Callable[[Cluster, Job], Prediction] | None = None,
) -> Need:
    """Solve for the network that a target needs; ``ask`` stands in for predict().

    Without a target: 95 % of the speed that unlimited bandwidth would give. ``pins`` are keys
    that the cheapest network keeps; with ``ask`` or another fidelity it is not searched.
    """
    target = target or Target(metric="mfu_of_max", value=0.95)
    _check(target)
    prober = prober_for(fidelity)
    oracle = Oracle.of(ask) if prober is None else Oracle.with_packets(prober)
    start = oracle.predict(cluster, job)
    search = _Search(start, oracle, target.metric)
    curve = _curve(search)
    most = search.metric_at(search.at(with_bandwidth, UNLIMITED))
    wanted = target.value * most if target.metric == "mfu_of_max" else target.value
    step_s = search.metric_at(wanted)
    requirements = tuple(_requirements(search, step_s))
    knee, reached = _knee(curve), start.step_s.value <= step_s
    return Need(
        cluster=cluster, job=start.job, target=target, now=measure(start, target.metric),
        wanted=wanted, most=most, reached=reached, requirements=requirements, curve=curve,
        knee=knee, cheapest=None if ask else cheapest(cluster, job, step_s, Pins.of(pins)),
        sentence=_sentence(requirements, knee, reached=reached), predictions=oracle.calls,
        provenance=start.provenance,
    )  # fmt: skip


def _check(target: Target) -> None:
    if not 0 < target.value < inf:
        raise SpecError(f"a target of {target.value:g} means nothing; give one above zero")
    if target.metric in SHARES and target.value > 1:
        raise SpecError(
            f"a target of {target.metric}={target.value:g} is more than all there is: it is a "
            f"share from 0 to 1; for {target.value:g} % write {target.value / 100:g}"
        )


def _requirements(search: _Search, step_s: float) -> Iterator[Requirement]:
    """Yield each property of the network alone, while the others stay as they are."""
    cluster, host = search.cluster, search.cluster.host
    rate = cluster.nic_bytes_per_s_per_gpu
    ratio = farthest(search.reaching(with_bandwidth, step_s), UNLIMITED, LEAST)
    yield _requirement(
        "bandwidth", "scale-out bandwidth of one GPU", "Gb/s", gbit_from_rate(rate),
        ratio and gbit_from_rate(rate * ratio), bounded=ratio == LEAST,
    )  # fmt: skip
    # Numbers of NICs that serve GPUs evenly: 1, 2, 4, 8, 16 for eight GPUs.
    counts = [*(n for n in range(1, host.gpus + 1) if host.gpus % n == 0), 2 * host.gpus]
    nics = next(filter(search.reaching(_with_nics, step_s), counts), None)
    yield _requirement(
        "nics", f"NICs of {gbit_from_rate(host.nic_bytes_per_s):g} Gb/s in a host", "NICs",
        float(host.nics), nics and float(nics), bounded=nics == counts[0],
    )  # fmt: skip
    ratio = farthest(search.reaching(_with_uplinks, step_s), 1.0, MOST_OVERSUBSCRIPTION)
    yield _requirement(
        "oversubscription", "oversubscription of the leaves", ": 1",
        cluster.topology.oversubscription, ratio, bounded=ratio == MOST_OVERSUBSCRIPTION,
        at_least=False,
    )  # fmt: skip
    latency_s = _spare_s(search.start, step_s)
    yield _requirement(
        "latency", "latency that may be added to each message", "s", 0.0, latency_s,
        bounded=latency_s == MOST_LATENCY_S, at_least=False,
    )  # fmt: skip


def _spare_s(start: Prediction, step_s: float) -> float | None:
    """Return the time that each message may take longer."""
    spare_s, steps = step_s - start.step_s.value, waited_steps(start)
    if spare_s < 0:
        return None
    return min(MOST_LATENCY_S, spare_s / steps) if steps else MOST_LATENCY_S


def _requirement(
    name: str,
    title: str,
    unit: str,
    have: float,
    found: float | None,
    *,
    bounded: bool,
    at_least: bool = True,
) -> Requirement:
    has = figure(have, unit)
    if found is None:
        alone = "no amount of it alone reaches" if at_least else "even the least does not reach"
        text = f"{title}: you have {has}; {alone} the target"
    else:
        word = ("at most " if at_least else "at least ") if bounded else ""
        text = f"{title}: you have {has}, you need {word}{figure(found, unit)}"
        if not at_least:
            text = text.replace("you need", "you can bear")
    return Requirement(
        name=name, title=title, unit=unit, have=have, need=found, at_least=at_least,
        bounded=bounded, text=text,
    )  # fmt: skip


def farthest(
    reaches: Callable[[float], bool], easy: float, hard: float, *, halvings: int = HALVINGS
) -> float | None:
    """Return the value nearest to the hard end that reaches, by bisection of the logarithm.

    Nothing is returned where not even the easy end reaches.

    >>> round(farthest(lambda x: x >= 3, 64, 1, halvings=30), 6)
    3.0
    >>> round(farthest(lambda x: x <= 3, 1, 64, halvings=30), 6)
    3.0
    """
    if not reaches(easy):
        return None
    if reaches(hard):
        return hard
    for _ in range(halvings):
        middle = (easy * hard) ** 0.5
        easy, hard = (middle, hard) if reaches(middle) else (easy, middle)
    return easy


def _with_nics(cluster: Cluster, nics: float) -> Cluster:
    return cluster.with_(host=cluster.host.with_(nics=int(nics)))


def _with_uplinks(cluster: Cluster, ratio: float) -> Cluster:
    return cluster.with_(topology=cluster.topology.with_(oversubscription=ratio))


def _curve(search: _Search) -> tuple[Point, ...]:
    """Predict at doublings from a 32nd to sixteen times what there is."""
    points = []
    for power in range(-5, 5):
        try:
            step_s = search.at(with_bandwidth, 2.0**power)
        except WeftError:  # no switch is so fast
            continue
        faster = search.start.step_s.value / step_s
        points.append(
            Point(
                bytes_per_s_per_gpu=search.cluster.nic_bytes_per_s_per_gpu * 2.0**power,
                mfu_ratio=search.start.mfu_ratio.value * faster,
                tokens_per_s=search.start.tokens_per_s.value * faster,
                step_s=step_s,
            )
        )
    return tuple(points)


def _knee(curve: tuple[Point, ...]) -> Knee:
    """Return the first point from which a doubling gives less than the knee's gain."""
    gains = [b.mfu_ratio / a.mfu_ratio - 1 for a, b in pairwise(curve)]
    place = next((i for i, gain in enumerate(gains) if gain < KNEE_GAIN), len(gains))
    point = curve[place]
    return Knee(
        bytes_per_s_per_gpu=point.bytes_per_s_per_gpu,
        mfu_ratio=point.mfu_ratio,
        definition=f"from here, doubling the bandwidth gives less than {percent(KNEE_GAIN)}",
    )


def _sentence(requirements: tuple[Requirement, ...], knee: Knee, *, reached: bool) -> str:
    start = "The target is met" if reached else "The target is not met"
    rate = figure(gbit_from_rate(knee.bytes_per_s_per_gpu), "Gb/s")
    return f"{start}: {requirements[0].text}. The knee is at {rate} a GPU."


def cheapest(
    cluster: Cluster, job: Job, step_s: float, pins: Pins = NOTHING
) -> Reaching | None:
    """Return the cheapest network that runs a step in so long; none where no network does."""
    found = sorted(_found(cluster, job, Goal(step_s=step_s), pins), key=_usd)
    for candidate, network in found:
        prediction = predict(network.cluster, network.jobs[0])
        if not objections(candidate, prediction.cost, cluster.constraints):
            return Reaching(
                name=candidate.name,
                title=candidate.title,
                prediction=prediction,
                chosen=chosen(network, pins, searched=job.parallelism == "auto"),
            )
    return None


def _usd(pair: tuple[Candidate, Found]) -> float:
    return pair[1].usd_per_gpu_hour


def _found(
    cluster: Cluster, job: Job, goal: Goal, pins: Pins
) -> Iterator[tuple[Candidate, Found]]:
    """Yield what each candidate that may be recommended and needs no second network gives."""
    for candidate in candidates().values():
        if not candidate.fabric or not candidate.choice or candidate.storage_fabric:
            continue
        try:
            yield candidate, best(candidate, cluster, (Weighted(job=job),), pins, goal)
        except WeftError:  # it cannot be built here, or not be so fast
            continue

"""The case that advice is given on: one cluster, its jobs, and each candidate at its best."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import lcm

from weft.advise.best import Found, Weighted, best
from weft.advise.candidate import GIVEN, NONE, Candidate, candidates, find
from weft.advise.limits import objections
from weft.advise.oracle import Oracle, Pace
from weft.advise.pins import NOTHING, Pins
from weft.errors import Infeasible, WeftError
from weft.network.network import layout
from weft.predict.training import Prediction
from weft.spec.cluster import Cluster, FabricChoice
from weft.spec.workload import Job
from weft.traffic.demand import spread_of
from weft.units import SECONDS

TRILLION = 1e12


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate at its best, with what it costs and how fast it trains."""

    name: str
    candidate: Candidate
    predictions: tuple[Prediction, ...]
    """Of each job."""
    weights: tuple[float, ...]
    """Share of each job in the tokens that are trained; they add up to 1."""
    years: float

    @property
    def prediction(self) -> Prediction:
        """The prediction of the first job."""
        return self.predictions[0]

    @property
    def progress_tokens_per_s(self) -> float:
        """Tokens a second over the whole run: restarts and checkpoints taken off.

        Of several jobs: while each has its share of all tokens.
        """
        return 1 / sum(
            weight / (item.tokens_per_s.value * item.goodput_ratio.value)
            for item, weight in zip(self.predictions, self.weights, strict=True)
        )

    @property
    def usd_per_s(self) -> float:
        """Cost of the GPUs of the job, with their share of network, power and staff."""
        hourly = self.prediction.cost.usd_per_gpu_hour.value * self.prediction.gpus
        return hourly / SECONDS["h"]

    @property
    def usd_per_1t_tokens(self) -> float:
        """Cost of a trillion tokens of progress: what the recommendation rests on."""
        return sum(
            weight * item.usd_per_1t_tokens.value
            for item, weight in zip(self.predictions, self.weights, strict=True)
        )

    @property
    def network_usd_per_s(self) -> float:
        """The network's share of the cost."""
        share = self.prediction.gpus / self.prediction.cluster.gpus
        return self.prediction.cost.network_usd.value / (self.years * SECONDS["year"]) * share

    @property
    def exposed_s(self) -> float:
        """Time of a step in which GPUs wait for communication."""
        parts = self.prediction.step.breakdown_s.items()
        return sum(time_s for part, time_s in parts if part.startswith("exposed_"))

    @property
    def exposed_ratio(self) -> float:
        """Share of a step in which GPUs wait for communication."""
        return self.exposed_s / self.prediction.step_s.value


@dataclass(frozen=True)  # no slots: the table is worked out once and kept
class Case:
    """A cluster, its jobs, and the candidates at their best."""

    cluster: Cluster
    jobs: tuple[Weighted, ...]
    years: float
    names: tuple[str, ...]
    """Candidates of the table, in the order of the question."""
    pins: Pins = NOTHING
    oracle: Oracle = field(default_factory=Oracle)
    advised: str | None = None
    """The candidate that is recommended; none: the cheapest."""
    seek: Callable[[Candidate, Cluster, Sequence[Weighted], Pins], Found] = best
    """What finds the best network of a candidate."""
    given: Mapping[str, Cluster] = field(default_factory=dict)
    """Clusters that are compared as they are, by the names of their rows."""
    searched: dict[str, Found] = field(default_factory=dict)
    variants: dict[object, Row] = field(default_factory=dict)
    """The same question with one thing changed, each made once."""

    def candidate(self, name: str) -> Candidate:
        """Return a candidate by name."""
        if name in self.given:
            return replace(find(GIVEN), name=name, title=name, short=name)
        return find(name)

    def found(self, name: str) -> Found:
        """Return the best network of a candidate, searched once."""
        if name not in self.searched:
            self.searched[name] = self._search(name)
        return self.searched[name]

    def _search(self, name: str) -> Found:
        if name == NONE:
            return best(find(GIVEN), without_nics(self.cluster), self.jobs)
        if name in self.given:
            return best(find(GIVEN), self.given[name], self.jobs)
        return self.seek(find(name), self.cluster, self.jobs, self.pins)

    def row(self, name: str, *, change: Callable[[Cluster], Cluster] | None = None) -> Row:
        """Predict one candidate at its best, or with a change to that cluster."""
        found = self.found(name)
        cluster = fitted(change(found.cluster)) if change else found.cluster
        total = sum(job.weight for job in self.jobs)
        return Row(
            name=name, candidate=self.candidate(name), years=self.years,
            predictions=tuple(self.oracle.predict(cluster, job) for job in found.jobs),
            weights=tuple(job.weight / total for job in self.jobs),
        )  # fmt: skip

    def pace(
        self,
        name: str,
        *,
        change: Callable[[Cluster], Cluster] | None = None,
        job: Job | None = None,
    ) -> Pace:
        """Predict the speed alone of one candidate, as row() does with its cost."""
        found = self.found(name)
        cluster = change(found.cluster) if change else found.cluster
        return self.oracle.pace(cluster, job or found.jobs[0])

    @cached_property
    def job(self) -> Job:
        """The first job as the cheapest candidate runs it, with its parallelism."""
        return self.best.prediction.job

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The candidates of the table; those that cannot be built or run are not in it."""
        found = (self.attempt(partial(self.row, name)) for name in self.names)
        return tuple(row for row in found if row is not None)

    @staticmethod
    def attempt(ask: Callable[[], Row]) -> Row | None:
        """Return the row, or nothing where the cluster or the job cannot be so."""
        try:
            return ask()
        except WeftError:
            return None

    def why_not(self, name: str) -> str:
        """Say why a candidate is no row; nothing when it is one."""
        try:
            self.row(name)
        except WeftError as error:
            return str(error)
        return ""

    @cached_property
    def objections(self) -> dict[str, tuple[str, ...]]:
        """Why rows are not recommended whatever they cost, by name; empty where nothing."""
        return {
            row.name: objections(row.candidate, row.prediction.cost, self.cluster.constraints)
            for row in self.rows
        }

    @cached_property
    def choices(self) -> tuple[Row, ...]:
        """Rows that can be recommended; all of them where nothing else is in the table."""
        return tuple(row for row in self.rows if not self.objections[row.name]) or self.rows

    @property
    def has_choice(self) -> bool:
        """Whether any row meets the limits of the owner."""
        return any(not found for found in self.objections.values())

    @cached_property
    def best(self) -> Row:
        """The choice whose tokens cost least."""
        if not self.rows:
            reasons = "; ".join(f"{name}: {self.why_not(name)}" for name in self.names)
            raise Infeasible(f"no network of those asked for can run this job: {reasons}")
        return min(self.choices, key=lambda r: r.usd_per_1t_tokens)

    @cached_property
    def verdict(self) -> Row:
        """The candidate that is recommended."""
        return self.best if self.advised is None else self.row(self.advised)

    @cached_property
    def rivals(self) -> tuple[Row, ...]:
        """Those that could be recommended instead: cheapest other, cheapest other family.

        What would change the recommendation is sought against these; a third or a fourth of
        the same family would only repeat it.
        """
        best = self.verdict
        others = sorted(
            (r for r in self.choices if r.name != best.name), key=lambda r: r.usd_per_1t_tokens
        )
        other_family = [r for r in others if r.candidate.family != best.candidate.family]
        picked = {r.name: r for r in (*others[:1], *other_family[:1])}
        return tuple(picked.values())

    @property
    def replica_gpus(self) -> int:
        """GPUs of one model replica: the least that this parallelism can run on."""
        spread = spread_of(self.job)
        return spread.tp * spread.cp * spread.pp

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.jobs[0].job.gpus or self.cluster.gpus

    def whole_gpus(self, gpus: float) -> int:
        """Return the nearest count that is whole replicas, whole hosts and whole experts."""
        unit = lcm(self.replica_gpus, self.cluster.host.gpus, spread_of(self.job).ep)
        return max(1, round(gpus / unit)) * unit

    def at_gpus(self, name: str, gpus: int) -> Row:
        """Predict a candidate at another size, at its best there, with the batch of each GPU.

        Where the job does not fit so, activations are recomputed.
        """
        if gpus == self.gpus:
            return self.row(name)
        hosts = -(-gpus // self.cluster.host.gpus)
        cluster = self.cluster.with_(hosts=hosts)
        job = resized(self.found(name).jobs[0], gpus, self.gpus)
        try:
            return self._elsewhere(name, cluster, job)
        except Infeasible:  # fewer replicas shard less: recompute, as anybody would
            if job.recompute == "full":
                raise
            return self._elsewhere(name, cluster, job.with_(recompute="full"))

    def _elsewhere(self, name: str, cluster: Cluster, job: Job) -> Row:
        other = Case(
            cluster=cluster, jobs=(Weighted(job=job),), years=self.years, names=(name,),
            pins=self.pins, oracle=self.oracle, seek=self.seek,
        )  # fmt: skip
        return other.row(name)

    def sizes(self, wanted: Iterable[int]) -> list[int]:
        """Return the sizes near those wanted that this job can run on, smallest first."""
        floor = self.whole_gpus(1)
        return sorted({self.whole_gpus(n) for n in wanted if n >= floor} | {self.gpus})


def names() -> list[str]:
    """List the networks that can be compared."""
    return sorted(name for name in candidates() if name != NONE)


def without_nics(cluster: Cluster) -> Cluster:
    """Return hosts that only the network of their storage and management joins."""
    host = cluster.host.with_(nics=0)
    return cluster.with_(host=host, fabric=FabricChoice(kind="tcp"), storage_fabric=None)


def fitted(cluster: Cluster) -> Cluster:
    """Let pods be as large as the switch allows where those asked for need another switch."""
    try:
        layout(cluster)
    except Infeasible:
        return cluster.with_(topology=cluster.topology.with_(hosts_per_pod=None))
    return cluster


def resized(job: Job, gpus: int, own: int) -> Job:
    """Give a job more or fewer data-parallel replicas, each with the batch it has.

    The batch of the whole job grows in step (weak scaling), in whole micro-batches.
    """
    spread = spread_of(job).with_(dp=None)
    replicas = max(1, gpus // (spread.tp * spread.pp * spread.cp))
    slots = replicas * job.micro_batch
    batch = job.global_batch * gpus / own
    return job.with_(
        gpus=gpus, global_batch=max(1, round(batch / slots)) * slots, parallelism=spread
    )

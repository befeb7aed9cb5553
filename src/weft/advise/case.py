"""The case that advice is given on: one cluster, one job, and its candidates side by side."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import lcm

from weft import plugins
from weft.advise import candidates
from weft.advise.candidate import Candidate, fitted
from weft.advise.oracle import Oracle, Pace
from weft.errors import Infeasible, WeftError
from weft.predict.training import Prediction
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism
from weft.units import SECONDS

TRILLION = 1e12
RIVALS = ("infiniband", "roce_tuned", "tcp")
"""The three technologies that the articles compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One candidate on this cluster, with what it costs and how fast it trains."""

    name: str
    candidate: Candidate
    prediction: Prediction
    years: float

    @property
    def progress_tokens_per_s(self) -> float:
        """Tokens a second over the whole run: restarts and checkpoints taken off."""
        return self.prediction.tokens_per_s.value * self.prediction.goodput_ratio.value

    @property
    def usd_per_s(self) -> float:
        """Cost of the GPUs of the job, with their share of network, power and staff."""
        hourly = self.prediction.cost.usd_per_gpu_hour.value * self.prediction.gpus
        return hourly / SECONDS["h"]

    @property
    def usd_per_1t_tokens(self) -> float:
        """Cost of a trillion tokens of progress: what the verdict is made on."""
        return self.usd_per_s / self.progress_tokens_per_s * TRILLION

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
    """A cluster, a job with its parallelism fixed, and the candidates asked so far."""

    cluster: Cluster
    job: Job
    years: float
    names: tuple[str, ...]
    """Candidates of the table, in the order of the question."""
    oracle: Oracle = field(default_factory=Oracle)
    advised: str | None = None
    """The candidate advised; none: the cheapest."""

    def candidate(self, name: str) -> Candidate:
        """Return a candidate by name."""
        return plugins.load(candidates, name, Candidate)

    def row(
        self,
        name: str,
        *,
        change: Callable[[Cluster], Cluster] | None = None,
        job: Job | None = None,
    ) -> Row:
        """Predict one candidate, on this cluster or on a changed one."""
        chosen = self.candidate(name)
        own = chosen.apply(self.cluster)
        cluster = fitted(change(own) if change else own)
        return Row(
            name=name,
            candidate=chosen,
            prediction=self.oracle.predict(cluster, job or self.job),
            years=self.years,
        )

    def pace(
        self,
        name: str,
        *,
        change: Callable[[Cluster], Cluster] | None = None,
        job: Job | None = None,
    ) -> Pace:
        """Predict the speed alone of one candidate, as row() does with its cost."""
        own = self.candidate(name).apply(self.cluster)
        cluster = fitted(own)
        return self.oracle.pace(change(cluster) if change else cluster, job or self.job)

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
    def choices(self) -> tuple[Row, ...]:
        """Rows that can be advised; all of them where the table holds nothing else."""
        return tuple(row for row in self.rows if row.candidate.choice) or self.rows

    @cached_property
    def best(self) -> Row:
        """The choice whose tokens cost least."""
        if not self.rows:
            reasons = "; ".join(f"{name}: {self.why_not(name)}" for name in self.names)
            raise Infeasible(f"no network of those asked for can run this job: {reasons}")
        return min(self.choices, key=lambda r: r.usd_per_1t_tokens)

    @cached_property
    def verdict(self) -> Row:
        """The candidate advised."""
        return self.best if self.advised is None else self.row(self.advised)

    @cached_property
    def rivals(self) -> tuple[Row, ...]:
        """Those that could take the verdict over: cheapest other, cheapest other family.

        Flip points are sought against these; a third or a fourth of the same family would
        only say the same twice.
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
        assert isinstance(self.job.parallelism, Parallelism)
        return self.job.parallelism.tp * self.job.parallelism.cp * self.job.parallelism.pp

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.job.gpus or self.cluster.gpus

    def whole_gpus(self, gpus: float) -> int:
        """Return the nearest count that is whole replicas, whole hosts and whole experts."""
        assert isinstance(self.job.parallelism, Parallelism)
        unit = _least_common(
            (self.replica_gpus, self.cluster.host.gpus, self.job.parallelism.ep)
        )
        return max(1, round(gpus / unit)) * unit

    def at_gpus(self, name: str, gpus: int) -> Row:
        """Predict a candidate at another size, with the batch of each GPU kept.

        Where the job does not fit so, activations are recomputed.
        """
        if gpus == self.gpus:
            return self.row(name)
        hosts = -(-gpus // self.cluster.host.gpus)
        job = resized(self.job, gpus, self.gpus)
        try:
            return self.row(name, change=lambda c: c.with_(hosts=hosts), job=job)
        except Infeasible:  # fewer replicas shard less: recompute, as anybody would
            if job.recompute == "full":
                raise
            full = job.with_(recompute="full")
            return self.row(name, change=lambda c: c.with_(hosts=hosts), job=full)

    def sizes(self, wanted: Iterable[int]) -> list[int]:
        """Return the sizes near those wanted that this job can run on, smallest first."""
        floor = self.whole_gpus(1)
        return sorted({self.whole_gpus(n) for n in wanted if n >= floor} | {self.gpus})


def resized(job: Job, gpus: int, own: int) -> Job:
    """Give a job more or fewer data-parallel replicas, each with the batch it has.

    The batch of the whole job grows in step (weak scaling), in whole micro-batches.
    """
    assert isinstance(job.parallelism, Parallelism)
    spread = job.parallelism.with_(dp=None)
    replicas = max(1, gpus // (spread.tp * spread.pp * spread.cp))
    slots = replicas * job.micro_batch
    batch = job.global_batch * gpus / own
    return job.with_(
        gpus=gpus, global_batch=max(1, round(batch / slots)) * slots, parallelism=spread
    )


def _least_common(counts: Iterable[int]) -> int:
    return lcm(*counts)

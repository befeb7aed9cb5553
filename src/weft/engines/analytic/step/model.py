"""One optimiser step: compute, pipeline, communication, optimiser and stragglers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Final

from weft import catalogue
from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.step import domain
from weft.engines.analytic.step.compute import (
    Device,
    Times,
    accumulate_s,
    as_measured,
    device_of,
    head_times,
    layer_kernels,
    layer_times,
    optimizer_s,
)
from weft.engines.analytic.step.constants import (
    Constants,
    Software,
    constants,
    software_class,
)
from weft.engines.analytic.step.flops import hardware_flops, model_flops
from weft.engines.analytic.step.memory import memory_bytes
from weft.engines.analytic.step.overlap import Windows, bubble_s, exposed_s
from weft.engines.engine import CollectiveTime, StepTime, Traffic
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.traffic.collective import Group, Operation
from weft.traffic.demand import Demand, demands, micro_batches, spread_of, stage_layers

Collective = Callable[[Cluster, Operation, float, Group], CollectiveTime]


def step_time(
    cluster: Cluster,
    job: Job,
    *,
    fitted: Constants | None = None,
    collective: Collective = collective_time,
) -> StepTime:
    """Return the time of one optimiser step of a resolved job, with its breakdown."""
    fitted = fitted or constants()
    prepared = prepare(cluster, job, fitted)
    times = tuple(_total_s(cluster, demand, collective) for demand in prepared.wanted)
    parts, shares = prepared.parts_s(times), prepared.exposed_ratios(times)
    total_s = sum(parts.values())
    generation = catalogue.find("gpus", cluster.host.gpu).generation
    one_host = (job.gpus or cluster.gpus) <= cluster.host.gpus
    low, high = fitted.band(job, generation, one_host=one_host)
    place = domain.place_of(cluster, job, generation)
    return StepTime(
        step_s=domain.widened(Estimate(total_s, total_s * low, total_s * high), place),
        domain=domain.sentence(place),
        breakdown_s=parts,
        traffic=tuple(
            _traffic(demand, total, shares[demand.dimension])
            for demand, total in zip(prepared.wanted, times, strict=True)
        ),
        model_flops=model_flops(job),
        hardware_flops=hardware_flops(job),
        memory_bytes=memory_bytes(job),
        reasons=(_reason(parts, total_s),),
        assumptions=(_CLASS.format(software_class(job), generation),),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """One way to run a job on a machine, before the times of its collectives are known."""

    job: Job
    software: Software
    windows: Windows
    wanted: tuple[Demand, ...]
    alone_s: Mapping[str, float]
    """Parts of the step that are no communication."""
    bubble_per_exposed: float
    """How much exposed communication inside the layers stretches the bubble."""
    straggler_s: float

    def exposed_ratios(self, times: Sequence[float]) -> dict[str, float]:
        """Return the exposed share of each dimension, given the time of each demand."""
        totals: dict[str, float] = {}
        for demand, total_s in zip(self.wanted, times, strict=True):
            totals[demand.dimension] = totals.get(demand.dimension, 0.0) + total_s
        return {
            dimension: exposed_s(dimension, total_s, self.job, self.software, self.windows)
            / (total_s or 1.0)
            for dimension, total_s in totals.items()
        }

    def parts_s(self, times: Sequence[float]) -> dict[str, float]:
        """Return the parts of the step, given the time of each demand; they add up to it."""
        parts = dict(self.alone_s)
        shares = self.exposed_ratios(times)
        for demand, total_s in zip(self.wanted, times, strict=True):
            parts[f"exposed_{demand.dimension}"] += total_s * shares[demand.dimension]
        # Communication inside the layers stretches the bubble as their compute does.
        inside = sum(parts[f"exposed_{dimension}"] for dimension in ("tp", "cp", "ep"))
        parts["bubble"] += inside * self.bubble_per_exposed
        parts["straggler"] = self.straggler_s
        return parts


def prepare(cluster: Cluster, job: Job, fitted: Constants | None = None) -> Prepared:
    """Work out all of a step that does not depend on the network between domains."""
    fitted = fitted or constants()
    software = fitted.software[software_class(job)]
    gpu = catalogue.find("gpus", cluster.host.gpu)
    on = as_measured(device_of(gpu, job, fitted, software), cluster.overlay, job.precision)
    compute = _Compute(job, on, software, fitted)
    alone = compute.breakdown_s()
    alone["memory_bound"] += accumulate_s(job, on)
    alone["optimizer"] = optimizer_s(job, on) + software.step_s
    waits = alone["matrix"] + alone["attention"] + alone["memory_bound"] + alone["recompute"]
    return Prepared(
        job=job,
        software=software,
        windows=compute.windows(),
        wanted=demands(job, cluster.gpus_per_domain),
        alone_s=alone,
        bubble_per_exposed=bubble_s(spread_of(job), 1.0, 0.0) / micro_batches(job),
        straggler_s=fitted.jitter_ratio * slowest_of(job.gpus or cluster.gpus) * waits,
    )


ROUTER_ISSUES: Final = 1.5
"""CPU time to issue a sparse layer less its experts over that of a dense one."""

_CLASS = "training-step constants of the class {} on {} GPUs, fitted on published runs"


@cache
def slowest_of(gpus: int) -> float:
    """Return by how many deviations the slowest of so many GPUs is expected to be slower.

    A synchronous step takes as long as its slowest GPU; speeds differ normally by chips and
    cooling [Sinha 2022, section 4]. Expected greatest of n [Blom 1958]::

        z((n - 0.375) / (n + 1/4))
    """
    return max(0.0, NormalDist().inv_cdf((gpus - 0.375) / (gpus + 0.25)))


class _Compute:
    """Kernel times of the fullest pipeline stage, for one micro-batch and for the step."""

    def __init__(self, job: Job, on: Device, software: Software, fitted: Constants) -> None:
        self.job, self.fitted = job, fitted
        spread, model = spread_of(job), job.model
        layers = stage_layers(model, spread)
        sparse = layers * model.sparse_layers / model.layers
        self.forward, self.backward, self.again = Times(), Times(), Times()
        self.issue_s = 0.0
        for count, is_sparse in ((layers - sparse, False), (sparse, True)):
            if count > 0:
                self._add_layers(count, on, software, sparse=is_sparse)
        # Only the last stage has the head; where layers do not divide it has fewer of them.
        share = 1.0 if model.layers % spread.pp == 0 else 0.0
        head_forward, head_backward = head_times(job, on)
        self.forward = self.forward.plus(head_forward, share)
        self.backward = self.backward.plus(head_backward, share)

    def _add_layers(
        self, count: float, on: Device, software: Software, *, sparse: bool
    ) -> None:
        forward, backward, again = layer_times(self.job, on, sparse=sparse)
        if self.job.recompute == "full":
            again = forward
        self.forward = self.forward.plus(forward, count)
        self.backward = self.backward.plus(backward, count)
        self.again = self.again.plus(again, count)
        if self.job.cuda_graphs:
            return
        # Forward issues one layer in issue_s, backward in about the same, and a second
        # forward when everything is recomputed; a faster GPU waits for the CPU.
        issue_s, sync_s = self._issue_s(on, software, sparse=sparse)
        forwards = 2 if self.job.recompute == "full" else 1
        for times in (forward, backward, again)[: forwards + 1]:
            self.issue_s += count * max(0.0, issue_s - times.total_s)
        self.issue_s += count * forwards * sync_s

    def _issue_s(self, on: Device, software: Software, *, sparse: bool) -> tuple[float, float]:
        """Return the CPU time to issue a layer, and what of it the GPU always waits for."""
        dense_s = software.issue_s * layer_kernels(self.job, on)
        experts = self.job.model.experts
        if not sparse or experts is None:
            return dense_s, 0.0
        local = experts.experts / spread_of(self.job).ep
        issue_s = dense_s * (ROUTER_ISSUES + local * self.fitted.expert_issue_ratio)
        # Another micro-batch in flight works on while this one waits.
        waits = 0.0 if spread_of(self.job).overlap_ep else self.fitted.sync_ratio
        return issue_s, issue_s * waits

    def windows(self) -> Windows:
        """Return what communication can hide under."""
        count = micro_batches(self.job)
        forward_s, backward_s = self.forward.total_s, self.backward.total_s + self.again.total_s
        attention_s = self.forward.attention_s + self.backward.attention_s
        return Windows(
            forward_s=forward_s,
            backward_s=backward_s,
            attention_s=attention_s * count,
            step_s=(forward_s + backward_s) * count,
        )

    def breakdown_s(self) -> dict[str, float]:
        """Return the parts of the step that are not communication."""
        count = micro_batches(self.job)
        both = self.forward.plus(self.backward)
        bubble = bubble_s(
            spread_of(self.job),
            self.forward.total_s,
            self.backward.total_s + self.again.total_s + self.issue_s,
        )
        return {
            "matrix": both.matrix_s * count,
            "attention": both.attention_s * count,
            "memory_bound": both.memory_s * count,
            "recompute": self.again.total_s * count,
            "launch": (both.launch_s + self.issue_s) * count,
            "bubble": bubble,
            "exposed_tp": 0.0,
            "exposed_cp": 0.0,
            "exposed_ep": 0.0,
            "exposed_pp": 0.0,
            "exposed_dp": 0.0,
        }


def _traffic(demand: Demand, total_s: float, exposed_ratio: float) -> Traffic:
    return Traffic(
        dimension=demand.dimension,
        operation=demand.operation,
        group=demand.group,
        size_bytes=demand.size_bytes,
        calls=demand.calls,
        total_s=total_s,
        exposed_s=total_s * exposed_ratio,
        fabric_ratio=_fabric_ratio(demand),
    )


def _total_s(cluster: Cluster, demand: Demand, collective: Collective) -> float:
    once = collective(cluster, demand.operation, demand.size_bytes, demand.group)
    return once.time_s.value * demand.calls


def _fabric_ratio(demand: Demand) -> float:
    """Return the share of a rank's bytes that leaves the domain."""
    group = demand.group
    if group.ranks <= group.ranks_per_domain:
        return 0.0
    if demand.operation is Operation.ALL_TO_ALL:
        return (group.ranks - group.ranks_per_domain) / (group.ranks - 1)
    return 1.0


_WORDS: Final = {"matrix": "matrix products", "memory_bound": "memory-bound operations"}


def _reason(parts: dict[str, float], total_s: float) -> str:
    name, value = max(parts.items(), key=lambda part: part[1])
    waiting = sum(s for part, s in parts.items() if part.startswith("exposed_"))
    return (
        f"{_WORDS.get(name, name.replace('_', ' '))}: {value / total_s:.0%} of the step, the"
        f" largest part; waiting for communication: {waiting / total_s:.0%}"
    )

"""The predictions that advice asks for, each made once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from weft.engines.analytic import step as engine
from weft.engines.analytic.collective import collective_time
from weft.predict.training import Prediction, predict, predict_with
from weft.spec.cluster import Cluster
from weft.spec.workload import Job

if TYPE_CHECKING:
    from weft.predict.probing import Prober


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a job goes, without what it costs: enough where the prices stay."""

    step_s: float
    progress_tokens_per_s: float
    """Tokens a second over the whole run: restarts and checkpoints taken off."""


def pace(cluster: Cluster, job: Job, prober: "Prober | None" = None) -> Pace:
    """Predict the speed of a job alone.

    The cluster need not be one that can be bought, nor its memory hold the batch.
    """
    resolved = engine.resolve(cluster, job, fits=False)
    timed = collective_time if prober is None else prober.collective()
    step = engine.step_time(cluster, resolved, collective=timed)
    goodput = engine.goodput(cluster, resolved, step).value
    tokens = resolved.global_batch * resolved.sequence_length
    return Pace(
        step_s=step.step_s.value,
        progress_tokens_per_s=tokens / step.step_s.value * goodput,
    )


def pace_of(prediction: Prediction) -> Pace:
    """Return the pace that a whole prediction holds."""
    return Pace(
        step_s=prediction.step_s.value,
        progress_tokens_per_s=prediction.tokens_per_s.value * prediction.goodput_ratio.value,
    )


@dataclass(frozen=True, slots=True)
class Oracle:
    """Answers by predict(), remembered for as long as one piece of advice is being made."""

    ask: Callable[[Cluster, Job], Prediction] = predict
    time: Callable[[Cluster, Job], Pace] = pace
    asked: dict[tuple[Cluster, Job], Prediction] = field(default_factory=dict)
    timed: dict[tuple[Cluster, Job], Pace] = field(default_factory=dict)
    simulates: bool = False
    """Whether its collectives are simulated, which takes seconds for each network."""

    @classmethod
    def of(cls, ask: Callable[[Cluster, Job], Prediction] | None) -> "Oracle":
        """Return one that answers by the function given, or by predict() without one."""
        return cls() if ask is None else cls(ask, lambda c, j: pace_of(ask(c, j)))

    @classmethod
    def with_packets(cls, prober: "Prober") -> "Oracle":
        """Return one whose collectives are simulated packet by packet."""
        return cls(
            partial(predict_with, prober=prober), partial(pace, prober=prober), simulates=True
        )

    def predict(self, cluster: Cluster, job: Job) -> Prediction:
        """Predict, or return the same prediction again."""
        key = cluster, job
        if key not in self.asked:
            self.asked[key] = self.ask(cluster, job)
        return self.asked[key]

    def pace(self, cluster: Cluster, job: Job) -> Pace:
        """Predict the speed alone, or return the same again."""
        key = cluster, job
        if key in self.asked:
            return pace_of(self.asked[key])
        if key not in self.timed:
            self.timed[key] = self.time(cluster, job)
        return self.timed[key]

    @property
    def calls(self) -> int:
        """How many predictions were made."""
        return len(self.asked) + len(self.timed)

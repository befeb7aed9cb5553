"""What an objective is: one thing that settings are judged by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean
from typing import Final

from weft.engines.packet.simulation import Options
from weft.results import Estimate
from weft.tune.knob import any_pauses
from weft.tune.sample import Sample


class Over(StrEnum):
    """How the runs of several scenarios and seeds become one figure."""

    MEAN = "mean"
    WORST = "worst"


Runs = Mapping[tuple[int, int], Sample]
"""Samples by the place of their scenario and their seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """One figure of a run."""

    title: str
    meaning: str
    """What the figure is, in half a sentence."""
    more_is_better: bool = False
    of: Callable[[Sample, Sample], float]
    """Of a run, beside the run with the settings that the search began from."""
    applies: Callable[[Options], bool] = lambda _: True
    """Whether scenarios with these options have the figure at all."""
    over: Over | None = None
    """Fixed where only one makes sense; none: as the user asks."""

    def score(self, runs: Runs, starts: Runs, over: Over) -> Estimate:
        """Return the figure over all runs, and its range."""
        found = [self.of(runs[at], starts[at]) for at in runs]
        return Estimate(self._one(found, self.over or over), min(found), max(found))

    def _one(self, values: Sequence[float], over: Over) -> float:
        if over is Over.MEAN:
            return mean(values)
        return min(values) if self.more_is_better else max(values)

    def better(self, one: float, other: float) -> bool:
        """Say whether a figure is better than another."""
        return one > other if self.more_is_better else one < other


OBJECTIVES: Final = {
    "fairness_ratio": Objective(
        title="fairness",
        meaning="Jain's index of the rates of flows, 1 is fair",
        of=lambda run, _start: run.fairness_ratio,
        more_is_better=True,
    ),
    "paused_ratio": Objective(
        title="paused",
        meaning="share of the time that a link stands paused, mean over the links",
        of=lambda run, _start: run.paused_ratio,
        applies=any_pauses,
    ),
    "tail_ratio": Objective(
        title="tail",
        meaning="time of the 99th of 100 flows over its time alone",
        of=lambda run, _start: run.tail_ratio,
    ),
    "time_ratio": Objective(
        title="time",
        meaning="time of the traffic over that with the first settings",
        of=lambda run, start: run.time_over(start),
    ),
    "worst_time_ratio": Objective(
        title="worst time",
        meaning="time over that with the first settings, in the worst scenario and seed",
        of=lambda run, start: run.time_over(start),
        over=Over.WORST,
    ),
}
"""What settings are judged by; the unit ends the name."""

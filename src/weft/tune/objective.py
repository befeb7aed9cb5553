"""What an objective is: one thing that settings are judged by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean

from weft.engines.packet.simulation import Options
from weft.results import Estimate
from weft.tune.sample import Sample


class Over(StrEnum):
    """How the runs of several scenarios and seeds become one figure."""

    MEAN = "mean"
    WORST = "worst"


Runs = Mapping[tuple[int, int], Sample]
"""Samples by the place of their scenario and their seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """One figure of a run; the file is named after it, with its unit at the end."""

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

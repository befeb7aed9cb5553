"""What a search gives: the best settings, beside others, and what each knob is worth."""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.results import Estimate, Provenance
from weft.spec.scenario import Scenario
from weft.spec.settings import Tuning
from weft.tune.objective import Over


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Settings that were tried, judged on the seeds of the search."""

    number: int
    values: Mapping[str, float]
    """Of the knobs."""
    scores: Mapping[str, float]
    """By objective."""
    front: bool
    """No other trial is better in one objective and as good in all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """Settings judged on seeds that the search did not know."""

    name: str
    """best, start, or the name of shipped settings."""
    scores: Mapping[str, Estimate]
    """By objective; the range over all scenarios and seeds."""
    time_ratio: Estimate
    """Time over that of the start: mean of all scenarios and seeds, and their range."""
    times_s: tuple[Estimate, ...]
    """By scenario: mean over its traffics, middle and range of the seeds."""
    ended: bool
    """Whether all traffic ended within the time limit."""
    drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What one knob of the best settings is worth: what is lost without it."""

    knob: str
    title: str
    place: str
    start: float
    best: float
    harm: Mapping[str, Estimate]
    """By objective: its change when this knob alone goes back; range over the runs."""
    sure: bool
    """Whether no run was better without it, and some worse."""
    kept: bool
    """Whether it is in the settings that are written; what is worth nothing stays as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveLine:
    """One objective of the search, in words."""

    name: str
    title: str
    meaning: str
    more_is_better: bool
    over: Over


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What a search of settings found."""

    scenarios: tuple[Scenario, ...]
    objectives: tuple[ObjectiveLine, ...]
    """The first counts; among those as good in it the second, and so on."""
    seeds: tuple[int, ...]
    """Of the search."""
    check_seeds: tuple[int, ...]
    """Of everything that is compared."""
    complete: bool
    """False where it was interrupted: what is here was found until then."""
    trials: tuple[Trial, ...]
    best: int
    """Number of the best trial."""
    contenders: tuple[Contender, ...]
    """The best, the start, and shipped settings of the same fabric; empty if interrupted."""
    worths: tuple[Worth, ...]
    """Knobs that differ from the start, the most valuable first."""
    saved: str = ""
    """File that the settings were written to."""
    tuning: Tuning
    """The best settings as a document."""
    study: str
    """File that the search can be taken up from; empty: none."""
    provenance: Provenance

    @property
    def trial(self) -> Trial:
        """The best trial."""
        return next(trial for trial in self.trials if trial.number == self.best)

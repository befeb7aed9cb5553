"""Jain's index of the rates of the flows."""

from weft.tune.objective import Objective

fairness_ratio = Objective(
    title="fairness",
    meaning="Jain's index of the rates of flows, 1 is fair",
    of=lambda run, _start: run.fairness_ratio,
    more_is_better=True,
)

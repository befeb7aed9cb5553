"""The training-step model: one optimiser step of a job on a cluster, in closed form."""

from weft.engines.analytic.step.goodput import goodput
from weft.engines.analytic.step.model import step_time
from weft.engines.analytic.step.search import all_ways, resolve, search

__all__ = ["all_ways", "goodput", "resolve", "search", "step_time"]

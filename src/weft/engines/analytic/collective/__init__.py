"""The time of one collective: NCCL's tuning model chooses, weft's own model predicts."""

from weft.engines.analytic.collective.model import collective_time, sweep
from weft.engines.analytic.collective.preference import Preference, preference

__all__ = ["Preference", "collective_time", "preference", "sweep"]

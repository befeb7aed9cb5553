"""The time of one collective: NCCL's tuning model chooses, weft's own model predicts."""

from weft.engines.analytic.collective.model import collective_time, sweep

__all__ = ["collective_time", "sweep"]

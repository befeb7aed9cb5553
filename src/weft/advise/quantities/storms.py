"""What an incast under one tuning does to traffic that has no part in it, packet by packet."""

from collections.abc import Sequence
from statistics import median

from weft.advise.quantity import SIMULATED, NeedsPackets, Trial, exactly, quantity
from weft.advise.storm import Storm, storm
from weft.results import Estimate


@quantity("pauses with {tuning} less those with roce tuned", "pauses", SIMULATED)
def pauses_added(trial: Trial, tuning: str) -> Estimate:
    """Return the difference over the seeds: its band reaches zero where they overlap."""
    bad, good = (_storm(trial, name).pauses for name in (tuning, "roce_tuned"))
    return Estimate(median(bad) - median(good), min(bad) - max(good), max(bad) - min(good))


@quantity("layers of links with pauses, {tuning}", "layers", SIMULATED)
def layers_paused(trial: Trial, tuning: str) -> Estimate:
    """Return how far pauses spread."""
    return exactly(len(_storm(trial, tuning).layers))


@quantity("99th small transfer with {tuning} over that with roce tuned", "x", SIMULATED)
def tail_over_tuned(trial: Trial, tuning: str) -> Estimate:
    """Return the ratio over the seeds."""
    return _ratio(_storm(trial, tuning).tails, _storm(trial, "roce_tuned").tails)


def _ratio(one: Sequence[float], other: Sequence[float]) -> Estimate:
    return Estimate(median(one) / median(other), min(one) / max(other), max(one) / min(other))


def _storm(trial: Trial, tuning: str) -> Storm:
    if not trial.packets:
        raise NeedsPackets("closed forms have no queues and no pauses; use --fidelity packet")
    return storm(trial.row("roce_tuned").prediction.cluster, tuning)

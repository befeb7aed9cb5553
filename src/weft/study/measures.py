"""What a verb gives at one point, as numbers by name with the unit at the end."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.advise.compare import Comparison
    from weft.advise.need import Need
    from weft.predict.collective import Expectation
    from weft.predict.grid import Measures
    from weft.predict.training import Prediction
    from weft.results import Estimate


def predicted(result: "Prediction") -> "Measures":
    """Return what a sweep of predictions shows."""
    return {
        "step_s": result.step_s,
        "mfu_ratio": result.mfu_ratio,
        "exposed_ratio": result.exposed_ratio,
        "tokens_per_s": result.tokens_per_s,
        "usd_per_1t_tokens": result.usd_per_1t_tokens,
    }


def needed(result: "Need") -> "Measures":
    """Return what a sweep of needs shows: a requirement out of reach is text."""
    from weft.advise.wording import figure  # noqa: PLC0415 - needs alone use it

    shown = {
        item.name: "out of reach" if item.need is None else figure(item.need, item.unit)
        for item in result.requirements
    }
    return {**shown, "reached": "yes" if result.reached else "no"}


def compared(result: "Comparison") -> "Measures":
    """Return what a sweep of comparisons shows: which network to take, and its price."""
    taken = result.recommendation.fabric
    same = ", ".join(text for text in result.recommendation.tied_with if text != taken)
    found: dict[str, Estimate | float | str] = {"recommended": taken or "no network"}
    found |= {"costs_the_same": same}
    for line in result.lines:
        if line.name == taken:
            found |= {"usd_per_1t_tokens": line.usd_per_1t_tokens, "step_s": line.step_s}
    return found


def expected(result: "Expectation") -> "Measures":
    """Return what a sweep of collectives shows: the peak, and the time of the least size."""
    return {
        "peak_busbw_bytes_per_s": result.peak_busbw_bytes_per_s,
        "smallest_s": result.points[0].time_s,
    }

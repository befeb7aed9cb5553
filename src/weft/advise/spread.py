"""How sure the difference between two fabrics is, when errors they share cancel.

The band of a step time holds what weft does not know of the GPU, the software and the job.
Two fabrics under the same job share all that: what remains is how well each fabric's own
factor is known, and what its network costs.
"""

from dataclasses import dataclass
from math import hypot

from weft.advise.case import Case, Row
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.results import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One candidate at the ends of what is known of its fabric alone."""

    name: str
    slow_ratio: float
    """Progress at the low end of the fabric's factor over progress at its value."""
    fast_ratio: float
    network_price_ratio: float
    """Half the band of the network's cost over the whole cost."""


def spread(case: Case, row: Row) -> Spread:
    """Predict a candidate at both ends of its fabric's factor."""
    factor = fabric_factor(row.prediction.cluster)
    cost = row.prediction.cost.network_usd
    return Spread(
        name=row.name,
        slow_ratio=_progress(case, row, factor.low / factor.value),
        fast_ratio=_progress(case, row, factor.high / factor.value),
        network_price_ratio=(cost.high - cost.low)
        / 2
        / cost.value
        * row.network_usd_per_s
        / row.usd_per_s,
    )


def difference(row: Row, other: Row, mine: Spread, theirs: Spread) -> Estimate:
    """Return the cost of a token on one fabric over that on another, with its own band."""
    ratio = row.usd_per_1t_tokens / other.usd_per_1t_tokens
    prices = (mine.network_price_ratio, theirs.network_price_ratio)
    up = hypot(1 - mine.slow_ratio, theirs.fast_ratio - 1, *prices)
    down = hypot(mine.fast_ratio - 1, 1 - theirs.slow_ratio, *prices)
    return Estimate(ratio, ratio * (1 - down), ratio * (1 + up))


def _progress(case: Case, row: Row, ratio: float) -> float:
    if ratio == 1:
        return 1.0
    changed = case.row(row.name, change=lambda c: with_bandwidth(c, ratio))
    return changed.progress_tokens_per_s / row.progress_tokens_per_s

"""How sure the difference between two fabrics is, when errors they share cancel.

The band of a step time holds what weft does not know of the GPU, the software and the job.
Two fabrics under the same job share all that, and the prices of the same NICs and optics
too: what remains is how well each fabric's own factor is known, and what its switches and
its staff cost. A fabric that nobody has published a collective of may be no faster than the
measured one that it is built on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import hypot

from weft.advise.case import Case, Row
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.design.cost import TotalCost
from weft.network.network import resolve
from weft.results import Estimate

OWN_PARTS = frozenset({"switches", "staff"})
"""Parts of the cost whose prices are each fabric's own; errors of the others are shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The progress of one candidate at the ends of what is known of its fabric alone."""

    name: str
    slow_ratio: float
    """Progress at the low end of the fabric's factor over progress at its value."""
    fast_ratio: float


def spread(case: Case, row: Row) -> Spread:
    """Predict a candidate at both ends of its fabric's factor."""
    copies = resolve(row.prediction.cluster).fabric.host_socket_bytes_per_s
    if copies is not None:
        return Spread(
            name=row.name,
            slow_ratio=_waiting(row, copies.low / copies.value),
            fast_ratio=_waiting(row, copies.high / copies.value),
        )
    packets = row.prediction.packets
    if packets is not None and packets.said:
        return Spread(
            name=row.name, slow_ratio=packets.slow_ratio, fast_ratio=packets.fast_ratio
        )
    factor = fabric_factor(row.prediction.cluster)
    slow = _progress(case, row, factor.low / factor.value)
    return Spread(
        name=row.name,
        slow_ratio=min(slow, _resembling(case, row)),
        fast_ratio=_progress(case, row, factor.high / factor.value),
    )


def _resembling(case: Case, row: Row) -> float:
    """Return the progress, as a share, of the measured fabric that this one is built on."""
    name = row.candidate.resembles
    measured = name and case.attempt(partial(case.row, name))
    if not measured:
        return 1.0
    return min(1.0, measured.progress_tokens_per_s / row.progress_tokens_per_s)


def difference(row: Row, other: Row, mine: Spread, theirs: Spread) -> Estimate:
    """Return the cost of a token on one fabric over that on another, with its own band."""
    ratio = row.usd_per_1t_tokens / other.usd_per_1t_tokens
    price = (
        hypot(*price_errors(row.prediction.cost, other.prediction.cost))
        / row.prediction.cost.total_usd.value
    )
    up = hypot(1 - mine.slow_ratio, theirs.fast_ratio - 1, price)
    down = hypot(mine.fast_ratio - 1, 1 - theirs.slow_ratio, price)
    return Estimate(ratio, ratio * max(0.0, 1 - down), ratio * (1 + up))


def price_errors(own: TotalCost, other: TotalCost) -> Iterator[float]:
    """Yield the half band of the difference of each part of the cost."""
    mine, theirs = own.parts, other.parts
    for name in mine.keys() & theirs.keys():
        a, b = mine[name], theirs[name]
        if a.value == b.value:
            continue
        widths = (a.high - a.low) / 2, (b.high - b.low) / 2
        yield hypot(*widths) if name in OWN_PARTS else abs(widths[0] - widths[1])


def _waiting(row: Row, ratio: float) -> float:
    """Return the progress that is left when cores copy slower by a ratio, to first order."""
    step_s = row.prediction.step_s.value
    waited_s = sum(t.exposed_s * t.fabric_ratio for t in row.prediction.step.traffic)
    return step_s / (step_s + waited_s * (1 / ratio - 1))


def _progress(case: Case, row: Row, ratio: float) -> float:
    if ratio == 1:
        return 1.0
    changed = case.pace(row.name, change=lambda c: with_bandwidth(c, ratio))
    return changed.progress_tokens_per_s / row.progress_tokens_per_s

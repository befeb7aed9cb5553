"""Pass, fail or cannot tell: a range of sizes against its band, with the noise allowed for.

The upper edge of the 80 % band is where the slowest tenth of healthy systems begins: below it
a range passes. It fails beyond the edge that one healthy system in a hundred crosses (shared
over the ranges of a sweep), by the law that the errors of healthy sweeps follow. Between
the two nobody can tell from one cluster, however often it is measured. Near an edge the noise
decides, and repeats help::

    n = ((z_0.95 + z_0.80) x noise / distance to the edge)^2
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weft.bench import student
from weft.bench.expected import Expected
from weft.bench.sweep import Timing
from weft.engines.analytic.collective.spread import bucket

FALSE_FAIL_RATIO: Final = 0.01
"""Healthy sweeps that may be failed: the usual level of an acceptance test."""
_SURE: Final = 1.6449
"""Normal quantile of 0.95: one-sided confidence of a verdict."""
_POWER: Final = 0.8416
"""Normal quantile of 0.80: chance that the repeats asked for decide."""
_MOST_REPEATS: Final = 1000
_BAND: Final = 0.9
_GREY: Final = (
    "slower than nine healthy systems in ten, not than ninety-nine in a hundred: repeats "
    "do not decide it; a run known to be good does (--good RUN, or weft calibrate)"
)
RANGES: Final = ("small", "middle", "large")


class Outcome(StrEnum):
    """What a comparison came to."""

    PASS = "PASS"  # noqa: S105 - not a password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeVerdict:
    """One range of sizes."""

    test: str = ""
    """Which table of messages it is of, where the run holds several."""
    name: str
    """small to 256 KiB, middle to 64 MiB, large beyond: those that bands are fitted for."""
    smallest_bytes: float
    largest_bytes: float
    outcome: Outcome
    slower_ratio: float
    """Measured over expected time, less one; negative is faster."""
    noise_ratio: float
    pass_below_ratio: float
    """Slower by at most this passes: the edge of the 80 % band."""
    fail_above_ratio: float
    """Slower by more than this fails: one healthy system in a hundred is."""
    implausible_below_ratio: float
    """Faster than this is one healthy system in a hundred, or one not as described."""
    fast_below_ratio: float
    """Faster than this is one healthy system in ten: the other edge of the 80 % band."""
    repeats: int | None = None
    """Runs that would decide; none where it is decided, or where no number would."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """What of a deviation (in logarithm of time) passes and what fails."""

    accepted: float
    failed: float
    fast: float
    implausible: float


Weighted = Sequence[tuple[Timing, Expected, float]]
"""Timings of a range, what is expected, and the weight of each; the weights add up to 1."""


def weighted(pairs: Sequence[tuple[Timing, Expected]]) -> Weighted:
    """Weigh sizes by what is known of them: the inverse square of their band and noise."""
    raw = [1 / (_above(p) ** 2 + t.noise_ratio**2) for t, p in pairs]
    return [(t, p, value / sum(raw)) for (t, p), value in zip(pairs, raw, strict=True)]


def _above(point: Expected) -> float:
    """Return the upper edge of the band of a size, as a logarithm."""
    own = point.time_s.high / point.allowed_ratio / point.time_s.value
    return max(1e-3, math.log(own))


def _below(point: Expected) -> float:
    """Return how far the lower edge of the band of a size lies below it, as a logarithm."""
    return max(1e-3, math.log(point.time_s.value / point.time_s.low))


def edges(parts: Weighted, ranges: int) -> Edges:
    """Return the edges of a range of sizes."""
    share = 1 - FALSE_FAIL_RATIO / max(1, ranges)
    accepted, failed, fast, implausible = 0.0, 0.0, 0.0, 0.0
    for _, part, weight in parts:
        own, allowed = _above(part), math.log(part.allowed_ratio)
        wider = student.quantile(share, part.degrees) / student.quantile(_BAND, part.degrees)
        accepted += (own + allowed) * weight
        # What a way of measuring may cost has an end; the errors of the model have tails.
        failed += (own * wider + allowed) * weight
        fast -= _below(part) * weight
        implausible -= _below(part) * wider * weight
    return Edges(accepted=accepted, failed=failed, fast=fast, implausible=implausible)


def judge_ranges(timings: Sequence[Timing], points: Sequence[Expected]) -> list[RangeVerdict]:
    """Judge every range of sizes that was measured, each table of messages apart."""
    ranges: dict[tuple[str, str], list[tuple[Timing, Expected]]] = {}
    for timing, point in zip(timings, points, strict=True):
        test = timing.test.label if timing.test else ""
        ranges.setdefault((test, bucket(timing.size_bytes)), []).append((timing, point))
    several = len({test for test, _ in ranges}) > 1
    tests = dict.fromkeys(test for test, _ in ranges)
    return [
        _range(name, ranges[test, name], len(ranges), test if several else "")
        for test in tests
        for name in RANGES
        if (test, name) in ranges
    ]


def _range(
    name: str, pairs: Sequence[tuple[Timing, Expected]], ranges: int, test: str
) -> RangeVerdict:
    parts = weighted(pairs)
    slower = sum(w * math.log(t.time_s / p.time_s.value) for t, p, w in parts)
    noise = math.sqrt(sum((w * t.noise_ratio) ** 2 for t, _, w in parts))
    edge = edges(parts, ranges)
    outcome = _outcome(slower, noise, edge)
    repeats, reason = _repeats(slower, noise, edge, outcome)
    return RangeVerdict(
        test=test, name=name,
        smallest_bytes=pairs[0][0].size_bytes, largest_bytes=pairs[-1][0].size_bytes,
        outcome=outcome, slower_ratio=math.expm1(slower), noise_ratio=noise,
        pass_below_ratio=math.expm1(edge.accepted), fail_above_ratio=math.expm1(edge.failed),
        implausible_below_ratio=math.expm1(edge.implausible - _SURE * noise),
        fast_below_ratio=math.expm1(edge.fast - _SURE * noise),
        repeats=repeats, reason=reason,
    )  # fmt: skip


def is_too_fast(one: RangeVerdict) -> bool:
    """Tell whether a range is faster than nine healthy systems in ten."""
    return one.slower_ratio < one.fast_below_ratio


def _outcome(slower: float, noise: float, edge: Edges) -> Outcome:
    if slower + _SURE * noise <= edge.accepted:
        return Outcome.PASS
    return Outcome.FAIL if slower - _SURE * noise >= edge.failed else Outcome.INCONCLUSIVE


def _repeats(
    slower: float, noise: float, edge: Edges, outcome: Outcome
) -> tuple[int | None, str]:
    """Return the runs that would decide, or say why none would."""
    if outcome is not Outcome.INCONCLUSIVE:
        return None, ""
    distance = max(min(abs(slower - edge.accepted), abs(slower - edge.failed)), 1e-9)
    if edge.accepted < slower < edge.failed and distance > _SURE * noise:
        return None, _GREY
    count = math.ceil(((_SURE + _POWER) * noise / distance) ** 2)
    if count > _MOST_REPEATS:
        return None, "it lies on the edge of the band: no number of repeats decides it"
    return max(2, count), "the noise of the run is wider than its distance to the edge"


def overall(
    ranges: Sequence[RangeVerdict], *, needs_large: bool = True
) -> tuple[Outcome, tuple[str, ...]]:
    """Join the ranges: one failure fails; without large sizes nothing tests the bandwidth.

    Messages between two NICs (perftest) show their bandwidth at smaller sizes: they need none.
    """
    if any(verdict.outcome is Outcome.FAIL for verdict in ranges):
        return Outcome.FAIL, ()
    open_ones = [verdict for verdict in ranges if verdict.outcome is Outcome.INCONCLUSIVE]
    if open_ones:
        return Outcome.INCONCLUSIVE, ()
    names = {verdict.name for verdict in ranges}
    if needs_large and "large" not in names:
        return Outcome.INCONCLUSIVE, (
            "no size from 64 MiB was measured, so nothing tests the bandwidth; run up to 1GiB",
        )
    missing = tuple(name for name in RANGES if name not in names) if needs_large else ()
    said = f"not measured, so not judged: {' and '.join(missing)} sizes" if missing else ""
    return Outcome.PASS, (said,) if said else ()

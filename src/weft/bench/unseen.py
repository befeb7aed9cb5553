"""What a sweep that passes does not rule out: faults whose cost the band would hide.

A form of a fault is not ruled out where a sound system as fast as the run would be without it
is still no faster than nine healthy systems in ten. So one NIC of eight, an eighth of the
bandwidth, is hidden by a band of a fifth; an own good run, whose band is narrow, shows it.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from weft.bench.expected import Expected, Setting, times_s
from weft.bench.fault import all_faults
from weft.bench.fault_forms import Variant
from weft.bench.verdict import is_too_fast, judge_ranges
from weft.errors import WeftError

LEAST_COST: Final = 0.1
"""A fault that costs no range of sizes this much is not worth a line."""
_NOTHING: Final = (0.0, "", "")
DENIED: Final = -2.0
"""Of the logarithm that files give a fault: they speak against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """One fault that the run may have and pass."""

    name: str
    form: str
    slower_ratio: float
    """What it costs the range of sizes that it slows most."""
    range_name: str
    command: str
    """What would show it."""


def unseen(
    setting: Setting, points: list[Expected], told: Mapping[str, float]
) -> tuple[Unseen, ...]:
    """Return the heaviest form of every fault that a passing run does not rule out."""
    sound = times_s(setting, setting.cluster, {})
    found = []
    for name, fault in all_faults():
        if told.get(name, 0.0) > DENIED:
            forms = (_hidden(setting, points, form, sound) for form in fault.forms(setting))
            cost, range_name, form = max(filter(None, forms), default=_NOTHING)
            if cost >= LEAST_COST:
                found.append(
                    Unseen(
                        name=name, form=form, slower_ratio=cost, range_name=range_name,
                        command=fault.command,
                    )
                )  # fmt: skip
    return tuple(sorted(found, key=lambda item: -item.slower_ratio))


def _hidden(
    setting: Setting, points: list[Expected], form: Variant, sound: list[float]
) -> tuple[float, str, str] | None:
    """Return what a form costs and where, if the run does not rule it out."""
    try:
        curve = times_s(setting, form.cluster, form.factors)
    except WeftError:
        return None
    cost = [f / s for f, s in zip(curve, sound, strict=True)]
    timings = setting.sweep.timings
    without = [replace(t, time_s=t.time_s / c) for t, c in zip(timings, cost, strict=True)]
    if any(is_too_fast(verdict) for verdict in judge_ranges(without, points)):
        return None
    return max(((*pair, form.label) for pair in _costs(setting, points, cost)), default=None)


def _costs(
    setting: Setting, points: list[Expected], cost: list[float]
) -> Iterator[tuple[float, str]]:
    """Yield what a form costs each range of sizes."""
    timings = setting.sweep.timings
    sound = [replace(t, time_s=p.time_s.value) for t, p in zip(timings, points, strict=True)]
    slow = [replace(t, time_s=t.time_s * c) for t, c in zip(sound, cost, strict=True)]
    for verdict in judge_ranges(slow, points):
        if math.isfinite(verdict.slower_ratio):
            yield verdict.slower_ratio, verdict.name

"""Parts of a training step in the words and the order that all reports use."""

from collections.abc import Iterator
from typing import Final

from weft.engines.engine import StepTime

GROUPS: Final = {
    "compute": ("matrix", "attention", "memory_bound", "recompute", "launch", "optimizer"),
    "pipeline bubble": ("bubble",),
    "exposed TP, CP and EP": ("exposed_tp", "exposed_cp", "exposed_ep"),
    "exposed PP": ("exposed_pp",),
    "exposed DP": ("exposed_dp",),
    "stragglers": ("straggler",),
}
"""What the breakdown is drawn as: few enough parts to tell apart, in the order of a bar."""

TITLES: Final = {
    "matrix": "matrix products",
    "attention": "attention",
    "memory_bound": "memory-bound operations",
    "recompute": "recomputation",
    "launch": "kernel launches",
    "bubble": "pipeline bubble",
    "exposed_tp": "exposed TP communication",
    "exposed_cp": "exposed CP communication",
    "exposed_ep": "exposed EP communication",
    "exposed_pp": "exposed PP communication",
    "exposed_dp": "exposed DP communication",
    "optimizer": "optimizer",
    "straggler": "stragglers and jitter",
}


def grouped_s(step: StepTime) -> dict[str, float]:
    """Sum the breakdown into the groups that charts draw; the rest is ``other``."""
    named = {part for parts in GROUPS.values() for part in parts}
    sums = {
        group: sum(step.breakdown_s.get(part, 0.0) for part in parts)
        for group, parts in GROUPS.items()
    }
    rest = sum(s for part, s in step.breakdown_s.items() if part not in named)
    return sums | ({"other": rest} if rest > 0 else {})


def breakdown_rows(step: StepTime, label: str) -> Iterator[dict[str, object]]:
    """Yield the rows of one bar of the breakdown chart."""
    order = {"label": label, "total": step.step_s.value}
    for place, (group, seconds) in enumerate(grouped_s(step).items()):
        if seconds > 0:
            yield order | {"part": group, "seconds": seconds, "place": place}

"""The same sweep again, at another hour and on other ports: does it change?"""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Final

from weft.bench.baseline import NARROWEST
from weft.bench.check import Check, Seen
from weft.bench.expected import Setting
from weft.inventory.inventory import Inventory
from weft.readers.benchmarks import measured

LARGE_BYTES: Final = 64 * 2**20
FEWEST_RUNS: Final = 3
CHANGES: Final = 0.1
"""Runs of large sizes that differ by more than this do change: three times what a cluster that
repeats closely shows. Judgement."""


def _read(setting: Setting, seen: Inventory) -> Mapping[str, Seen]:
    """Compare the runs that one file, or several, hold of the same collective."""
    del setting
    by_size: dict[tuple[str, float], list[float]] = defaultdict(list)
    for one in measured(seen):
        large = one.what == "collective" and one.size_bytes >= LARGE_BYTES
        if large and not one.in_place:
            by_size[one.operation, one.size_bytes].append(math.log(one.time_s))
    spreads = [stdev(logs) for logs in by_size.values() if len(logs) >= FEWEST_RUNS]
    if not spreads:
        return {}
    spread = fmean(spreads)
    if NARROWEST < spread < CHANGES:
        return {}
    text = f"runs of large sizes differ by {spread:.1%}"
    return {"changes": Seen(there=spread >= CHANGES, text=text)}


another_run = Check(
    title="the same sweep again, at another hour", command="weft bench run ... --repeats 3",
    read=_read,
)  # fmt: skip

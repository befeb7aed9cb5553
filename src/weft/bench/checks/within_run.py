"""One run from iteration to iteration: what others send comes and goes while it lasts.

A slot, a lost NIC or a copy in host memory costs every iteration the same. That all of them
take as long says little: what others send may be as steady, so it speaks against nothing.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Final

from weft.bench.check import Check, Seen
from weft.bench.checks.another_run import CHANGES, LARGE_BYTES
from weft.bench.expected import Setting
from weft.inventory.inventory import Inventory
from weft.readers.benchmarks import Measured, measured

FEWEST_ITERATIONS: Final = 5
FEWEST_SIZES: Final = 3


def _read(setting: Setting, seen: Inventory) -> Mapping[str, Seen]:
    """Look at the iterations of large sizes, or at their two timings where there are none."""
    del setting
    rows = [one for one in measured(seen) if one.what == "collective"]
    large = [one for one in rows if one.size_bytes >= LARGE_BYTES]
    spreads = [
        stdev(map(math.log, one.times_s))
        for one in large
        if len(one.times_s) >= FEWEST_ITERATIONS and min(one.times_s) > 0
    ]
    words = "iterations"
    if not spreads:
        spreads, words = _gaps(large), "timings in place and out of place"
    spread = fmean(spreads) if spreads else 0.0
    if spread < CHANGES:
        return {}
    text = f"{words} of large sizes differ by {spread:.0%}"
    return {"varies": Seen(there=True, text=text)}


def _gaps(large: list[Measured]) -> list[float]:
    """Return the spread of the two timings of each size, where sizes enough have both."""
    sides: dict[tuple[str, str, float], dict[bool, float]] = defaultdict(dict)
    for one in large:
        sides[one.file, one.operation, one.size_bytes][one.in_place] = one.time_s
    both = [one for one in sides.values() if len(one) > 1]
    gaps = [abs(math.log(one[True] / one[False])) / math.sqrt(2) for one in both]
    return gaps if len(gaps) >= FEWEST_SIZES else []


within_run = Check(
    title="one run from iteration to iteration",
    command="weft bench run torch.distributed ...; all_reduce_perf -n 1 -w 0, many times",
    read=_read,
)

"""What views of simulations share: how much seeds differ."""

from collections.abc import Iterator

import numpy as np

from weft.predict.simulation import Simulation, TrafficOutcome
from weft.report.numbers import figures, seconds

SPREAD_COLUMNS = ("runs", "completion p50", "p99", "least", "most", "most / least")
SPREAD_NOTE = (
    "Completions of all runs and seeds: with few of them the 99th of 100 lies near the most."
)


def spread_rows(result: Simulation) -> Iterator[tuple[str, ...]]:
    """Yield a row for each traffic that ended at least once."""
    for traffic in result.traffic:
        if traffic.completions_s:
            yield (traffic.name, *spread_cells(traffic))


def spread_cells(traffic: TrafficOutcome) -> tuple[str, ...]:
    """Show middle, tail and ends of the completions of a traffic."""
    found = sorted(traffic.completions_s)
    least, most = found[0], found[-1]
    shown = (*map(float, np.quantile(found, (0.5, 0.99))), least, most)
    return (str(len(found)), *(seconds(time) for time in shown), figures(most / least))

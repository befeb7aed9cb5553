"""Flows over given routes in weft: the twin of cpp/simgrid.cpp and simgrid_flows.py.

Compiled kernels are read, or compiled, before the time is taken. Printed behind the times:
events, links solved at each, and the peak memory of the process.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np

from weft.engines.flow.solver import (
    FOREVER_EVENTS,
    Floats,
    Flows,
    Uses,
    ends_of,
    make_state,
    max_min_rates,
)
from weft.engines.flow.timeline import run

BYTES_PER_S = 50e9


def main(problem: Path, result: Path) -> None:
    """Read a problem, write rates and ends, print the processor seconds that they took."""
    warm_up()
    bytes_per_s, sent = read(problem)
    began = time.process_time()
    rates = max_min_rates(bytes_per_s, sent.uses)
    once = time.process_time()
    state = make_state(bytes_per_s, sent)
    run(state, np.inf, FOREVER_EVENTS)
    ended = time.process_time()
    ends = ends_of(state)
    np.savetxt(result, np.stack([rates, ends.end_s], axis=1), fmt="%.17g")
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(once - began, ended - once, ends.events, ends.evaluations / ends.events, peak_mib)


def read(problem: Path) -> tuple[Floats, Flows]:
    """Read the rates of links, and flows with their links."""
    head, *lines = problem.read_text(encoding="ascii").splitlines()
    flows = [list(map(int, line.split())) for line in lines]
    start = np.cumsum([0, *(len(flow) - 3 for flow in flows)])
    links = np.array([link for flow in flows for link in flow[3:]], np.int64)
    size = np.array([flow[2] for flow in flows], float)
    uses = Uses(start=start, links=links)
    return np.full(int(head.split()[1]), BYTES_PER_S), Flows(uses=uses, size_bytes=size)


def warm_up() -> None:
    """Read the compiled kernels, or compile them."""
    rate, one = np.ones(1), np.zeros(1, np.int64)
    sent = Flows(uses=Uses(start=np.array([0, 1]), links=one), size_bytes=rate)
    max_min_rates(rate, sent.uses)
    run(make_state(rate, sent), np.inf, FOREVER_EVENTS)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

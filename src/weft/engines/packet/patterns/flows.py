"""Transfers written out one by one."""

import numpy as np

from weft.engines.packet.pattern import Pattern
from weft.engines.packet.schedules import Work
from weft.spec.scenario import FlowsTraffic


def _add(work: Work, one: FlowsTraffic, rng: np.random.Generator) -> None:  # nothing is random
    for flow in one.flows:
        work.send(flow.source, flow.target, flow.size_bytes, at_s=flow.begin_s)


flows = Pattern(title="transfers", add=_add)

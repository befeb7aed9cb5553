"""Simulations in steps: what is seen does not depend on how long a call of the kernel takes."""

import numpy as np

from weft.engines.packet import stepping
from weft.engines.packet.simulation import Flows, Options
from weft.engines.packet.wiring import leaf_spine, shortest_routes

NETWORK = leaf_spine(leaves=2, hosts_per_leaf=2, spines=1, bytes_per_s=50e9, propagation_s=5e-7)
WORK = Flows(
    source=np.array([0, 1]), target=np.array([2, 3]), size_bytes=np.array([1 << 20] * 2)
)


def times_of(look_ps):
    """Return when samples were taken by a machine whose calls go so far."""
    running = stepping.begin(NETWORK, shortest_routes(NETWORK), WORK, Options())
    samples = stepping.samples_for(64, len(NETWORK.source))
    samples.step_ps = 10_000_000

    def slow(_state):
        running.look_ps = look_ps

    running.look_ps = look_ps
    stepping.sampled(running, samples, 1_000_000_000, len(NETWORK.source), slow)
    assert running.complete
    return samples.time_ps, running.now_ps


def test_a_slow_machine_samples_at_the_times_of_a_fast_one():
    assert times_of(700_000) == times_of(1 << 40)

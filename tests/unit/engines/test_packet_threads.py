"""Simulations in threads do not wait for the interpreter's lock, nor for one another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.wiring import leaf_spine

NETWORK = leaf_spine(leaves=4, hosts_per_leaf=4, spines=4, bytes_per_s=50e9, propagation_s=5e-7)
ALL = [
    Options(congestion="dcqcn", balancing="spray", kmin_bytes=20_000, kmax_bytes=80_000, seed=s)
    for s in range(8)
]


def run(options):
    """Return what happened, as numbers that can be compared."""
    order = np.random.default_rng(0).permutation(16)
    size = np.full(16, 1 << 19)
    outcome = simulate(
        NETWORK, Flows(source=order, target=np.roll(order, 1), size_bytes=size), options
    )
    return outcome.end_ps.tolist(), outcome.counts, outcome.links.tobytes()


def test_simulations_in_threads_give_the_same_bits_as_one_after_the_other():
    alone = [run(options) for options in ALL]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, ALL))
    assert together == alone
    assert len({str(ends) for ends, _, _ in alone}) == len(ALL)

"""What an incast under one tuning does to traffic that has no part in it, packet by packet."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Final

from weft.advise.quantity import SIMULATED, NeedsPackets, Trial, exactly, quantity
from weft.errors import Infeasible
from weft.predict.part import model_of
from weft.predict.simulate import sweep
from weft.predict.simulation import Quantiles, Simulation
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.load import load_tuning
from weft.spec.scenario import BackgroundTraffic, IncastTraffic, Scenario, TrafficItem

NICS: Final = 64
SENDERS: Final = 15
INCAST_BYTES: Final = 32 << 20
LOAD_RATIO: Final = 0.1
SETTLED_S: Final = 2e-3
"""The other transfers begin so much later: senders have found their rates by then."""
SMALL_BYTES: Final = 64 << 10
"""Of the other transfers: what a small message waits shows as latency."""
SEEDS: Final = (1, 2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How an incast spread over the network, and what it did to small transfers."""

    pauses: tuple[int, ...]
    """Of each seed."""
    layers: tuple[str, ...]
    """Layers whose links stood paused, in the first seed."""
    tails: tuple[float, ...]
    """Time of the 99th of 100 small transfers over its time alone, of each seed."""


@lru_cache(maxsize=64)
def _storm(cluster: Cluster, tuning: str) -> Storm:
    """Simulate an incast of 15 beside small random transfers on a part of a cluster.

    15 GPUs send 32 MiB each to one; from 2 ms on transfers of 64 KiB at 10 % load go from all
    others to the second half of the hosts, not to that one.
    """
    if cluster.hosts <= SENDERS + 1:
        raise Infeasible(f"{cluster.hosts} hosts are too few for an incast and its victims")
    scenario = _scenario(cluster, tuning)
    found = sweep([scenario.with_(seeds=(seed,)) for seed in SEEDS]).simulations
    return Storm(
        pauses=tuple(run.seeds[0].counts["pauses"] for run in found),
        layers=tuple(layer.name for layer in found[0].layers if layer.paused_ratio),
        tails=tuple(_small(run).p99 for run in found),
    )


def _small(run: Simulation) -> Quantiles:
    other = next(traffic for traffic in run.traffic if traffic.kind == "background")
    assert other.slowdown_ratio is not None, "some of many small transfers end"
    return other.slowdown_ratio


def _scenario(cluster: Cluster, tuning: str) -> Scenario:
    lasts_s = SENDERS * INCAST_BYTES / cluster.host.nic_bytes_per_s
    other_s = max(SETTLED_S, lasts_s - SETTLED_S)
    incast = IncastTraffic.model_construct(
        name="incast", begin_s=0.0, repeat=1, gap_s=0.0, senders=SENDERS,
        size_bytes=INCAST_BYTES, receiver=0, jitter_s=0.0,
    )  # fmt: skip
    other = BackgroundTraffic.model_construct(
        name="other", begin_s=SETTLED_S, repeat=1, gap_s=0.0, load_ratio=LOAD_RATIO,
        size_bytes=SMALL_BYTES, duration_s=other_s, storage_hosts=cluster.hosts // 2,
    )  # fmt: skip
    items = (TrafficItem().with_(incast=incast), TrafficItem().with_(background=other))
    settings = load_tuning(tuning).settings.with_(balancing="ecmp")
    return Scenario(name=tuning, cluster=cluster, traffic=(items[0],), network=settings).with_(
        traffic=items
    )


@quantity("pauses with {tuning} less those with roce tuned", "pauses", SIMULATED)
def pauses_added(trial: Trial, tuning: str) -> Estimate:
    """Return the difference over the seeds: its band reaches zero where they overlap."""
    bad, good = (storm_of(trial, name).pauses for name in (tuning, "roce_tuned"))
    return Estimate(median(bad) - median(good), min(bad) - max(good), max(bad) - min(good))


@quantity("layers of links with pauses, {tuning}", "layers", SIMULATED)
def layers_paused(trial: Trial, tuning: str) -> Estimate:
    """Return how far pauses spread."""
    return exactly(len(storm_of(trial, tuning).layers))


@quantity("99th small transfer with {tuning} over that with roce tuned", "x", SIMULATED)
def tail_over_tuned(trial: Trial, tuning: str) -> Estimate:
    """Return the ratio over the seeds."""
    return _ratio(storm_of(trial, tuning).tails, storm_of(trial, "roce_tuned").tails)


def _ratio(one: Sequence[float], other: Sequence[float]) -> Estimate:
    return Estimate(median(one) / median(other), min(one) / max(other), max(one) / min(other))


def storm_of(trial: Trial, tuning: str) -> Storm:
    """Return the storm of a trial; raise NeedsPackets where it has closed forms alone."""
    if not trial.packets:
        raise NeedsPackets("closed forms have no queues and no pauses; use --fidelity packet")
    cluster, _ = model_of(trial.row("roce_tuned").prediction.cluster, NICS)
    return _storm(cluster, tuning)

"""What a row of a comparison has, and whether it was pinned or found."""

from collections.abc import Iterator
from dataclasses import dataclass

from weft import units
from weft.advise.best import Found
from weft.advise.pins import Pins
from weft.network.network import layout
from weft.spec.cluster import Cluster
from weft.spec.workload import Job
from weft.traffic.demand import spread_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """One property of a network or of the way that the job runs on it."""

    key: str
    value: str
    pinned: bool


def chosen(found: Found, pins: Pins, *, searched: bool) -> tuple[Chosen, ...]:
    """Return the properties of a row; ``searched``: parallelism was not given."""
    return (
        Chosen(key="parallelism", value=parallelism_text(found.jobs[0]), pinned=not searched),
        *(
            Chosen(key=key, value=value, pinned=key in pins)
            for key, value in _network(found.cluster)
        ),
    )


def _network(cluster: Cluster) -> Iterator[tuple[str, str]]:
    host, fabric = cluster.host, cluster.fabric
    if not host.nics:
        return
    yield "host.nics", nics_text(cluster)
    network = layout(cluster)
    yield "topology.kind", network.kind
    yield "topology.switch", f"{network.switches} x {network.switch}"
    if network.tiers > 1:
        yield "topology.oversubscription", f"{cluster.topology.oversubscription:g}:1"
    if fabric.load_balancing:
        yield "fabric.load_balancing", fabric.load_balancing
    if fabric.sockets:
        yield "fabric.sockets", f"{fabric.sockets} by {fabric.socket_threads} threads"


def nics_text(cluster: Cluster) -> str:
    """Return the NICs of a host.

    >>> from weft.spec.load import preset
    >>> nics_text(preset("dgx_h100"))
    '8 x 400G connectx7'
    """
    host = cluster.host
    return f"{host.nics} x {units.gbit_from_rate(host.nic_bytes_per_s):g}G {host.nic}"


def parallelism_text(job: Job) -> str:
    """Return how a job is spread, as engineers write it: TP 8, PP 4, DP 16."""
    spread = spread_of(job)
    ranks = (("TP", spread.tp), ("PP", spread.pp), ("CP", spread.cp), ("EP", spread.ep))
    parts = [f"{name} {n}" for name, n in ranks if n > 1]
    parts.append(f"DP {spread.dp}")
    if job.recompute != "none":
        parts.append(f"{job.recompute} recompute")
    return ", ".join(parts)

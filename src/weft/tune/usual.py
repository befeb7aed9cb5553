"""The traffic that a cluster is tuned for when no scenario is given."""

from functools import cache
from typing import Any, Final

from weft import catalogue
from weft.engines.packet.settings import options_of
from weft.errors import Infeasible, WeftError
from weft.network.topology import layout
from weft.predict.packets import part_of
from weft.spec.cluster import Cluster
from weft.spec.load import settings_of
from weft.spec.scenario import (
    BackgroundTraffic,
    CollectiveTraffic,
    IncastTraffic,
    Scenario,
    Traffic,
    TrafficItem,
)

MOST_NICS: Final = 128
"""Of the part that is simulated: a tenth of a second a run."""
LEAST_LEAVES, LEAST_LEAF_HOSTS = 3, 8
MODEL_HOSTS: Final = 64
"""Of a network of smaller switches, where the cluster's own leaves are too large to run."""
PACKETS_A_SEND: Final = 64
INCAST_SENDERS: Final = 16
INCAST_PACKETS: Final = 512
"""Of each sender: long enough that a congestion control can act."""
BACKGROUND_LOAD: Final = 0.2
BACKGROUND_PACKETS: Final = 64


def scenarios_for(cluster: Cluster) -> tuple[Scenario, ...]:
    """Return a ring over shuffled hosts, an all-to-all, and an incast beside other traffic.

    The rings of a busy scheduler's placement cross leaves, an all-to-all loads every link, and
    an incast shows what pauses do to those that have no part in it.
    """
    part, _ = model_of(cluster)
    hosts = part.hosts
    if hosts < 3:  # noqa: PLR2004 - an incast takes three
        raise Infeasible(
            f"a cluster of {hosts} hosts has no network to tune; give it 3 or more"
        )
    network = settings_of(cluster)
    probe = Scenario(cluster=part, traffic=(_incast(hosts, 1, 1.0)[0],), network=network)
    mtu, nics = options_of(probe, 1).mtu_bytes, part.host.nics
    ring = _collective("ring", "all_gather", hosts, nics, mtu, placement="shuffled")
    exchange = _collective("alltoall", "alltoall", hosts, nics, mtu)
    mixed = _incast(hosts, mtu, part.host.nic_bytes_per_s)
    return tuple(
        Scenario(name=name, cluster=part, traffic=traffic, network=network)
        for name, traffic in (("ring", ring), ("alltoall", exchange), ("incast", mixed))
    )


@cache
def model_of(cluster: Cluster) -> tuple[Cluster, str]:
    """Return the part of a cluster that is simulated, and say what it leaves out."""
    part, own = part_of(cluster)[0], layout(cluster)
    nics = max(1, part.host.nics)
    most = MOST_NICS // nics
    if cluster.hosts <= most:
        return part.with_(hosts=cluster.hosts), _said(cluster, part, cluster.hosts)
    if nics == 1 and (own.tiers == 1 or most >= LEAST_LEAVES * layout(part).hosts_per_unit):
        return part.with_(hosts=most), _said(cluster, part, most)
    small = _smaller(cluster)
    if small is None:
        return part.with_(hosts=most), _said(cluster, part, most)
    leaf = layout(small).hosts_per_unit
    return small, (
        f"{small.hosts} NICs on leaves of {leaf} hosts ({small.topology.switch}) stand for the "
        f"{cluster.hosts * cluster.host.nics} NICs of the cluster"
    )


def _said(cluster: Cluster, part: Cluster, hosts: int) -> str:
    if hosts == cluster.hosts and part.host.nics == cluster.host.nics:
        return "the whole network of the cluster was simulated"
    if hosts == cluster.hosts:
        return f"one of {cluster.host.nics} rails that are alike was simulated, {hosts} NICs"
    rail = "one rail of " if part.host.nics < cluster.host.nics else ""
    return f"{rail}{hosts} hosts stand for the {cluster.hosts} of the cluster"


def _smaller(cluster: Cluster) -> Cluster | None:
    """Return one rail on the smallest switches of the catalogue that make several leaves."""
    host = cluster.host.with_(
        server="", gpus=1, nics=1, scale_up=cluster.host.scale_up.with_(gpus=1)
    )
    found: list[tuple[int, str, Cluster]] = []
    for name in catalogue.names("switches"):
        topology = cluster.topology.with_(kind="leaf_spine", switch=name, hosts_per_pod=None)
        one = cluster.with_(host=host, hosts=MODEL_HOSTS, topology=topology)
        try:
            plan = layout(one)
        except WeftError:
            continue
        if LEAST_LEAF_HOSTS <= plan.hosts_per_unit <= MODEL_HOSTS // LEAST_LEAVES:
            found.append((plan.hosts_per_unit, name, one))
    return max(found, key=lambda one: one[:2])[2] if found else None


def _collective(
    name: str,
    operation: str,
    hosts: int,
    nics: int,
    mtu_bytes: int,
    **more: Any,  # noqa: ANN401 - keys of the spec
) -> tuple[TrafficItem, ...]:
    size = hosts * nics * PACKETS_A_SEND * mtu_bytes
    content = CollectiveTraffic(
        name=name, operation=operation, size_bytes=f"{size}B",  # type: ignore[arg-type]  # as in a file
        ranks=hosts, ranks_per_host=1, channels=nics, **more,
    )  # fmt: skip
    return (TrafficItem(collective=content),)


def _incast(hosts: int, mtu_bytes: int, rate_bytes_per_s: float) -> tuple[TrafficItem, ...]:
    senders = min(INCAST_SENDERS, hosts - 1)
    size = INCAST_PACKETS * mtu_bytes
    incast = IncastTraffic(senders=senders, size_bytes=f"{size}B")  # type: ignore[arg-type]  # as above
    lasts_s = senders * size / rate_bytes_per_s
    other = BackgroundTraffic(
        load_ratio=BACKGROUND_LOAD,
        size_bytes=f"{BACKGROUND_PACKETS * mtu_bytes}B",  # type: ignore[arg-type]  # as above
        duration_s=f"{lasts_s}s",  # type: ignore[arg-type]  # as above
    )
    items: tuple[tuple[str, Traffic], ...] = (("incast", incast), ("background", other))
    return tuple(TrafficItem().with_(**{kind: content}) for kind, content in items)

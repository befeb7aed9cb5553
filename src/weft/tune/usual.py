"""The traffic that a cluster is tuned for when no scenario is given."""

from typing import Any, Final

from weft.engines.packet.settings import options_of
from weft.errors import Infeasible
from weft.predict.part import model_of
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
    part, _ = model_of(cluster, MOST_NICS)
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

"""What a result says of its own input: settings that change nothing, parts that do not fit."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from weft import catalogue
from weft.errors import WeftError
from weft.network.network import layout, resolve
from weft.spec.cluster import Cluster
from weft.spec.scenario import Scenario
from weft.spec.settings import NetworkSettings

HEEDED: Final = frozenset(
    {
        "NCCL_ALGO",
        "NCCL_PROTO",
        "NCCL_MIN_NCHANNELS",
        "NCCL_MAX_NCHANNELS",
        "NCCL_MIN_CTAS",
        "NCCL_MAX_CTAS",
        "NCCL_NVLS_ENABLE",
        "NCCL_PAT_ENABLE",
        "NCCL_COLLNET_ENABLE",
        "NCCL_NET_GDR_LEVEL",
        "NCCL_IB_DISABLE",
        "NCCL_SOCKET_NTHREADS",
        "NCCL_NSOCKS_PERTHREAD",
        "NCCL_PXN_DISABLE",
        "NCCL_P2P_PXN_LEVEL",
    }
)
"""Variables that the engines heed; a test holds them against their source."""
_TIERS_WITH_PODS: Final = 3


def doubts(cluster: Cluster) -> tuple[str, ...]:
    """Return what is odd about a cluster that is valid, each as a sentence for the result."""
    return (
        *_variables(cluster),
        *_fabric(cluster),
        *_server(cluster),
        *_pods(cluster),
    )


def scenario_doubts(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario sets that changes nothing, or does what few would want."""
    network = scenario.network
    parts = network.classes or (network,)
    controls = {part.flow_control or network.flow_control for part in parts}
    return (
        *_pause_doubts(network, controls),
        *_loss_doubts(network),
        *_path_doubts(network),
    )


def _pause_doubts(network: NetworkSettings, controls: AbstractSet[str | None]) -> Iterator[str]:
    buffer = network.buffer
    if network.watchdog.action != "off" and "pfc" not in controls:
        yield "without effect: network.watchdog, because nothing pauses links"
    if buffer.shared_bytes is None and buffer.alpha_ratio is not None:
        yield (
            "without effect: network.buffer.alpha_ratio, because every queue has a buffer of "
            "its own; buffer.shared_bytes makes them share one"
        )
    if network.credit_bytes is not None and not controls & {"credits", "cbfc"}:
        yield "without effect: network.credit_bytes, because no link waits for credit"


def _loss_doubts(network: NetworkSettings) -> Iterator[str]:
    drops = network.flow_control == "none"
    if network.trimming and not drops and not network.classes:
        yield "without effect: network.trimming, because no queue overflows"
    if drops and network.trimming is False and network.recovery in {None, "trim"}:
        yield "what full queues drop is never sent again; network.recovery names what would"
    if network.reordering_packets is not None and network.recovery != "selective_repeat":
        yield "without effect: network.reordering_packets, which selective_repeat alone heeds"


def _path_doubts(network: NetworkSettings) -> Iterator[str]:
    if network.flowlet_gap_s is not None and network.balancing != "flowlet":
        yield "without effect: network.flowlet_gap_s, because balancing is not flowlet"
    if network.recovery == "go_back_n" and network.balancing in {"spray", "adaptive"}:
        yield (
            f"go_back_n takes every packet that comes out of order for a loss, and "
            f"{network.balancing} mixes their order; selective_repeat does not"
        )


def _variables(cluster: Cluster) -> Iterator[str]:
    unheard = sorted(cluster.nccl.env.keys() - HEEDED)
    if unheard:
        yield f"without effect, not modelled: nccl.env {', '.join(unheard)}"


def _fabric(cluster: Cluster) -> Iterator[str]:
    choice, kind = cluster.fabric, resolve(cluster).fabric
    if kind.socket_bytes_per_s is None:
        for key in ("sockets", "socket_threads"):
            if getattr(choice, key) is not None:
                yield f"without effect: fabric.{key}, because {kind.title} has no sockets"
    if cluster.storage_fabric is not None and cluster.storage_fabric.tuning != choice.tuning:
        yield "without effect on speed: storage_fabric.tuning, because storage is only priced"


def _server(cluster: Cluster) -> Iterator[str]:
    host = cluster.host
    if not host.server:
        return
    server = catalogue.find("servers", host.server)
    if (server.gpu, server.gpus) != (host.gpu, host.gpus):
        yield (
            f"host.server: {host.server} holds {server.gpus} x {server.gpu}, and the host "
            f"{host.gpus} x {host.gpu}; price and power are those of {host.server}"
        )


def _pods(cluster: Cluster) -> Iterator[str]:
    if cluster.topology.pod_oversubscription == 1:
        return
    try:
        tiers = layout(cluster).tiers
    except WeftError:
        return
    if tiers < _TIERS_WITH_PODS:
        yield f"without effect: topology.pod_oversubscription, because there are {tiers} tiers"

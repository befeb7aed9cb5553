"""Sockets in place of RDMA: over the same NICs, or over the one of management."""

from collections.abc import Iterable

from weft import units
from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.network.network import resolve
from weft.sources import sourced

_MANAGEMENT = ("100Gb/s", "25Gb/s", "10Gb/s")


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    if not crosses(setting) or setting.sweep.what != "collective":
        return
    if not resolve(cluster).fabric.rdma:
        return
    plain = cluster.fabric.with_(
        kind="tcp", load_balancing=None, mtu_bytes=None, in_network_reduction=False
    )
    yield Variant(label="over the same NICs", cluster=cluster.with_(fabric=plain))
    for text in _MANAGEMENT:
        host = cluster.host.with_(nics=1, nic_bytes_per_s=units.parse_rate(text))
        yield Variant(
            label=f"over one interface of {text}",
            cluster=cluster.with_(fabric=plain, host=host),
        )


tcp_fallback = Fault(
    title="TCP in place of RDMA",
    weight=sourced(2.0, "threads", confidence=1),
    variants=_variants,
    check='"NET/Socket" in the log; NCCL_IB_DISABLE; devices inside the container',
    command='NCCL_DEBUG=INFO ... | grep "Using network"; ibv_devices',
    shows={"nccl_log": "sockets"},
    causes=frozenset(
        {
            "container-no-rdma-device",
            "container-no-verbs-library",
            "container-rdma-permission",
            "net-backend-mismatch",
            "efa-plugin-not-loaded",
            "efa-provider-missing",
        }
    ),
)

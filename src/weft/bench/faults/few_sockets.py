"""TCP with one connection of a pair, which one core cannot keep busy."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.network.network import resolve
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    sockets = cluster.fabric.sockets or 1
    if not crosses(setting) or resolve(cluster).fabric.socket_bytes_per_s is None:
        return
    if sockets > 1:
        few = cluster.fabric.with_(sockets=1, socket_threads=1)
        yield Variant(label="one connection", cluster=cluster.with_(fabric=few))


few_sockets = Fault(
    title="too few TCP connections",
    weight=sourced(1.0, "threads", confidence=1),
    variants=_variants,
    check="NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD",
    command="env | grep NCCL_",
    shows={"environment": "sockets"},
)

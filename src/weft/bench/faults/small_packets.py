"""A packet size below what the fabric is meant to have."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.network.network import resolve
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    if not crosses(setting):
        return
    kind = resolve(cluster).fabric
    now = cluster.fabric.mtu_bytes or kind.default_mtu_bytes
    for smaller in (size for size in kind.mtus_bytes if size < now):
        yield Variant(
            label=f"MTU {smaller} in place of {now}",
            cluster=cluster.with_(fabric=cluster.fabric.with_(mtu_bytes=smaller)),
        )


small_packets = Fault(
    title="packets (MTU) too small",
    weight=sourced(0.5, "threads", confidence=1),
    variants=_variants,
    check="active_mtu of the ports, and the MTU of every interface and switch on the way",
    command="ibv_devinfo | grep mtu; ip link",
    shows={"ports": "small packets", "pair_tests": "every pair is slow"},
    causes=frozenset(
        {
            "mtu-mismatch",
            "roce-mtu-small",
        }
    ),
)

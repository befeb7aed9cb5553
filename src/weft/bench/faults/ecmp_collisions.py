"""Flows that hash onto one uplink share it."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.network.network import resolve
from weft.sources import sourced

_FLOWS = (2, 3, 4)


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    kind = resolve(cluster).fabric
    hashed = "ecmp" in kind.load_balancing
    if not crosses(setting) or not hashed or setting.sweep.what != "collective":
        return
    if cluster.fabric.load_balancing not in (None, "ecmp") or (
        kind.default_load_balancing != "ecmp"
    ):
        yield Variant(
            label="plain ECMP in place of the balancing of the spec",
            cluster=cluster.with_(fabric=cluster.fabric.with_(load_balancing="ecmp")),
        )
    for flows in _FLOWS:
        # The slowest of the flows is what a collective waits for.
        taken = cluster.fabric.with_(load_ratio=1 - 1 / flows)
        yield Variant(label=f"{flows} flows on one uplink", cluster=cluster.with_(fabric=taken))


ecmp_collisions = Fault(
    title="collisions of flows (ECMP)",
    weight=sourced(1.2, "threads", confidence=1),
    variants=_variants,
    check="the load of every uplink of a leaf; queue pairs per connection; adaptive routing",
    command="weft simulate (balancing: ecmp); NCCL_IB_QPS_PER_CONNECTION=4 ...",
    likeness="It changes from run to run, as addresses and ports do; a slow link does not.",
    shows={"another_run": "changes", "fabric_counters": "uneven uplinks"},
    causes=frozenset(),
)

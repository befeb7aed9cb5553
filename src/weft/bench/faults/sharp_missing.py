"""SHARP in the switches was expected and does not take part."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    if crosses(setting) and cluster.fabric.in_network_reduction:
        yield Variant(
            label="no CollNet",
            cluster=cluster.with_(fabric=cluster.fabric.with_(in_network_reduction=False)),
        )


sharp_missing = Fault(
    title="SHARP in the switches is missing",
    weight=sourced(0.8, "threads", confidence=1),
    variants=_variants,
    check='the aggregation manager, the plug-in, and "CollNet" in the log',
    command='NCCL_DEBUG=INFO ... | grep -iE "sharp|collnet"',
    shows={"nccl_log": "no CollNet"},
    causes=frozenset({"sharp-unavailable"}),
)

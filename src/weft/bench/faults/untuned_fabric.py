"""Flow control, ECN or sockets as they come out of the box, or set wrong."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    if not crosses(setting) or setting.sweep.what != "collective":
        return
    for name in ("default", "misconfigured"):
        if cluster.fabric.tuning == "tuned" or name == "misconfigured":
            yield Variant(
                label=f"tuning: {name}",
                cluster=cluster.with_(fabric=cluster.fabric.with_(tuning=name)),
            )


untuned_fabric = Fault(
    title="a fabric that is not tuned",
    weight=sourced(1.2, "threads", confidence=1),
    variants=_variants,
    check="PFC, ECN and their counters on NICs and switches; socket buffers",
    command='ethtool -S IFACE | grep -E "pause|discard"; weft diagnose',
    shows={"fabric_counters": "pauses or discards", "within_run": "varies"},
    causes=frozenset(
        {
            "pfc-storm",
            "roce-packet-loss",
            "qos-dscp-mismatch",
            "switch-buffer-exhausted",
        }
    ),
)

"""Other traffic takes a share of the links."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_SHARES = (0.25, 0.5, 0.75)


def _variants(setting: Setting) -> Iterable[Variant]:
    cluster = setting.cluster
    if not crosses(setting):
        return
    for share in _SHARES:
        if share > cluster.fabric.load_ratio:
            loaded = cluster.fabric.with_(load_ratio=share)
            yield Variant(
                label=f"{share:.0%} of the links taken", cluster=cluster.with_(fabric=loaded)
            )


shared_network = Fault(
    title="other traffic on the network",
    weight=sourced(1.0, "threads", confidence=1),
    variants=_variants,
    check="byte counters of the ports while nothing of this job runs",
    command="perfquery -x; ethtool -S IFACE",
    likeness="It comes and goes; run again at another hour.",
)

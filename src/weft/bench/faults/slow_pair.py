"""One host, link or cable is slow, and a collective waits for it."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_LEFT = (0.75, 0.5, 0.4, 0.25, 0.1, 0.05)


def _variants(setting: Setting) -> Iterable[Variant]:
    host = setting.cluster.host
    if not crosses(setting):
        return
    for left in _LEFT:
        # A collective goes at the pace of its slowest link, as if all were so.
        slow = host.with_(nic_bytes_per_s=host.nic_bytes_per_s * left)
        yield Variant(
            label=f"a link at {left:.0%} of its rate",
            cluster=setting.cluster.with_(host=slow),
        )


slow_pair = Fault(
    title="one slow pair (host, link or cable)",
    weight=sourced(1.5, "threads", confidence=1),
    variants=_variants,
    check="each pair of hosts alone",
    command="weft bench localise",
    likeness="Lost NICs on every host give the same plateau; every pair shows it then.",
)

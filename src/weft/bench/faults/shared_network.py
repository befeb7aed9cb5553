"""Other traffic takes a share of the links."""

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_LEAST, _MOST = 0.15, 0.85
"""Share of the links that others take."""


def _amount(setting: Setting, amount: float) -> Variant | None:
    cluster = setting.cluster
    share = _LEAST + (_MOST - _LEAST) * amount
    if not crosses(setting) or share <= cluster.fabric.load_ratio:
        return None
    loaded = cluster.fabric.with_(load_ratio=share)
    return Variant(
        label=f"{share:.0%} of the links taken", cluster=cluster.with_(fabric=loaded)
    )


shared_network = Fault(
    title="other traffic on the network",
    weight=sourced(1.0, "threads", confidence=1),
    amount=_amount,
    check="byte counters of the ports while nothing of this job runs",
    command="perfquery -x; ethtool -S IFACE",
    likeness="It comes and goes; run again at another hour.",
    shows={
        "idle_counters": "traffic of others",
        "another_run": "changes",
        "within_run": "varies",
        "pair_tests": "every pair is slow",
    },
)

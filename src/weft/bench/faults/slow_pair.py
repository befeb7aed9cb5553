"""One host, link or cable is slow, and a collective waits for it."""

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_MOST, _LEAST = 0.85, 0.04
"""What is left of the rate of a link."""


def _amount(setting: Setting, amount: float) -> Variant | None:
    host = setting.cluster.host
    if not crosses(setting):
        return None
    left = _MOST * (_LEAST / _MOST) ** amount
    # A collective goes at the pace of its slowest link, as if all were so.
    slow = host.with_(nic_bytes_per_s=host.nic_bytes_per_s * left)
    return Variant(
        label=f"a link at {left:.0%} of its rate", cluster=setting.cluster.with_(host=slow)
    )


slow_pair = Fault(
    title="one slow pair (host, link or cable)",
    weight=sourced(1.5, "threads", confidence=1),
    amount=_amount,
    check="each pair of hosts alone",
    command="weft bench localise",
    likeness="Lost NICs on every host give the same plateau; every pair shows it then.",
    shows={"pair_tests": "one pair is slow"},
    causes=frozenset(
        {
            "ib-link-degraded-width",
            "ib-link-degraded-speed",
            "ib-link-errors",
            "ib-link-flap",
        }
    ),
)

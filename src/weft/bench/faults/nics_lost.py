"""NICs or rails are not used: a plateau at k of n."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_STEPS = 8
"""More forms than this tell nothing more."""


def _variants(setting: Setting) -> Iterable[Variant]:
    host = setting.cluster.host
    if not crosses(setting) or setting.sweep.what != "collective":
        return
    for part in range(1, _STEPS):
        left = host.nics * part // _STEPS
        if 1 <= left < host.nics and (part == 1 or left > host.nics * (part - 1) // _STEPS):
            yield Variant(
                label=f"{left} of {host.nics} NICs work",
                cluster=setting.cluster.with_(host=host.with_(nics=left)),
            )


nics_lost = Fault(
    title="NICs or rails are not used",
    weight=sourced(2.0, "threads", confidence=1),
    variants=_variants,
    check="ports that are down, NCCL_IB_HCA, and how many adapters the log says are used",
    command='ibstat; NCCL_DEBUG=INFO ... | grep "NET/IB : Using"',
    likeness="One slow link holds a ring up just so; pair tests tell them apart.",
    shows={
        "nccl_log": "fewer adapters",
        "ports": "a port is down",
        "pair_tests": "an adapter has no link",
    },
    causes=frozenset(
        {
            "ib-port-down",
            "hca-selection-wrong",
            "hca-set-mismatch",
            "rail-isolated",
        }
    ),
)

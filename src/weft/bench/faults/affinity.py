"""Processes or NICs far from their GPU: every step costs more, the volume does not."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    family = "net_step" if crosses(setting) else "local_step"
    for times in (1.5, 2.0, 4.0):
        yield Variant(
            label=f"each step costs {times:g} times as much",
            cluster=setting.cluster,
            factors={family: times},
        )


affinity = Fault(
    title="latency: processes or NICs on the far CPU socket",
    weight=sourced(1.0, "threads", confidence=1),
    variants=_variants,
    check="where the processes run, and which socket each NIC hangs on",
    command="nvidia-smi topo -m; numactl --show",
    likeness="A low CPU frequency slows small sizes too, and the start of a collective.",
)

"""CPUs that save power: the start of a collective and the proxy threads are slow."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    for times in (1.5, 2.0, 3.0):
        steps = {"net_step": times} if crosses(setting) else {}
        yield Variant(
            label=f"clock at 1/{times:g} of what is usual",
            cluster=setting.cluster,
            factors={"base": times, "socket": 1 / times, "host_socket": 1 / times, **steps},
        )


low_cpu_frequency = Fault(
    title="low CPU frequency (power saving)",
    weight=sourced(0.6, "threads", confidence=1),
    variants=_variants,
    check="the governor and the clock of the CPUs while the job runs",
    command="cpupower frequency-info",
    likeness="A process on the far socket slows the steps alone.",
)

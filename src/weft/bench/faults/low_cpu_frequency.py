"""CPUs that save power: the start of a collective and the proxy threads are slow."""

from weft.bench.expected import NET_STEP, Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_LEAST, _MOST = 1.25, 4.0
"""Times that the clock is below what is usual."""


def _amount(setting: Setting, amount: float) -> Variant:
    times = _LEAST * (_MOST / _LEAST) ** amount
    steps = {NET_STEP: times} if crosses(setting) else {}
    return Variant(
        label=f"clock at {1 / times:.0%} of what is usual",
        cluster=setting.cluster,
        factors={"base": times, "socket": 1 / times, "host_socket": 1 / times, **steps},
    )


low_cpu_frequency = Fault(
    title="low CPU frequency (power saving)",
    weight=sourced(0.6, "threads", confidence=1),
    amount=_amount,
    check="the governor and the clock of the CPUs while the job runs",
    command="cpupower frequency-info",
    likeness="A process on the far socket slows the steps alone.",
    shows={"cpu_clock": "slow clock"},
)

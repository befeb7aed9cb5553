"""Processes or NICs far from their GPU: every step costs more, the volume does not."""

from weft.bench.expected import NET_STEP, Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced

_LEAST, _MOST = 1.25, 6.0
"""Times that a step costs on the far socket."""


def _amount(setting: Setting, amount: float) -> Variant:
    times = _LEAST * (_MOST / _LEAST) ** amount
    family = NET_STEP if crosses(setting) else "local_step"
    return Variant(
        label=f"each {_unit(setting)} costs {times:.2g} times as much",
        cluster=setting.cluster,
        factors={family: times},
    )


def _unit(setting: Setting) -> str:
    return "step" if setting.sweep.what == "collective" else "message"


affinity = Fault(
    title="latency: processes or NICs on the far CPU socket",
    weight=sourced(1.0, "threads", confidence=1),
    amount=_amount,
    check="where the processes run, and which socket each NIC hangs on",
    command="nvidia-smi topo -m; numactl --show",
    likeness="A low CPU frequency slows small sizes too, and the start of a collective.",
    shows={"gpu_topology": "far socket"},
    causes=frozenset(
        {
            "vm-topology-wrong",
            "topology-misdetected",
        }
    ),
)

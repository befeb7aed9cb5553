"""GPUs of a host do not reach one another over NVLink or xGMI."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant
from weft.engines.analytic.collective.path import PCIE_BYTES_PER_S
from weft.engines.analytic.collective.tuning import gpu_class
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    host = setting.cluster.host
    up = host.scale_up
    if up.kind == "pcie" or setting.group.ranks_per_domain == 1:
        return
    slow = up.with_(
        kind="pcie", in_network_reduction=False,
        bytes_per_s=PCIE_BYTES_PER_S.get(gpu_class(host.gpu), 48e9),
    )  # fmt: skip
    yield Variant(
        label="over PCIe", cluster=setting.cluster.with_(host=host.with_(scale_up=slow))
    )


no_scale_up = Fault(
    title="no NVLink or xGMI between the GPUs of a host",
    weight=sourced(0.8, "threads", confidence=1),
    variants=_variants,
    check="NVLink state of every GPU, the fabric manager, NCCL_P2P_DISABLE and NCCL_P2P_LEVEL",
    command="nvidia-smi nvlink -s; nvidia-smi topo -m",
    shows={"nccl_log": "no P2P", "gpu_topology": "no NVLink"},
    causes=frozenset(
        {
            "nvlink-links-inactive",
            "fabric-manager-not-running",
            "nvswitch-partition-wrong",
        }
    ),
)

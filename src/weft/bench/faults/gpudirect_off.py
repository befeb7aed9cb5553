"""GPUDirect RDMA is off: every byte is copied through host memory."""

from collections.abc import Iterable

from weft.bench.expected import Setting
from weft.bench.fault import Fault, Variant, crosses
from weft.sources import sourced


def _variants(setting: Setting) -> Iterable[Variant]:
    host = setting.cluster.host
    if crosses(setting) and host.gpudirect and setting.sweep.what == "collective":
        yield Variant(
            label="copies in host memory",
            cluster=setting.cluster.with_(host=host.with_(gpudirect=False)),
        )


gpudirect_off = Fault(
    title="GPUDirect RDMA is off",
    weight=sourced(1.8, "threads", confidence=1),
    variants=_variants,
    check='nvidia_peermem or dma-buf, NCCL_NET_GDR_LEVEL, "GDRDMA" on the channels of the log',
    command="lsmod | grep nvidia_peermem; NCCL_DEBUG=INFO ... | grep GDRDMA",
    likeness="PCIe access control (ACS) that sends traffic through the CPU looks the same.",
    shows={"nccl_log": "no GPUDirect"},
    causes=frozenset(
        {
            "gdr-peermem-not-loaded",
            "gdr-peermem-not-registered",
            "gdr-nccl-too-old",
            "gdr-access-blocked",
            "pcie-acs-enabled",
        }
    ),
)

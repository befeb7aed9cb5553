"""GPUDirect RDMA is switched off, or forced over any distance.

What it checks: NCCL_NET_GDR_LEVEL (its old numbers as well), NCCL_DMABUF_ENABLE, the kernel
module nvidia-peermem, and the GPU operator's RDMA switch.
Why it matters: without it every byte makes a detour through host memory, and half the bandwidth
is gone; forced between sockets it is slower than the detour.
What to do: unset it, so that NCCL decides by the distance of each pair of GPU and NIC.
References: NCCL user guide, NCCL_NET_GDR_LEVEL; NVIDIA, GPUDirect RDMA.
"""

from typing import Final

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_OFF: Final = frozenset({"LOC", "0"})
_OLD: Final = frozenset({"1", "2", "3", "4", "5"})


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_NET_GDR_LEVEL"):
        value = one.value.strip().upper()
        if value in _OFF:
            yield problem(
                one, f"NCCL_NET_GDR_LEVEL={one.value} switches GPUDirect RDMA off", "unset it"
            )
        elif value in _OLD:
            yield problem(
                one,
                f"NCCL_NET_GDR_LEVEL={one.value} is the old way to say it; 4 and 5 force "
                "GPUDirect between sockets as well",
                "unset it, or name a distance as PXB",
                severity=Severity.WARNING if value in {"4", "5"} else Severity.INFO,
            )
    for one in case.variables("NCCL_NET_GDR_READ"):
        if one.value.strip() == "0":
            yield problem(
                one,
                "sending from GPU memory is switched off",
                "unset it",
                severity=Severity.INFO,
            )
    yield from _modules(case)


def _modules(case: Case) -> Found:
    for option in case.options("modules"):
        if option.name in {"nvidia_peermem", "nv_peer_mem"} and option.value == "remove":
            yield problem(
                option,
                f"the module {option.name} is kept out",
                "load it, or use an open driver with dma-buf and say so",
            )
    for option in case.options("gpu-operator", "driver.rdma.enabled"):
        if option.value.lower() == "false":
            yield problem(
                option,
                "the GPU operator leaves RDMA out of the driver",
                "set driver.rdma.enabled, or use dma-buf",
            )


nccl_gpudirect = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)

"""The adapter may not reach GPU memory (status 4): access is blocked on the way.

What it checks: local protection errors (status 4, vendor error 0x51) of NCCL, UCX or perftest,
and the access control of the PCI bridges, which decides.
Why it matters: with GPUDirect RDMA the transfer fails or hangs; without it, it is slow.
What to do: clear ACS on the bridges between GPU and adapter, put the IOMMU in passthrough
or switch it off, or use DMA-BUF; until then NCCL_NET_GDR_LEVEL=LOC works.
References: NCCL troubleshooting, PCI Access Control Services; PCI Express Base Specification,
ACS; NVIDIA GPUDirect RDMA guide.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
)
from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCopy
from weft.observe.facts.collectives import CollectiveMismatch
from weft.observe.facts.gpus import GpuSeen
from weft.observe.facts.pci import IommuState, PciDevice, PcieAccessControl, PcieError
from weft.observe.facts.verbs import CallFailed, CompletionError

_PEERS = re.compile(r"\b(?:nvidia|NVRM|amdgpu|mlx\d_core|bnxt_en|ice|ionic) [0-9a-f]{4}:")
_DEVICES = re.compile(r"NVIDIA|Mellanox|Instinct|ConnectX|NetXtreme-E|E810", re.IGNORECASE)
LOCAL_PROTECTION = 4
_OTHERWISE = re.compile(r"\bfall ?back\b")
_ACS = "lspci -vvv | grep -e ^[0-9a-f] -e ACSCtl; dmesg | grep -i iommu"
_ADVICE = "clear ACS on the bridges between GPU and adapter (setpci), IOMMU in passthrough"
_FOLLOW = (
    Symptom.LOCAL_PROTECTION,
    Symptom.FLUSHED,
    Symptom.TRANSPORT_RETRY,
    "mpi-ucx-not-nccl",
)


def _check(facts: Facts) -> Iterator[Finding]:
    protection: list[Fact] = [
        one for one in facts.of(CompletionError) if one.status == LOCAL_PROTECTION
    ]
    redirecting = [
        one for one in facts.of(PcieAccessControl)
        if one.request_redirect or one.completion_redirect
    ]  # fmt: skip
    unclear = [
        one for one in facts.of(PcieAccessControl)
        if one.source_validation and one.request_redirect is None
    ]  # fmt: skip
    redirecting = redirecting or unclear
    if not redirecting and not protection:
        yield from _translated(facts)
        yield from _unmapped(facts)
        yield from _refused_pages(facts)
        return
    if redirecting:
        found = _redirected(protection, redirecting, failing=_hangs(facts))
    else:
        found = _blocked(facts, protection)
    if protection and job.only_a_tool(facts, facts.of(CompletionError)):
        found = replace(found, severity=Severity.WARNING)
    yield replace(found, explains=found.explains | _echoes(facts, protection))


def _echoes(facts: Facts, protection: list[Fact]) -> frozenset[str]:
    """Return what the far end says of a transfer that was refused: errors, sizes that differ.

    NCCL compares the sizes that arrive; PyTorch compares the calls before any transfer.
    """
    if not protection:
        return frozenset()
    sizes = set() if facts.any_of(CollectiveMismatch) else {"app-collective-mismatch"}
    return frozenset({Symptom.REMOTE_ERROR, *sizes})


def _translated(facts: Facts) -> Iterator[Finding]:
    """Find GPUs and adapters whose peer traffic the I/O memory unit refuses."""
    faults = [
        one for one in facts.of(PcieError)
        if one.kind == "iommu" and "drhd" not in one.text.lower()
    ]  # fmt: skip
    ours = [one for one in faults if _is_peer(facts, one)]
    failed = job.said(facts, r"p2p.{0,40}verification error|verification error @ element")
    if ours or (failed and (faults or facts.any_of(IommuState))):
        yield finding(
            "pcie-acs-enabled",
            [*ours, *failed, *faults],
            0.75 if ours and failed else 0.65,
            subject=", ".join(dict.fromkeys(one.device for one in ours if one.device)),
            message="the I/O memory unit refuses traffic between PCI devices",
            advice=_ADVICE,
            next_command=_ACS,
            missing=("lspci -vvv | grep ACSCtl, as root",),
            explains=(*_FOLLOW, Symptom.WATCHDOG),
            fault=Fault.GPUDIRECT_OFF,
        )
    else:
        yield from _between_gpus(facts, failed)


_SLOW_S = 1e-3
"""A write from GPU to GPU takes some microseconds; one that is never seen, this and more."""
_HALF = 0.5


def _between_gpus(facts: Facts, failed: list[Fact]) -> Iterator[Finding]:
    """Find GPUs that reach one another directly worse than through the host, or wrongly."""
    copies = [one for one in facts.of(MeasuredCopy) if one.test.startswith("p2p")]
    late: list[Fact] = [one for one in copies if (one.latency_s or 0.0) >= _SLOW_S]
    without = {
        (one.source, one.target, one.test.removesuffix("disabled")): one.bytes_per_s or 0.0
        for one in copies if one.test.endswith("bandwidth disabled")
    }  # fmt: skip
    worse: list[Fact] = [
        one for one in copies
        if one.test.endswith("bandwidth enabled") and one.bytes_per_s is not None
        and one.bytes_per_s
        < _HALF * without.get((one.source, one.target, one.test.removesuffix("enabled")), 0.0)
    ]  # fmt: skip
    if not (late or worse or failed):
        yield from _looked_at(facts)
        return
    yield finding(
        "pcie-acs-enabled",
        [*late, *worse, *failed],
        0.65 if late or worse else 0.45,
        severity=Severity.ERROR if late or worse else Severity.WARNING,
        message="GPUs reach one another directly worse than through the host: their traffic "
        "is redirected on the way",
        advice=_ADVICE,
        next_command=_ACS,
        missing=("lspci -vvv | grep ACSCtl, as root", "whether the IOMMU is on (dmesg)"),
        explains=(*_FOLLOW, Symptom.WATCHDOG),
        suspects=(
            Suspect(
                cause="nvlink-error",
                confidence_ratio=0.3,
                question="are these GPUs joined by NVLink, and do its counters rise?",
                next_command="nvidia-smi topo -m; nvidia-smi nvlink -e",
            ),
        ),
        fault=Fault.GPUDIRECT_OFF,
    )


def _unmapped(facts: Facts) -> Iterator[Finding]:
    """Find GPUs that may not ring the adapter's doorbell, as GPU-initiated networks need."""
    lines = job.said(
        facts,
        r"cannot map UAR of device|hostregister with iomemory failed|"
        r"cannot allocate buffer on the specified memory type",
    )
    if lines and all(_OTHERWISE.search(one.evidence.text) for one in lines):
        lines = []  # the processor rings the doorbell in its place, which is slower
    if lines and not job.worked_after(facts, lines):  # one adapter of several was left out
        yield finding(
            "gdr-access-blocked",
            lines,
            0.6,
            message="the GPU cannot map the adapter's doorbell registers (GPU-initiated RDMA)",
            advice='set NVreg_RegistryDwords="PeerMappingOverride=1;" and '
            "NVreg_EnableStreamMemOPs=1 for the nvidia module, then reload it",
            next_command="grep -e PeerMapping -e StreamMem /proc/driver/nvidia/params",
            missing=("the parameters of the nvidia module",),
            explains=("verbs-provider-incompatible",),
        )


def _refused_pages(facts: Facts) -> Iterator[Finding]:
    """Find memory of a GPU that could not be mapped for an adapter."""
    unmapped = job.said(facts, r"error -\d+ while calling nvidia_p2p_dma_map_pages")
    if unmapped:
        yield finding(
            "gdr-access-blocked",
            unmapped,
            0.65,
            severity=Severity.WARNING,
            message="the pages of a GPU could not be mapped for the adapter",
            advice=_ADVICE,
            next_command=_ACS,
            missing=("whether the IOMMU is on (dmesg)", "whether transfers of GPU memory fail"),
            explains=_FOLLOW,
            fault=Fault.GPUDIRECT_OFF,
        )


def _looked_at(facts: Facts) -> Iterator[Finding]:
    """Suspect translation where somebody asked for it by itself and it is on."""
    groups = [
        one for one in facts.of(IommuState)
        if one.state == "on" and one.evidence.text.rstrip().endswith(("DMA", "DMA-FQ"))
    ]  # fmt: skip
    if groups:
        yield finding(
            "pcie-acs-enabled",
            groups,
            0.35,
            severity=Severity.WARNING,
            message="the I/O memory unit translates every access of devices",
            advice=_ADVICE,
            next_command=_ACS,
            missing=("whether GPUs or adapters reach one another slowly, or not at all",),
        )


def _is_peer(facts: Facts, error: PcieError) -> bool:
    """Return whether a fault names a GPU or an RDMA adapter."""
    if _PEERS.search(error.evidence.text):
        return True
    buses = [one.bus_id for one in facts.of(GpuSeen)]
    buses += [one.bus_id for one in facts.of(AdapterSeen)]
    buses += [one.bus_id for one in facts.of(PciDevice) if _DEVICES.search(one.name)]
    short = error.device.rpartition(":")[0][-2:]
    return bool(short) and any(short in bus.lower().split(":") for bus in buses if bus)


def _hangs(facts: Facts) -> bool:
    return facts.any_of(CompletionError, CallFailed)


def _redirected(
    protection: list[Fact], redirecting: list[PcieAccessControl], *, failing: bool
) -> Finding:
    certain = any(one.request_redirect or one.completion_redirect for one in redirecting)
    bridges = list(dict.fromkeys(one.device for one in redirecting if one.device))
    sure = 0.9 if protection else 0.75 if failing else 0.6 if certain else LIKELY_RATIO
    return finding(
        "pcie-acs-enabled",
        [*protection, *redirecting],
        sure,
        severity=Severity.ERROR if protection or failing else Severity.WARNING,
        subject=", ".join(bridges[:4]),
        message="PCI bridges send traffic between peers up to the root (ACS redirect is on)",
        advice=_ADVICE,
        next_command=_ACS,
        missing=() if protection else ("which bridges lie between GPU and adapter (lspci -t)",),
        explains=(*_FOLLOW, "gdr-access-blocked", Symptom.WATCHDOG),
        fault=Fault.GPUDIRECT_OFF,
    )


def _blocked(facts: Facts, protection: list[Fact]) -> Finding:
    looked = facts.of(PcieAccessControl)
    translating = [one for one in facts.of(IommuState) if one.state == "on"]
    suspects = (suspect("pcie-acs-enabled", 0.1 if looked else 0.45),)
    return finding(
        "gdr-access-blocked",
        [*protection, *translating],
        0.65,
        message="the adapter was refused access to memory, as happens to GPU memory",
        advice=_ADVICE + "; NCCL_NET_GDR_LEVEL=LOC tells whether GPU memory is what fails",
        next_command=_ACS,
        missing=("lspci -vvv of this host as root", "a run with NCCL_NET_GDR_LEVEL=LOC"),
        explains=_FOLLOW,
        suspects=suspects,
        fault=Fault.GPUDIRECT_OFF,
    )


gpu_memory_access = Rule(causes=("pcie-acs-enabled", "gdr-access-blocked"), check=_check)

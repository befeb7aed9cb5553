"""GPUDirect RDMA is off although GPU and adapter could use it.

What it checks: the library's own word for each adapter, the peer-memory module (refused,
absent, loaded but not attached) and whether NCCL is too old for its new name, by its version
or by a newer one that has it on; ways that it turns to the processor though GPU and adapter
are on one switch. Where DMA-BUF
does the work, and on platforms without GPUDirect, nothing is wrong.
Why it matters: every byte passes through host memory: half the bandwidth and more latency.
What to do: by cause: load nvidia_peermem after the RDMA driver, sign it or enrol its key,
rebuild it against the installed OFED, update NCCL, or use DMA-BUF (open kernel modules).
References: NVIDIA GPUDirect RDMA guide; nvidia-peermem README; NCCL user guide,
NCCL_NET_GDR_LEVEL and NCCL_DMABUF_ENABLE.
"""

import errno
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weft.doctor import job, near
from weft.doctor.rule import (
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.base import Fact, LinkLayer, Process
from weft.observe.facts.benchmarks import BenchmarkRank
from weft.observe.facts.communicators import ChannelPath, RingsConnected
from weft.observe.facts.gpus import GpuSeen
from weft.observe.facts.hosts import (
    KernelModule,
    ModuleAbsent,
    ModuleBuilt,
    ModuleRefused,
    PeerMemoryClient,
)
from weft.observe.facts.programs import Command
from weft.observe.facts.transports import (
    AdapterChosen,
    DmaBufAvailable,
    GpuDirectState,
    NoRdmaDevice,
    ProviderChosen,
)
from weft.observe.facts.verbs import CallFailed

_MODULES = ("nvidia_peermem", "nv_peer_mem", "nvidia-peermem", "amdgpu_peermem", "ib_peer_mem")
_LOADS = re.compile(r"\b(?:modprobe|insmod)\b.{0,80}(?:nvidia[-_]peermem|nv_peer_mem)")
_CUDA = re.compile(r"--use_(?:cuda|rocm)")
_FIRST_VERSION_WITH_NAME = (2, 23)
_OF_GPU = re.compile(r"regist\w+ (?:the )?(?:GPU|CUDA|VRAM|HBM) (?:MR|mem|buf)", re.IGNORECASE)
_NO_GPUDIRECT = ("gb10", "geforce", "rtx", "a10g", "tesla t4", "orin", "thor")
_WITH_GPUDIRECT = ("a100", "h100", "h200", "h20", "h800", "b200", "b300", "v100")
_DRIVERS = frozenset({"ib_core", "ib_uverbs"})
"""The RDMA driver's modules: the peer-memory module uses them where it is attached."""
_OLD_CLIENT = re.compile(r"memory_peers/nv_mem(?!_nc)")
"""What the old module registers as, and at times the new one, which is ``nv_mem_nc`` too."""
_EMULATED = ("rxe", "siw", "erdma", "usb4", "efa")
_NEITHER = (
    r"peermem is not (?:supported|loaded).{0,80}(?:(?:does not support|no|without) dma-?buf|"
    r"dma-?buf is not supported)"
)
_NO_ROOM = (
    r"\b(?:nvidia_p2p_get_pages|nv_get_p2p\w*)\b.{0,60}(?:fail|error|-12\b|INSUFFICIENT)|"
    r"NV_ERR_INSUFFICIENT_RESOURCES"
)
_LEVELS = ("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL", "NCCL_IB_CUDA_SUPPORT")
"""Variables that say how near an adapter must be, in newer and in older versions."""
_EVEN_RATIO = 0.45
_LOOK = (
    "lsmod | grep peermem; ls /sys/kernel/mm/memory_peers; dmesg | grep -i "
    "peermem; mokutil --sb-state"
)


def _check(facts: Facts) -> Iterator[Finding]:
    off = [one for one in facts.of(GpuDirectState) if not one.enabled and _matters(one)]
    refused = [one for one in facts.of(ModuleRefused) if _is_module(one.name)]
    absent = [one for one in facts.of(ModuleAbsent) if _is_sought(one.name)]
    loaded = [
        one for one in facts.of(KernelModule)
        if _is_module(one.name) or any(_is_module(user) for user in one.used_by)
    ]  # fmt: skip
    works = _works_without(facts)
    yield from _on_some_hosts(facts)
    yield from _by_loading(facts)
    yield from _by_version(facts, loaded)
    apart = [one for one in refused if "registering" in one.reason]
    idle = _without_adapters(facts)
    refused = [one for one in refused if one not in apart and not idle]
    yield from _told(facts, [] if works else [*apart], [*off, *loaded])
    registrations = [] if refused else _of_registrations(facts, loaded, absent)
    yield from registrations
    if any(one.cause != "gdr-peermem-not-loaded" for one in registrations):
        return
    if refused and not works and not loaded:
        yield _not_loaded([*refused, *off, *absent], 0.9, _why(refused[0]))
    elif refused and works:
        yield _not_needed(refused)
    elif absent and loaded and _places(absent) - _places(loaded) and not off:
        there = [one for one in absent if _place(one) not in _places(loaded)]
        yield _not_loaded([*there, *loaded], 0.75, "on one host it is, on another it is not")
    elif not works and not _by_design(facts) and (shown := off or _turned(facts)):
        yield from _turned_off(facts, [*shown], [*absent], [*loaded])
    elif absent and not (works or loaded) and any(_is_missed(one) for one in absent):
        found = _not_loaded([*absent], 0.75, "says the program that needs it")
        yield replace(found, explains=found.explains | {Symptom.REGISTRATION})
    elif loaded and not (works or off) and _nobody_registered(facts, loaded):
        found = _attached(
            "gdr-peermem-not-registered", [*loaded, *facts.of(PeerMemoryClient)], 0.55
        )
        yield replace(found, severity=Severity.WARNING)
    elif loaded and not works and _too_old(facts) and (plain := _plain(facts)):
        found = _attached("gdr-nccl-too-old", [*plain, *loaded, *_too_old(facts)], 0.55)
        yield replace(found, severity=Severity.WARNING)
    elif absent and not (works or loaded or facts.any_of(GpuDirectState)):
        yield _not_loaded(
            [*absent], 0.4, "it is not among the loaded modules", Severity.WARNING
        )


def _too_old(facts: Facts) -> list[Fact]:
    """Return the versions of the library that do not know the module's new name."""
    return [
        one for one in job.versions(facts)
        if job.version(one.version) < _FIRST_VERSION_WITH_NAME
    ]  # fmt: skip


def _plain(facts: Facts) -> list[Fact]:
    """Return channels over verbs, none of which reaches GPU memory directly."""
    channels = job.verbs_channels(facts)
    return [] if any(one.gpudirect for one in channels) else [*channels[:2]]


def _on_some_hosts(facts: Facts) -> Iterator[Finding]:
    """Find hosts that reach GPU memory on no channel while others do on all of theirs."""
    hosts: dict[str, list[ChannelPath]] = {}
    for one in job.verbs_channels(facts):
        if one.process.host:
            hosts.setdefault(one.process.host, []).append(one)
    without = {host: paths for host, paths in hosts.items()
               if not any(one.gpudirect for one in paths)}  # fmt: skip
    whole = any(all(one.gpudirect for one in paths) for paths in hosts.values())
    if without and whole:
        seen: list[Fact] = [one for paths in without.values() for one in paths[:2]]
        others = [one for one in facts.of(ChannelPath) if one.gpudirect][:2]
        yield _not_loaded(
            [*seen, *others], 0.75, f"on {', '.join(sorted(without))} no channel reaches GPU "
            "memory directly, on other hosts all do",
        )  # fmt: skip


def _by_version(facts: Facts, loaded: list[KernelModule]) -> Iterator[Finding]:
    """Find a host on which an old version has it off and a newer one has it on."""
    versions = {_who(one.process): one for one in job.versions(facts) if one.process.host}
    on: dict[str, list[Fact]] = {}
    off: dict[str, list[Fact]] = {}
    for state in facts.of(GpuDirectState):
        named = versions.get(_who(state.process))
        if named is None or not _matters(state):
            continue
        new = job.version(named.version) >= _FIRST_VERSION_WITH_NAME
        if state.enabled and new:
            on.setdefault(state.process.host, []).extend((named, state))
        elif not state.enabled and not new:
            off.setdefault(state.process.host, []).extend((named, state))
    for host in on.keys() & off.keys():
        seen = [*off[host][:2], *on[host][:2], *loaded]
        yield _attached("gdr-nccl-too-old", seen, 0.9 if loaded else 0.75)


def _by_loading(facts: Facts) -> Iterator[Finding]:
    """Find a module that somebody loaded, on in one run and off in another: on only after."""
    loads = [one for one in facts.of(Command) if _LOADS.search(one.command)]
    states = [one for one in facts.of(GpuDirectState) if _matters(one)]
    off = [one for one in states if not one.enabled]
    on = [one for one in states if one.enabled]
    if not (loads and off and on):
        return
    file, place = loads[0].evidence.file, loads[0].evidence.place
    late = any(one.evidence.file == file and one.evidence.place > place for one in off)
    early = any(one.evidence.file == file and one.evidence.place < place for one in on)
    if not late and not early:
        yield _not_loaded([off[-1], loads[0], on[0]], 0.85, "loaded by hand, GPUDirect is on")


def _who(process: Process) -> tuple[str, int | None]:
    return process.host, process.pid


def _bad_address(facts: Facts) -> list[CallFailed]:
    """Return registrations refused as a bad address, as of GPU memory without the module.

    What NVSHMEM registers first is its heap on the GPU.
    """
    on_gpus = any(_CUDA.search(one.command) for one in facts.of(Command))
    on_gpus = on_gpus or bool(job.said(facts, r"stack does not support DMA-BUF"))
    return [
        one for one in facts.of(CallFailed)
        if ("reg_mr" in one.call or "mr_reg" in one.call)
        and (one.errno == errno.EFAULT
             or (one.errno is None and not one.error and one.library == "NVSHMEM")
             or (one.errno in {None, errno.EOPNOTSUPP} and one.library == "verbs program"
                 and (on_gpus or _OF_GPU.search(one.evidence.text)
                  or _CUDA.search(one.evidence.text))))
    ]  # fmt: skip


def _over_dma_buf(facts: Facts) -> bool:
    """Return whether a benchmark was told to reach GPU memory without the module."""
    return any("_dmabuf" in one.command for one in facts.of(Command))


def _of_registrations(
    facts: Facts, loaded: list[KernelModule], absent: list[ModuleAbsent]
) -> list[Finding]:
    """Return what registrations of GPU memory that failed say of the module."""
    no_room = job.said(facts, _NO_ROOM)
    faulty = _bad_address(facts)
    if no_room:
        return [_no_window(no_room)]
    if _over_dma_buf(facts):
        faulty = [one for one in faulty if one.errno != errno.EFAULT]
    if not faulty:
        return []
    if loaded and _places(loaded) - _places(absent):
        found = _attached("gdr-peermem-not-registered", [*faulty, *loaded], 0.7)
    else:
        sure = 0.85 if absent else 0.75 if any(one.errno for one in faulty) else 0.7
        found = _not_loaded([*faulty, *absent], sure, "GPU memory cannot be registered")
    explained = found.explains | {Symptom.REGISTRATION, "mpi-ucx-not-nccl"}
    return [replace(found, explains=explained)]


def _no_window(seen: list[Fact]) -> Finding:
    """Say that the GPU's driver gave the module no pages: the module is there and was asked."""
    return finding(
        "gdr-access-blocked",
        seen,
        0.7,
        message="the GPU's driver would not pin the memory: its window (BAR1) may be too small",
        advice="enable above-4G decoding and resizable BAR, or register less at a time",
        next_command="nvidia-smi -q -d MEMORY | grep -A3 BAR1; dmesg | grep -i -e nvrm -e peer",
        missing=("the size of BAR1 beside the size of the memory registered",),
        explains=(Symptom.GPUDIRECT_OFF, Symptom.REGISTRATION),
        fault=Fault.GPUDIRECT_OFF,
    )


def _clients(facts: Facts, loaded: Iterable[Fact]) -> list[PeerMemoryClient]:
    """Return who registered; the old module's absence says nothing where the new one runs."""
    old = any(getattr(one, "name", "") == "nv_peer_mem" for one in loaded)
    return [
        one for one in facts.of(PeerMemoryClient)
        if one.name or old or not _OLD_CLIENT.search(one.evidence.text)
    ]  # fmt: skip


def _is_in_use(loaded: Iterable[Fact]) -> bool | None:
    """Return whether the RDMA driver is used by the module, where it is listed beside it."""
    drivers = [one for one in loaded if isinstance(one, KernelModule)
               and one.name in _DRIVERS]  # fmt: skip
    return any(_is_module(user) for one in drivers for user in one.used_by) if drivers else None


def _place(one: Fact) -> str:
    """Return where a fact was seen: its host, or the file where no host is named."""
    return str(getattr(one, "host", "")) or one.evidence.file


def _places(seen: Iterable[Fact]) -> set[str]:
    return {_place(one) for one in seen}


def _told(facts: Facts, apart: list[Fact], beside: list[Fact]) -> Iterator[Finding]:
    """Find what the library, or the module itself, says in so many words."""
    neither = job.said(facts, _NEITHER)
    script = job.said(facts, r"peermem-ctr\b.{0,200}(unbound variable|fail|error)|"
                             r"failed to load nvidia.peermem module")  # fmt: skip
    if script and not facts.of(ModuleRefused):
        yield _not_loaded(script, 0.7, "the container that loads it fails")
    if neither:
        yield _not_loaded(neither, 0.75, "and the GPU offers no DMA-BUF")
    if apart:
        yield _attached("gdr-peermem-not-registered", [*apart, *beside], 0.85)


def _nobody_registered(facts: Facts, loaded: Iterable[Fact]) -> bool:
    """Return whether somebody looked for clients of the peer-memory interface, in vain."""
    clients = _clients(facts, loaded)
    return bool(clients) and not any(one.name for one in clients)


def _is_module(name: str) -> bool:
    return name.replace("-", "_") in {one.replace("-", "_") for one in _MODULES}


def _is_sought(name: str) -> bool:
    """Return whether a search among the modules was for the peer-memory module."""
    return "peer" in name.lower()


def _is_missed(absent: ModuleAbsent) -> bool:
    """Return whether a program complains; that the RDMA driver does not use it may be meant."""
    text = absent.evidence.text
    return any(word in text for word in ("not", "n't", "without")) and "not using" not in text


def _matters(state: GpuDirectState) -> bool:
    if "distance" in state.reason:  # of one GPU and an adapter far from it: another is near
        return False
    words = f"{state.network} {state.adapter}".lower()
    return "socket" not in words and not any(word in words for word in _EMULATED)


def _works_without(facts: Facts) -> bool:
    """Return whether GPU memory is reached all the same, as through DMA-BUF."""
    if any(one.enabled for one in facts.of(GpuDirectState)):
        return True
    if any(one.gpudirect for one in facts.of(ChannelPath)):
        return True
    connected = any(one.gpudirect for one in facts.of(RingsConnected))
    return (
        connected
        or bool(facts.of(DmaBufAvailable) and not facts.of(GpuDirectState))
        or bool(job.said(facts, r"dma-?buf.*(success|enabled|using|registered|supported)"))
    )


def _without_adapters(facts: Facts) -> bool:
    """Return whether a job on one host saw no adapter to reach GPU memory from."""
    seen = job.known_adapters(facts) or job.verbs_adapters(facts)
    return bool(facts.of(NoRdmaDevice)) and job.on_one_host(facts) and not seen


def _by_design(facts: Facts) -> bool:
    """Return whether the platform has no GPUDirect: some GPUs and adapters have none."""
    gpus = " ".join(one.name for one in facts.of(GpuSeen)).lower()
    adapters = {one.adapter for one in facts.of(AdapterChosen)}
    emulated = bool(adapters) and all(one.startswith(_EMULATED) for one in adapters)
    of_efa = any(one.provider.startswith("efa") for one in facts.of(ProviderChosen))
    plain_efa = of_efa and not _could_have_it(facts)  # most instances with EFA have none
    return any(word in gpus for word in _NO_GPUDIRECT) or emulated or plain_efa


def _why(refused: ModuleRefused) -> str:
    words = refused.reason.lower()
    if "key" in words:
        return "the kernel rejects its signature: Secure Boot is on and its key not enrolled"
    if "symbol" in words or refused.symbol:
        return "it was built for another RDMA driver, or loaded before it"
    return "the kernel refuses it: no peer-memory interface in the RDMA driver"


def _not_loaded(
    seen: list[Fact], confidence_ratio: float, why: str, severity: Severity = Severity.ERROR
) -> Finding:
    return finding(
        "gdr-peermem-not-loaded",
        seen,
        confidence_ratio,
        severity=severity,
        message=f"the peer-memory module is not loaded: {why}",
        advice="load nvidia_peermem after the RDMA driver (rebuild, sign), or use DMA-BUF",
        next_command=_LOOK,
        explains=(Symptom.GPUDIRECT_OFF, Symptom.REGISTRATION),
        fault=Fault.GPUDIRECT_OFF,
    )


def _not_needed(refused: list[ModuleRefused]) -> Finding:
    return finding(
        "benign-peermem-unneeded-dmabuf",
        refused,
        0.8,
        severity=Severity.INFO,
        message="the peer-memory module is refused, but DMA-BUF does its work",
        advice="nothing to do",
    )


def _turned_off(
    facts: Facts, off: list[Fact], absent: list[Fact], loaded: list[Fact]
) -> Iterator[Finding]:
    drivers = [one for one in facts.of(KernelModule) if one.name in _DRIVERS]
    apart = _built_apart(facts)
    in_use = _is_in_use([*loaded, *drivers])
    clients = _clients(facts, loaded)
    old = _too_old(facts)
    pinned = job.settings(facts, "NCCL_NET_GDR_LEVEL")
    absent = [one for one in absent if _place(one) not in _places(loaded)]
    if absent:
        yield _not_loaded([*off, *absent], 0.85, "it is not among the loaded modules")
    elif loaded and apart:
        yield _attached("gdr-peermem-not-registered", [*off, *loaded, *apart, *clients], 0.9)
    elif loaded and clients and not any(one.name for one in clients) and not (old and in_use):
        yield _attached("gdr-peermem-not-registered", [*off, *loaded, *clients], 0.85)
    elif loaded and in_use is False:
        yield _attached("gdr-peermem-not-registered", [*off, *loaded, *drivers], 0.75)
    elif loaded and old:
        yield _attached("gdr-nccl-too-old", [*off, *loaded, *old], 0.8)
    elif loaded and job.versions(facts):
        sure = 0.55 if in_use else 0.75
        yield _attached("gdr-peermem-not-registered", [*off, *loaded, *drivers], sure)
    elif loaded:
        yield suspected(
            _WITH_MODULE[::-1] if in_use else _WITH_MODULE,
            [*off, *loaded],
            symptom=Symptom.GPUDIRECT_OFF,
            message="GPUDirect RDMA is off although the peer-memory module is loaded",
            advice="see whether the RDMA driver knows the module, and how old NCCL is",
        )
    elif not pinned and _between_hosts(facts) and near.by_way_of_host(facts):
        why = "the library turns ways to the processor, to adapters on the GPU's own switch"
        found = _not_loaded(off, 0.62, why, Severity.WARNING)
        yield replace(found, suspects=_SUSPECTS[1:])
    elif not pinned and _between_hosts(facts):
        yield suspected(
            _SUSPECTS,
            off,
            symptom=Symptom.GPUDIRECT_OFF,
            severity=Severity.WARNING if _could_have_it(facts) else Severity.INFO,
            message="the library says GPUDirect RDMA is off; why, this log does not say",
            advice="collect lsmod and /sys/kernel/mm/memory_peers; some GPUs have no GPUDirect",
        )


def _turned(facts: Facts) -> list[Fact]:
    """Return what the library does that shows it off, where nobody asked for that."""
    if any(job.settings(facts, name) for name in _LEVELS):
        return []
    return near.by_way_of_host(facts) or near.plain_though_near(facts)


def _built_apart(facts: Facts) -> list[ModuleBuilt]:
    """Return the module where its file says that it was built without the RDMA driver."""
    return [
        one for one in facts.of(ModuleBuilt)
        if _is_module(one.name) and not _DRIVERS & set(one.upon)
    ]  # fmt: skip


def _could_have_it(facts: Facts) -> bool:
    """Return whether the GPUs are known to be of a kind that has GPUDirect RDMA."""
    if any("GDR-supported" in one.reason for one in facts.of(GpuDirectState)):
        return True
    gpus = [one.name for one in facts.of(GpuSeen)]
    gpus += [one.gpu_name for one in facts.of(BenchmarkRank)]
    return any(word in " ".join(gpus).lower() for word in _WITH_GPUDIRECT)


def _between_hosts(facts: Facts) -> bool:
    adapters = job.verbs_adapters(facts)
    return not job.on_one_host(facts) and bool(
        not adapters or {one.link_layer for one in adapters} - {LinkLayer.UNKNOWN}
    )


def _attached(cause: str, seen: list[Fact], confidence_ratio: float) -> Finding:
    old = cause == "gdr-nccl-too-old"
    return finding(
        cause,
        seen,
        confidence_ratio,
        message="this NCCL does not know the module by its new name nvidia_peermem"
        if old
        else "the peer-memory module is loaded and not attached to the RDMA driver",
        advice="update NCCL to 2.23 or newer"
        if old
        else "rebuild it against the installed OFED",
        next_command=_LOOK,
        explains=(Symptom.GPUDIRECT_OFF,),
        fault=Fault.GPUDIRECT_OFF,
    )


_SUSPECTS = (
    suspect("gdr-peermem-not-loaded", 0.45),
    suspect("gdr-peermem-not-registered", 0.2),
    suspect("gdr-nccl-too-old", 0.15),
)

_WITH_MODULE = tuple(replace(one, confidence_ratio=_EVEN_RATIO) for one in _SUSPECTS[1:])
"""What is left where the module is loaded."""

gpudirect_off = Rule(
    causes=(
        "gdr-peermem-not-loaded",
        "gdr-peermem-not-registered",
        "gdr-nccl-too-old",
        "gdr-access-blocked",
    ),
    check=_check,
)

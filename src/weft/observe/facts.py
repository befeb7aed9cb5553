"""The vocabulary of things seen on a real cluster; no tool is named here.

A fact is a small frozen record of what one line, or a few lines, of some output said.
It judges nothing: a link that is down is a fact, that this matters is a finding.
Several tools may state the same fact, so a rule needs to know the facts only.

Conventions of all facts:

* text that was not there is ``""``, a number or a truth that was not there is ``None``;
* ``host`` is the host the output came from, ``""`` where the output does not say;
* words of state are those of the InfiniBand specification, whatever the tool writes:
  ``PortState`` and ``PhysicalState`` below;
* names of adapters, interfaces and counters are kept as the machine spells them.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Evidence:
    """The line a fact was read from."""

    file: str
    line: int
    text: str


class Fact(Protocol):
    """Anything seen: every record of this file that has ``evidence``."""

    @property
    def evidence(self) -> Evidence:
        """Say which line it was read from."""


class Clock(StrEnum):
    """What a time counts from (YEAR: new year, where the stamp names no year).

    Times of different clocks, and BOOT times of different hosts, cannot be compared.
    """

    EPOCH = "epoch"
    BOOT = "boot"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Moment:
    """When a line was written, as its own stamp says."""

    time_s: float
    clock: Clock = Clock.EPOCH


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Who wrote a line: one process of a job, as far as the line says."""

    host: str = ""
    pid: int | None = None
    gpu: int | None = None
    rank: int | None = None


NOBODY = Process()


class PortState(StrEnum):
    """Logical state of a port."""

    ACTIVE = "active"
    ARMED = "armed"
    INIT = "init"
    DOWN = "down"
    UNKNOWN = "unknown"


class PhysicalState(StrEnum):
    """Physical state of a port."""

    LINK_UP = "link_up"
    POLLING = "polling"
    DISABLED = "disabled"
    SLEEP = "sleep"
    TRAINING = "training"
    ERROR_RECOVERY = "error_recovery"
    UNKNOWN = "unknown"


class LinkLayer(StrEnum):
    """What runs on an RDMA port."""

    INFINIBAND = "infiniband"
    ETHERNET = "ethernet"
    UNKNOWN = "unknown"


# ---- the communication library of a job ----


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareVersion:
    """A library, driver, firmware or kernel named its version."""

    software: str
    version: str
    built_for: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A variable or option in force; ``origin`` is environment, file, command or program."""

    name: str
    value: str
    origin: str = "environment"
    ignored: bool = False
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapInterface:
    """The interface and address over which the ranks first meet."""

    interface: str
    address: str
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkChosen:
    """The network a rank said it uses: ``IB``, ``Socket``, ``AWS Libfabric``, ..."""

    network: str
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSeen:
    """A plug-in (``role``: net, collnet, tuner, profiler, gin, rma, env) was loaded or not."""

    role: str
    name: str = ""
    loaded: bool
    reason: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRdmaDevice:
    """The library found no RDMA device; by ``cause`` when it says why."""

    cause: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NoVerbsLibrary:
    """The verbs library could not be opened."""

    library: str = "libibverbs"
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSocketInterface:
    """No interface was found to meet the other ranks on."""

    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterChosen:
    """An adapter port, or an IP interface, that the library uses; ``index`` is its NET number.

    A device made of several (``parts``) is one adapter here.
    """

    index: int | None
    adapter: str
    port: int | None = None
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    sharp: bool = False
    parts: tuple[str, ...] = ()
    rate_bytes_per_s: float | None = None
    rail: int | None = None
    plane: int | None = None
    address: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOpenFailed:
    """An adapter or its device node could not be opened."""

    adapter: str = ""
    path: str = ""
    errno: int | None = None
    error: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOpened:
    """An adapter could be opened by a probe."""

    adapter: str
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuDirectState:
    """Whether an adapter may reach GPU memory directly, by the library's own word."""

    enabled: bool
    network: str = ""
    adapter: str = ""
    index: int | None = None
    reason: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DmaBufAvailable:
    """The GPU driver offers its memory as a DMA buffer."""

    gpu: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChosen:
    """The fabric provider a plug-in selected."""

    provider: str
    fabric: str = ""
    adapters: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NoProvider:
    """A plug-in found no fabric provider it can use."""

    provider: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionError:
    """A work request ended in error; ``status`` is the verbs work-completion status.

    ``library`` tells whose queue it was; ``direction`` is send or receive.
    """

    status: int
    vendor_error: int | None = None
    opcode: int | None = None
    size_bytes: int | None = None
    direction: str = ""
    peer: str = ""
    local_gid: str = ""
    remote_gid: str = ""
    adapter: str = ""
    port: int | None = None
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    lid: int | None = None
    library: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """A call into verbs, sockets, the GPU or the system failed."""

    call: str
    errno: int | None = None
    error: str = ""
    adapter: str = ""
    port: int | None = None
    state: str = ""
    next_state: str = ""
    gid_index: int | None = None
    local_gid: str = ""
    remote_gid: str = ""
    size_bytes: int | None = None
    peer: str = ""
    library: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterEvent:
    """An asynchronous event of an adapter: port error, catastrophic error, GID change, ...

    ``on`` is ``port``, ``device``, ``qp``, ``cq`` or ``srq``; ``event`` is in lower case.
    """

    event: str
    on: str = "device"
    adapter: str = ""
    port: int | None = None
    fatal: bool = False
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPath:
    """How two ranks of a job reach one another on a channel; channels alike are stated once.

    ``transport`` is ``P2P``, ``SHM``, ``NET`` or ``COLLNET``; NET sets ``network`` and
    ``device``; ``detail`` is the rest (``IPC/read``, ``CUMEM``, ``direct``).
    ``source`` and ``target`` are ranks.
    """

    source: int
    target: int
    transport: str
    network: str = ""
    device: int | None = None
    gpudirect: bool = False
    via_peer_gpu: bool = False
    direction: str = ""
    detail: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RingSeen:
    """The order of the ranks in the ring of one channel."""

    channel: int
    ranks: tuple[int, ...]
    complete: bool = True
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSeen:
    """One rank's place in the tree of one channel: below, itself, above; -1 is nobody."""

    channel: int
    rank: int
    children: tuple[int, ...]
    parent: int
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCount:
    """How many channels of each sort a communicator has."""

    collective: int
    collnet: int = 0
    nvls: int = 0
    point_to_point: int = 0
    per_peer: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicatorRank:
    """A rank joined a communicator (``complete``) or began to."""

    rank: int
    ranks: int
    communicator: str = ""
    gpu: int | None = None
    bus_id: str = ""
    complete: bool = False
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicatorShape:
    """How the ranks of a communicator lie on hosts; with one host the network is not used."""

    ranks: int | None = None
    hosts: int | None = None
    local_ranks: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    multi_host_scale_up: bool | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class InitTiming:
    """How long a communicator took to be made, and in which part."""

    total_s: float
    part_s: tuple[tuple[str, float], ...] = ()
    rank: int | None = None
    ranks: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmChosen:
    """The algorithm and protocol the library chose for a size."""

    operation: str
    algorithm: str
    protocol: str
    size_bytes: int | None = None
    channels: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyPart:
    """One line of the machine as the library sees it: a node and the link that leads to it.

    ``kind`` is GPU, NIC, NET, CPU, PCI, NVS; ``link`` is PCI, NVL, SYS, ...
    """

    depth: int
    kind: str
    name: str
    link: str = ""
    link_bytes_per_s: float | None = None
    rank: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RingsConnected:
    """What is connected (rings or trees), through peer GPUs or not, with GPUDirect or not."""

    what: str
    via_peer_gpu: bool | None = None
    gpudirect: bool | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemoryFailed:
    """A segment of shared memory could not be made or opened."""

    segment: str = ""
    size_bytes: int | None = None
    errno: int | None = None
    error: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateGpu:
    """Two ranks use one GPU."""

    rank: int
    other_rank: int
    gpu: str
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuCallFailed:
    """A call of the GPU runtime or management library failed (802: not yet initialised)."""

    error: str
    code: int | None = None
    call: str = ""
    place: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUpFabricState:
    """A GPU's place in a scale-up fabric of several hosts."""

    cluster_uuid: str = ""
    clique: str = ""
    state: str = ""
    status: str = ""
    gpu: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class InNetworkReduction:
    """In-network reduction was made ready or refused, with the library's reason and code."""

    available: bool
    reason: str = ""
    code: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedMessage:
    """A rank received more bytes than it expected."""

    received_bytes: int
    expected_bytes: int
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A line a program wrote that is no other fact; ``level`` is error, warning or info.

    ``software`` is who wrote it, ``place`` is the file and line in its source.
    """

    software: str
    level: str
    text: str
    place: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicatorHealth:
    """How the ranks of a job stand, by the library's own watch."""

    ranks: int | None = None
    hosts: int | None = None
    missing_ranks: int | None = None
    status: str = ""
    errors: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveCall:
    """A collective a rank began or reached; ``sequence`` counts them in a communicator."""

    operation: str
    sequence: int
    elements: int | None = None
    datatype: str = ""
    communicator: str = ""
    state: str = ""
    shape: str = ""
    group: str = ""
    stack: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


# ---- the job ----


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveTimeout:
    """The watch over collectives gave one up."""

    operation: str
    sequence: int | None = None
    elements_in: int | None = None
    elements_out: int | None = None
    timeout_s: float | None = None
    ran_s: float | None = None
    group: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadAt:
    """What the main thread of a Python process does, by its stack.

    ``kind`` is "collective", "storage", "loader" (the next batch) or "other".
    """

    kind: str
    function: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkProgress:
    """How far a rank had got in its row of collectives."""

    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCall:
    """What one rank was running."""

    rank: int
    operation: str
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveMismatch:
    """Ranks ran different collectives at the same place."""

    calls: tuple[RankCall, ...] = ()
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded:
    """A process died: ``how`` is oom, signal, segfault or exit.

    ``by_kernel`` where the kernel's log tells it, which tells of every process of a host; the
    rest is told by the job, its launcher or its scheduler.
    """

    how: str
    pid: int | None = None
    name: str = ""
    signal: int | None = None
    exit_code: int | None = None
    rank: int | None = None
    by_kernel: bool = False
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFailed:
    """Reading or writing a file failed (28: no space left; 122: quota; 5: input or output)."""

    errno: int | None = None
    error: str = ""
    path: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command somebody typed before the output, with the host of the prompt."""

    command: str
    host: str = ""
    evidence: Evidence


# ---- benchmarks ----


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """A benchmark began, with its options as it prints them."""

    benchmark: str
    operation: str = ""
    version: str = ""
    ranks: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRank:
    """Where one rank of a benchmark ran."""

    rank: int
    host: str
    pid: int | None = None
    gpu: int | None = None
    bus_id: str = ""
    gpu_name: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCollective:
    """One row of a collective benchmark; bandwidths are None where the row has none."""

    operation: str
    size_bytes: int
    time_s: float
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    in_place: bool = False
    elements: int | None = None
    datatype: str = ""
    reduction: str = ""
    root: int | None = None
    wrong: int | None = None
    ranks: int | None = None
    times_s: tuple[float, ...] = ()
    """Of single iterations, where the benchmark timed each."""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkSummary:
    """What a collective benchmark concluded; the mean over the whole sweep judges little."""

    average_busbw_bytes_per_s: float | None = None
    out_of_bounds: int | None = None
    ok: bool | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferSetup:
    """How a point-to-point benchmark was set up."""

    operation: str = ""
    adapter: str = ""
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    mtu_bytes: int | None = None
    gid_index: int | None = None
    connection: str = ""
    queue_pairs: int | None = None
    gpu_memory: bool | None = None
    connection_manager: bool | None = None
    local_gid: str = ""
    remote_gid: str = ""
    local_lid: int | None = None
    remote_lid: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTransfer:
    """One row of a point-to-point bandwidth benchmark."""

    operation: str
    size_bytes: int
    average_bytes_per_s: float
    peak_bytes_per_s: float | None = None
    messages_per_s: float | None = None
    iterations: int | None = None
    streams: int | None = None
    """TCP connections that it went over, where it was TCP."""
    benchmark: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLatency:
    """One row of a point-to-point or collective latency benchmark."""

    operation: str
    size_bytes: int
    average_s: float
    typical_s: float | None = None
    minimum_s: float | None = None
    maximum_s: float | None = None
    deviation_s: float | None = None
    p99_s: float | None = None
    p999_s: float | None = None
    iterations: int | None = None
    benchmark: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCopy:
    """One cell of a memory-copy benchmark: from where to where, at what rate."""

    test: str
    source: str
    target: str
    bytes_per_s: float | None = None
    latency_s: float | None = None
    evidence: Evidence


# ---- GPUs ----


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSeen:
    """A GPU of a host."""

    name: str = ""
    index: int | None = None
    uuid: str = ""
    bus_id: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuUnreachable:
    """The driver cannot talk to a GPU."""

    bus_id: str = ""
    error: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuThrottle:
    """Whether a GPU's clocks are held down for a reason (``sw_thermal_slowdown``, ...)."""

    gpu: str
    reason: str
    active: bool
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """A value a GPU reports: clocks in Hz, power in W, temperature in °C, use as a ratio.

    ``name`` is ``sm_clock``, ``sm_clock_max``, ``temperature``, ``power_draw``,
    ``power_limit``, ``ecc_uncorrectable``, ``ecc_correctable``, ``utilisation``,
    ``memory_used``, ``bar1_total``, ...
    """

    gpu: str
    name: str
    value: float | None
    unit: str = ""
    text: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class RemappedRows:
    """The state of a GPU memory's row remapping."""

    gpu: str
    correctable: int | None = None
    uncorrectable: int | None = None
    pending: bool | None = None
    failed: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLink:
    """One scale-up link of a GPU; ``link`` is None when the line speaks of all its links."""

    gpu: str
    gpu_name: str = ""
    link: int | None
    active: bool
    rate_bytes_per_s: float | None = None
    supported: bool = True
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLinkErrors:
    """An error counter of one scale-up link of a GPU."""

    gpu: str
    link: int | None
    counter: str
    value: int
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How two devices of a host are joined: NV4, PIX, PXB, PHB, NODE, SYS.

    ``source`` and ``target`` are ``GPU0`` and adapter names when the legend gives them.
    """

    source: str
    target: str
    connection: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NumaAffinity:
    """The processors and NUMA domain of a device."""

    device: str
    cpus: str = ""
    numa: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFault:
    """The driver's error code of a GPU (48, 63, 74, 79, 94, 119, ...)."""

    code: int
    bus_id: str = ""
    text: str = ""
    pid: int | None = None
    process_name: str = ""
    link: int | None = None
    fatal: bool | None = None
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUpSwitchFault:
    """The driver's error code of a scale-up switch."""

    code: int
    switch: str = ""
    bus_id: str = ""
    fatal: bool | None = None
    link: int | None = None
    text: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleUpPartition:
    """A partition of a scale-up switch fabric."""

    partition: int
    gpus: int | None = None
    active: bool | None = None
    physical_ids: tuple[int, ...] = ()
    host: str = ""
    evidence: Evidence


# ---- the host ----


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule:
    """A loaded kernel module and what uses it."""

    name: str
    used_by: tuple[str, ...] = ()
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleAbsent:
    """Somebody looked for a kernel module among the loaded and found none."""

    name: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRefused:
    """The kernel refused a module: ``reason`` is the text, ``symbol`` an unknown symbol."""

    name: str
    reason: str
    symbol: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureBoot:
    """Whether the firmware checks signatures of the kernel."""

    enabled: bool
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerMemoryClient:
    """A client of the kernel's peer-memory interface; ``""`` when there is none."""

    name: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of a process (``memlock``, ``nofile``, ...); None is unlimited."""

    name: str
    limit: int | None
    soft: bool = True
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Filesystem:
    """How full a file system is."""

    mount: str
    device: str = ""
    size_bytes: int | None = None
    used_bytes: int | None = None
    free_bytes: int | None = None
    used_ratio: float | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemory:
    """A line of the kernel's account of memory (``CmaTotal``, ``MemAvailable``)."""

    name: str
    size_bytes: int
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNode:
    """A device node, or one that is not there."""

    path: str
    mode: str = ""
    owner: str = ""
    present: bool = True
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """A service of the host: active, failed, inactive."""

    service: str
    state: str
    text: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PciDevice:
    """A device on the PCI bus; ``gone`` when it answers with all ones."""

    bus_id: str
    kind: str = ""
    name: str = ""
    revision: str = ""
    driver: str = ""
    gone: bool = False
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieLink:
    """The trained and the possible width and speed of a PCI Express link."""

    device: str
    name: str = ""
    lanes: int | None = None
    max_lanes: int | None = None
    transfers_per_s: float | None = None
    max_transfers_per_s: float | None = None
    downgraded: bool = False
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieAccessControl:
    """The access control of a PCI bridge; redirection sends peer traffic up to the root."""

    device: str
    name: str = ""
    source_validation: bool | None = None
    request_redirect: bool | None = None
    completion_redirect: bool | None = None
    upstream_forwarding: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PcieError:
    """The kernel reported an error of a PCI Express link or an I/O memory fault."""

    device: str
    severity: str = ""
    kind: str = ""
    text: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class IommuState:
    """Whether the I/O memory unit translates (``on``), passes through or is off."""

    state: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterFault:
    """The kernel's complaint about an adapter.

    ``kind`` is health, command, reset, power, temperature, keys (memory keys used up), timeout.
    """

    kind: str
    device: str = ""
    text: str = ""
    command: str = ""
    status: str = ""
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CableEvent:
    """A cable or transceiver was plugged, unplugged or refused."""

    device: str
    module: int | None
    event: str
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkEvent:
    """A link of an interface or port went up or down."""

    interface: str
    up: bool
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


# ---- adapters, ports and interfaces ----


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterSeen:
    """An RDMA adapter of a host."""

    adapter: str
    kind: str = ""
    firmware: str = ""
    guid: str = ""
    bus_id: str = ""
    numa: int | None = None
    ports: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterPort:
    """The state of one port of an RDMA adapter."""

    adapter: str
    port: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    rate_bytes_per_s: float | None = None
    rate_text: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    guid: str = ""
    gid: str = ""
    active_mtu_bytes: int | None = None
    max_mtu_bytes: int | None = None
    interface: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterInterface:
    """The network interface that belongs to an adapter's port."""

    adapter: str
    port: int
    interface: str
    up: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Gid:
    """One entry of a port's GID table; ``version`` is 1 or 2 on RoCE, None on InfiniBand."""

    adapter: str
    port: int
    index: int
    gid: str
    version: int | None = None
    ipv4: str = ""
    interface: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GidCount:
    """How many entries a host's GID tables have, as a tool counted them."""

    entries: int
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionKey:
    """One entry of a port's table of partition keys; bit 15 is full membership."""

    index: int
    key: int
    full: bool
    adapter: str = ""
    port: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkTraining:
    """What a port supports, is allowed and trained to; widths in lanes, speeds in a lane."""

    where: str
    port: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    width_supported: int | None = None
    width_enabled: int | None = None
    width_active: int | None = None
    lane_bytes_per_s_supported: float | None = None
    lane_bytes_per_s_enabled: float | None = None
    lane_bytes_per_s_active: float | None = None
    fec: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleReading:
    """What the optical module or cable of a port reports of itself.

    ``name`` is ``temperature`` (°C), ``voltage`` (V), ``bias`` (A), ``tx_power`` or
    ``rx_power`` (W); ``lane`` counts from 1. ``alarm`` is the module's own judgement: high,
    low or none.
    """

    interface: str
    name: str
    value: float | None = None
    lane: int | None = None
    alarm: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter:
    """A counter of a port, device or queue.

    ``where`` is the device, interface or node; ``name`` is the kernel's spelling of the counter
    (``symbol_error``, ``out_of_sequence``, ``rx_prio3_pause``) where there is one.
    ``saturated`` when the counter stands at the end of its range. ``sample`` and ``sampled_s``
    (seconds since 1970) tell readings of one counter apart, where a bundle holds several.
    """

    where: str
    name: str
    value: int
    port: int | None = None
    on_switch: bool = False
    saturated: bool = False
    sample: int | None = None
    sampled_s: float | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A network interface with what is known of it.

    ``possible_bytes_per_s`` is the highest rate its adapter supports. ``enabled`` is whether
    it may be up, as configured; ``reason`` why it is down all the same, in the words of the
    switch or host.
    """

    interface: str
    up: bool | None = None
    carrier: bool | None = None
    mtu_bytes: int | None = None
    rate_bytes_per_s: float | None = None
    possible_bytes_per_s: float | None = None
    addresses: tuple[str, ...] = ()
    kind: str = ""
    fec: str = ""
    driver: str = ""
    enabled: bool | None = None
    reason: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One entry of a routing table."""

    destination: str
    interface: str
    via: str = ""
    metric: int | None = None
    source: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReached:
    """Whether another host answers to an echo request (``ping``).

    ``whole`` when the request may not be taken apart on the way; ``mtu_bytes`` is what a hop,
    or the host itself, said that it can pass on.
    """

    target: str
    address: str = ""
    sent: int
    received: int
    size_bytes: int | None = None
    whole: bool = False
    mtu_bytes: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketFilter:
    """What a host's packet filter does with packets that come in: ACCEPT, DROP, REJECT."""

    chain: str
    policy: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Who is at the other end of an interface's cable."""

    interface: str
    system: str
    port: str = ""
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PciAddress:
    """The PCI address and NUMA domain of an adapter or interface."""

    device: str
    bus_id: str
    numa: int | None = None
    host: str = ""
    evidence: Evidence


# ---- quality of service ----


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustState:
    """Whether a port sorts packets by DSCP or by 802.1p (``pcp``)."""

    interface: str
    trust: str
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSetting:
    """The priorities with PFC on a port, and whether plain (global) pause is on."""

    interface: str
    priorities: tuple[int, ...] = ()
    global_receive: bool | None = None
    global_send: bool | None = None
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DscpPriority:
    """The priority or traffic class that packets of some DSCP values get."""

    interface: str
    priority: int
    dscp: tuple[int, ...]
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClass:
    """A traffic class: its priorities and how it is served."""

    interface: str
    traffic_class: int
    priorities: tuple[int, ...] = ()
    scheduler: str = ""
    share_ratio: float | None = None
    host: str = ""
    on_switch: bool = False
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class EcnSetting:
    """Where a queue starts marking packets and where it marks all."""

    name: str
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    pmax_ratio: float | None = None
    enabled: bool | None = None
    host: str = ""
    on_switch: bool = True
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSetting:
    """A buffer profile or pool of a switch, or a receive buffer of an adapter."""

    name: str
    size_bytes: int | None = None
    xoff_bytes: int | None = None
    xon_bytes: int | None = None
    alpha_ratio: float | None = None
    lossless: bool | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseWatchdog:
    """What the PFC watchdog saw on a queue; storms are counted."""

    port: str
    queue: int | None
    status: str = ""
    storms_detected: int | None = None
    storms_restored: int | None = None
    dropped_packets: int | None = None
    host: str = ""
    evidence: Evidence


# ---- the InfiniBand fabric ----


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricLink:
    """A cable of the fabric, from one end; the other is ``""`` when nothing answers there."""

    guid: str
    name: str
    port: int
    lid: int | None = None
    state: PortState = PortState.UNKNOWN
    physical_state: PhysicalState = PhysicalState.UNKNOWN
    lanes: int | None = None
    lane_bytes_per_s: float | None = None
    peer_guid: str = ""
    peer_name: str = ""
    peer_port: int | None = None
    peer_lid: int | None = None
    could_be_lanes: int | None = None
    could_be_lane_bytes_per_s: float | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricNode:
    """A switch, adapter or router of the fabric."""

    kind: str
    guid: str
    name: str
    ports: int | None = None
    lid: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetManager:
    """A subnet manager and its state (``master``, ``standby``, ``none``)."""

    state: str
    lid: int | None = None
    guid: str = ""
    priority: int | None = None
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricCheck:
    """A stage of a check of the whole fabric, with its warnings and errors."""

    stage: str
    warnings: int | None = None
    errors: int | None = None
    text: str = ""
    evidence: Evidence


# ---- Kubernetes and schedulers ----


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResource:
    """How much of a resource a node has, offers and has given away."""

    resource: str
    node: str = ""
    capacity: int | None = None
    allocatable: int | None = None
    allocated: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePod:
    """A pod that a node's description lists; ``listed_count`` is how many it says there are."""

    pod: str
    namespace: str
    node: str = ""
    listed_count: int
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResource:
    """What a container of a pod asks for."""

    pod: str
    resource: str
    request: int | None = None
    limit: int | None = None
    container: str = ""
    node: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodState:
    """How a pod or its container stands."""

    pod: str
    phase: str
    reason: str = ""
    exit_code: int | None = None
    restarts: int | None = None
    container: str = ""
    node: str = ""
    address: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodInterface:
    """A network interface of a pod, as its status states."""

    pod: str
    interface: str
    network: str = ""
    addresses: tuple[str, ...] = ()
    default: bool | None = None
    device: str = ""
    node: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSecurity:
    """The rights of a container that RDMA needs."""

    pod: str
    container: str = ""
    capabilities: tuple[str, ...] = ()
    privileged: bool | None = None
    host_network: bool | None = None
    shared_memory_bytes: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent:
    """An event of the orchestrator; ``shortage`` names resources that were insufficient."""

    reason: str
    message: str
    kind: str = ""
    subject: str = ""
    warning: bool | None = None
    shortage: tuple[str, ...] = ()
    count: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    """A condition of a node (Ready, MemoryPressure, ...)."""

    node: str
    condition: str
    status: str
    reason: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSetState:
    """How many pods a daemon set wants and has."""

    name: str
    desired: int
    ready: int
    namespace: str = ""
    evidence: Evidence


# ---- what came after ----


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSeen:
    """The last line that shows a program at work: a step of training, a result, an answer.

    ``kind`` is step, result, ping, connected, serving, passed or ended; ``peer`` is who was
    reached.
    """

    kind: str
    peer: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Somebody's word on what stands above it: ``says`` is meant (done on purpose) or over."""

    says: str
    evidence: Evidence


# ---- what reading gave ----


@dataclass(frozen=True, slots=True)
class Complaint:
    """A line that no parser understood and that tells of trouble, of these kinds."""

    troubles: tuple[str, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Opening:
    """How a text begins, understood or not, its long lines cut; blank lines are kept.

    ``read_ratio`` is the share of its lines that some parser understood.
    """

    text: str
    evidence: Evidence
    read_ratio: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """How much of one file was understood.

    ``complaints`` are the first lines that were not, and that tell of trouble; ``opening`` is
    how the file begins, understood or not, its long lines cut.
    """

    file: str
    lines: int
    blank: int
    unread: int
    tools: tuple[tuple[str, int], ...] = ()
    first_unread: tuple[Evidence, ...] = field(default=())
    complaints: tuple[Complaint, ...] = field(default=())
    opening: str = field(default="", repr=False)
    left_out: int = 0
    skipped: str = ""

    @property
    def read_ratio(self) -> float:
        """Return the share of the lines with text that some parser understood."""
        full = self.lines - self.blank
        return 1.0 - self.unread / full if full else 1.0

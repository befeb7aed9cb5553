"""GPUs with their links and faults, and the scale-up fabric between them."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, Moment, Process


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
class GpuCallFailed:
    """A call of the GPU runtime or management library failed (802: not yet initialised)."""

    error: str
    code: int | None = None
    call: str = ""
    place: str = ""
    process: Process = NOBODY
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

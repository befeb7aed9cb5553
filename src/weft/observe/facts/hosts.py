"""A host's kernel modules, limits, memory, files and services."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule:
    """A loaded kernel module and what uses it."""

    name: str
    used_by: tuple[str, ...] = ()
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleBuilt:
    """The modules that a kernel module was built upon, as its file says."""

    name: str
    upon: tuple[str, ...]
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
class NameResolved:
    """The address that a host finds for a name."""

    name: str
    address: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Uptime:
    """How long a host has been up: its counters are hardly older."""

    up_s: float
    host: str = ""
    evidence: Evidence

"""What a communication library found to talk over, chose and could not open."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, LinkLayer, Process


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
class InNetworkReduction:
    """In-network reduction was made ready or refused, with the library's reason and code."""

    available: bool
    reason: str = ""
    code: int | None = None
    process: Process = NOBODY
    evidence: Evidence

"""The communicators of a job: their ranks, channels, rings, trees and algorithms."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, Process


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
    ``model`` is vendor and device of one on the PCI bus, as ``1000:c030``.
    """

    depth: int
    kind: str
    name: str
    model: str = ""
    link: str = ""
    link_bytes_per_s: float | None = None
    rank: int | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyPath:
    """The way that the library would take from a GPU to a network device, over ``hops`` links.

    ``connection`` is its worst part: PIX, PXB, PXN, PHB, SYS, ...; source and target are named
    as in ``TopologyPart``.
    """

    source: str
    target: str
    connection: str
    hops: int
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
class DuplicateGpu:
    """Two ranks use one GPU."""

    rank: int
    other_rank: int
    gpu: str
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

"""Benchmarks of collectives, transfers and copies: set-up, rows and sums."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, LinkLayer


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

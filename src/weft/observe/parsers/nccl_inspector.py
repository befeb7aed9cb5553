"""NCCL Inspector: one JSON record a collective, rank and communicator."""

from collections.abc import Iterable
from typing import Any

from weft.observe.facts.base import Evidence, Fact, Process
from weft.observe.facts.benchmarks import MeasuredCollective
from weft.observe.facts.communicators import CommunicatorShape
from weft.observe.parser import Parser, Source

_MICRO = 1e-6
_GIGA = 1e9
_OPERATIONS = {
    "AllReduce": "all_reduce",
    "AllGather": "all_gather",
    "ReduceScatter": "reduce_scatter",
    "Broadcast": "broadcast",
    "Reduce": "reduce",
    "AllToAll": "alltoall",
    "Send": "sendrecv",
    "Recv": "sendrecv",
}


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict) or not isinstance(value.get("header"), dict):
        return None
    perf = value.get("coll_perf") or value.get("p2p_perf")
    if not isinstance(perf, dict):
        return None
    header: dict[str, Any] = value["header"]
    found = value.get("metadata")
    metadata: dict[str, Any] = found if isinstance(found, dict) else {}
    process = Process(
        host=str(metadata.get("hostname", "")),
        pid=_whole(metadata.get("pid")),
        rank=_whole(header.get("rank")),
    )
    name = str(perf.get("coll") or perf.get("p2p") or "")
    prefix = "coll" if "coll_perf" in value else "p2p"
    size = _whole(perf.get(f"{prefix}_msg_size_bytes"))
    time_us = _real(perf.get(f"{prefix}_exec_time_us"))
    ranks = _whole(header.get("n_ranks"))
    evidence = Evidence(source.file, number, f"{name} {size} B of rank {process.rank}")
    shape = CommunicatorShape(
        ranks=ranks, hosts=_whole(header.get("nnodes")), rank=process.rank, process=process,
        evidence=evidence,
    )  # fmt: skip
    if size is None or time_us is None or time_us <= 0:
        return [shape]
    return [shape, _measured(perf, prefix, name, size, time_us, ranks, evidence)]


def _measured(  # noqa: PLR0917 - of one record
    perf: dict[str, Any], prefix: str, name: str, size: int, time_us: float, ranks: int | None,
    evidence: Evidence,
) -> MeasuredCollective:  # fmt: skip
    algbw, busbw = (_real(perf.get(f"{prefix}_{one}bw_gbs")) for one in ("algo", "bus"))
    return MeasuredCollective(
        operation=_OPERATIONS.get(name, name.lower()),
        size_bytes=size,
        time_s=time_us * _MICRO,
        algbw_bytes_per_s=None if algbw is None else algbw * _GIGA,
        busbw_bytes_per_s=None if busbw is None else busbw * _GIGA,
        ranks=ranks,
        evidence=evidence,
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _real(value: object) -> float | None:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if numeric else None  # type: ignore[arg-type]  # a number, as tested


nccl_inspector = Parser(tool="NCCL Inspector", document=_document)

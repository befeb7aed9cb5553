"""Rows of ep_alltoall: dispatch and combine of a mixture of experts, as an all-to-all.

Libraries for experts send a token once to each host and copy it there, so what a host
receives is what an all-to-all of (token, host) pairs carries. The bandwidth that they print
counts pairs that stay on the own host as well: it is the algbw of that all-to-all. Kernels
of low latency post every (token, expert) pair to the NIC themselves.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from weft.accuracy.kind import IN_THE_FIT, LeftOut, Row, Score, row_by_row
from weft.accuracy.rows.collective import Case, case_of
from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.point_to_point import Link, direct_exchange
from weft.errors import SpecError
from weft.results import Estimate
from weft.units import rate_from_gbit

GROUPS: Final = 4
"""Hosts that a token of DeepSeek-V3 reaches at most, as these benchmarks send it."""
_PER_HOST: Final = 8
_ARCHITECTURES: Final = (("sm100", "B200"), ("sm90", "H100"))
_FORMATS: Final = {"fp8": 1.0, "bf16": 2.0}
_GENERATIONS: Final = {"hdr": "200", "ndr": "400", "xdr": "800"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One dispatch or combine: an all-to-all, and which of its figures is measured."""

    case: Case
    size_bytes: float
    time_s: float | None
    algbw_bytes_per_s: float | None
    nic_bytes_per_s: float
    """Of one GPU."""
    leaving_ratio: float | None
    """Of a kernel of low latency: the share of its pairs that the NIC carries."""


def score(kind: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score dispatch and combine of DeepEP, UCCL-EP and their like."""
    return row_by_row(kind, tables.get("ep_alltoall", []), partial(_scored, kind))


def _scored(kind: str, row: Row) -> Score:
    exchange = exchange_of(row)
    case, size_bytes = exchange.case, exchange.size_bytes
    time_s = _time_s(exchange)
    found, measured, quantity = time_s, exchange.time_s, "time_s"
    if measured is None:
        assert exchange.algbw_bytes_per_s is not None
        found, measured = time_s.map(lambda t: size_bytes / t), exchange.algbw_bytes_per_s
        quantity = "algbw_bytes_per_s"
    kernel = "low latency" if "low-latency" in (row.get("pattern") or "").lower() else "normal"
    own = kernel == "low latency" and "deepep" in (row.get("library") or "").lower()
    labels = {
        **case.labels, "library": row.get("library") or "", "phase": row.get("phase") or "",
        "kernel": kernel, "health": IN_THE_FIT if own else "reference",
    }  # fmt: skip
    return Score.of(
        found, kind=kind, row=row.get("row_id") or "", site=case.site, labels=labels,
        quantity=quantity, measured=measured, healthy=not own,
    )  # fmt: skip


def _time_s(exchange: Exchange) -> Estimate:
    case, size_bytes = exchange.case, exchange.size_bytes
    if exchange.leaving_ratio is None:
        return collective_time(case.cluster, case.operation, size_bytes, case.group).time_s
    link = Link(fabric=case.cluster.fabric.kind, bytes_per_s=exchange.nic_bytes_per_s)
    return direct_exchange(link, size_bytes, exchange.leaving_ratio)


def exchange_of(row: Row) -> Exchange:
    """Turn a row into an all-to-all; raise when a fact is missing or it is none."""
    if "raw" in (row.get("library") or "").lower():
        raise SpecError("a raw RDMA test by message size: no library that is modelled")
    ranks = _whole(row, "ep_ranks", "ranks")
    alone = "low-latency" in (row.get("pattern") or "").lower()
    hosts = max(1, -(-ranks // _PER_HOST))
    case = _case(row, ranks, hosts)
    copies = _whole(row, "topk", "experts of a token", 8) if alone else min(GROUPS, hosts)
    size_bytes = float(
        _whole(row, "tokens_per_rank", "tokens of a rank", 4096)
        * _whole(row, "hidden", "width of the model", 7168)
        * copies * _format_bytes(row)
    )  # fmt: skip
    time_us, gb_per_s = _figure(row, "latency_us"), _figure(row, "bandwidth_GBps")
    if gb_per_s is None and time_us is None:
        raise SpecError("neither latency nor bandwidth")
    wanted = alone and time_us is not None
    return Exchange(
        case=case, size_bytes=size_bytes,
        time_s=time_us * 1e-6 if wanted and time_us else None,
        algbw_bytes_per_s=None if wanted or gb_per_s is None else gb_per_s * 1e9,
        nic_bytes_per_s=_nic_bytes_per_s(row),
        leaving_ratio=_leaving(row, ranks) if alone else None,
    )  # fmt: skip


def _leaving(row: Row, ranks: int) -> float | None:
    """Return the share of pairs that leave the GPU by its NIC; none when none does."""
    inside = "also inside a node" in (row.get("notes") or "").lower()
    near = 1 if inside else min(ranks, _PER_HOST)
    return (ranks - near) / ranks or None


def _case(row: Row, ranks: int, hosts: int) -> Case:
    gpu = row.get("gpu") or ""
    gpu = next((name for word, name in _ARCHITECTURES if word in gpu.lower()), gpu)
    count, gbit = _nics(row)
    return case_of({
        "op": "alltoall", "gpus": str(ranks), "nodes": str(hosts), "gpu": gpu,
        "fabric": row.get("fabric") or "", "nics_per_node": str(count), "nic_gbps": gbit,
        "system": row.get("system") or "", "health": "reference",
        "run_id": row.get("row_id") or "",
    })  # fmt: skip


def _nic_bytes_per_s(row: Row) -> float:
    count, gbit = _nics(row)
    return rate_from_gbit(float(gbit)) * count / _PER_HOST


def _nics(row: Row) -> tuple[int, str]:
    text = f"{row.get('nic') or ''}".lower()
    counted = re.search(r"(\d+)\s*x\s*(\d+)\s*g", text)
    if counted and "per gpu" not in text.partition("(")[0]:
        return int(counted[1]), counted[2]
    alone = re.search(r"(\d+)\s*g\b", text)
    if alone:
        return _PER_HOST, alone[1]
    fabric = (row.get("fabric") or "").lower()
    for word, gbit in _GENERATIONS.items():
        if word in fabric:
            return _PER_HOST, gbit
    if "nvlink" in fabric:
        return _PER_HOST, "400"
    raise SpecError("number or rate of NICs not stated")


def _format_bytes(row: Row) -> float:
    text = (row.get("precision") or "").lower()
    for word, size_bytes in _FORMATS.items():
        if word in text:
            return size_bytes
    raise SpecError(f"number format not stated ({text or 'empty'})")


def _whole(row: Row, key: str, what: str, default: int | None = None) -> int:
    figure = _figure(row, key)
    if figure is None and default is not None and not row.get(key):
        return default
    if figure is None or not 1 <= figure <= 1 << 24:
        raise SpecError(f"{what} not stated ({row.get(key) or 'empty'})")
    return int(figure)


def _figure(row: Row, key: str) -> float | None:
    try:
        found = float(row.get(key) or "")
    except ValueError:
        return None
    return found if 0 < found < float("inf") else None

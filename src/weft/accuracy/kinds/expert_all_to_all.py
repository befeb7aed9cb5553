"""Dispatch and combine of mixtures of experts: DeepEP, UCCL-EP and their like."""

from collections.abc import Iterator, Mapping

from weft.accuracy.kind import IN_THE_FIT, Kind, LeftOut, Row, Score, row_by_row
from weft.accuracy.rows.experts import Exchange, exchange_of
from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.point_to_point import Link, direct_exchange
from weft.results import Estimate

_NAME = "expert_all_to_all"


def _score(tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    return row_by_row(_NAME, tables.get("ep_alltoall", []), _scored)


def _scored(row: Row) -> Score:
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
        found, kind=_NAME, row=row.get("row_id") or "", site=case.site, labels=labels,
        quantity=quantity, measured=measured, healthy=not own,
    )  # fmt: skip


def _time_s(exchange: Exchange) -> Estimate:
    case, size_bytes = exchange.case, exchange.size_bytes
    if exchange.leaving_ratio is None:
        return collective_time(case.cluster, case.operation, size_bytes, case.group).time_s
    link = Link(fabric=case.cluster.fabric.kind, bytes_per_s=exchange.nic_bytes_per_s)
    return direct_exchange(link, size_bytes, exchange.leaving_ratio)


expert_all_to_all = Kind(
    title="All-to-all of experts",
    files=("ep_alltoall",),
    score=_score,
    groups_by=("library", "kernel", "phase", "fabric", "gpu", "scale"),
)

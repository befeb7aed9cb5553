"""Rows of nccl_runs, nccl_points and nccl_summary as clusters and groups of weft.

Published rows name things freely ("H100-80GB-SXM", "EFA (SRD/Ethernet)"): the tables here
say which words stand for what. A row that lacks a fact the model needs is left out, with the
reason.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft import catalogue, units
from weft.accuracy.kind import LeftOut, Row, Score, is_holding_out, row_by_row
from weft.accuracy.rows.words import meant, read, table
from weft.engines.analytic.collective import collective_time, constants
from weft.engines.analytic.collective.tuning import gpu_class
from weft.errors import SpecError, WeftError
from weft.results import Estimate
from weft.spec.cluster import Cluster, FabricChoice, Host, Nccl, ScaleUp
from weft.traffic.collective import Group, Operation

LARGE_BYTES: Final = 64 * 2**20
HEALTHY: Final = frozenset({"reference", "tuned", "fixed"})

_OWN_RATE: Final[Mapping[str, float]] = {"a800": 200e9, "h800": 200e9}
_NO_SWITCH: Final = frozenset({"gh200", "v100", "gb10"})
_NO_GPUDIRECT: Final = frozenset({"t4", "l4", "a10g"})
_RACKS: Final = frozenset({"gb200", "gb300"})
_RACK_NODES: Final = 18
_EARLY: Final = "2.10.3"
"""Library version of an A100 of 40 GB, which came two years before that of 80."""
_LATEST: Final = "2.27.3"
_PER_PORT: Final = re.compile(r"(\d+)\s*x\s*(\d+)\s*g", re.IGNORECASE)
_ENV: Final = re.compile(r"\b(?:NCCL_)?([A-Z][A-Z0-9_]+)=([\w.,:^-]+)")
_KNOWN_ENV: Final = frozenset({
    "ALGO", "PROTO", "NVLS_ENABLE", "COLLNET_ENABLE", "IB_DISABLE", "NET_GDR_LEVEL",
    "SOCKET_NTHREADS", "NSOCKS_PERTHREAD", "MIN_NCHANNELS", "MAX_NCHANNELS", "MIN_CTAS",
    "MAX_CTAS", "PAT_ENABLE",
})  # fmt: skip
_SIZE: Final = re.compile(r"([\d.]+)\s*([kmgKMG]?i?)B")
_OTHER_LIBRARY: Final = re.compile(r"optcast|hfreduce|uccl|mscclpp|gloo|nvshmem")
_MANY: Final = 8
_IPOIB_MTU_BYTES: Final = 2044
"""IP over InfiniBand in datagram mode, as it comes."""


@dataclass(frozen=True, slots=True)
class Point:
    """One measured size."""

    size_bytes: float
    time_s: float
    busbw_bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One published system, ready to be predicted."""

    cluster: Cluster
    group: Group
    operation: Operation
    labels: Mapping[str, str]
    site: str
    healthy: bool
    family: str = ""
    """Product family of the system: left out of fits as a whole."""
    sweep: str = ""
    """Key of the sweep: its points are not independent."""


def _text(row: Row, *keys: str) -> str:
    return " ".join(row.get(k) or "" for k in keys).lower()


def _number(row: Row, key: str, what: str) -> float:
    try:
        return float(row.get(key) or "")
    except ValueError:
        raise SpecError(f"{what} not stated") from None


def _gpu_word(row: Row) -> str:
    slug = re.sub(r"[^a-z0-9]+", " ", _text(row, "gpu"))
    words = slug.split()
    for word in sorted(table("gpus"), key=len, reverse=True):
        if any(w == word or (len(word) > len("t4") and w.startswith(word)) for w in words):
            return word
    raise SpecError(f"GPU not named ({row.get('gpu') or 'empty'})")


def _fabric(row: Row) -> str:
    for text in (_text(row, "fabric"), _text(row, "fabric_gen")):
        name: str | None = meant("fabrics_of_collectives", text, re.NOFLAG)
        if name:
            return name
    raise SpecError(f"fabric not named ({row.get('fabric') or 'empty'})")


def _nics(row: Row) -> tuple[int, float]:
    """Return NICs of a node and the rate of one."""
    said = _PER_PORT.search(_text(row, "fabric_gen", "fabric"))
    count, gbit = (int(said[1]), float(said[2])) if said else (0, 0.0)
    try:
        count = int(float(row.get("nics_per_node") or count))
        gbit = float(row.get("nic_gbps") or gbit)
    except ValueError:
        raise SpecError("NICs are not numbers") from None
    if count < 1 or gbit <= 0:
        raise SpecError("number or rate of NICs not stated")
    return count, units.rate_from_gbit(gbit)


def _env(row: Row) -> dict[str, str]:
    text = " ".join(row.get(k) or "" for k in ("settings", "condition"))
    found = {k: v.rstrip(",.") for k, v in _ENV.findall(text) if k in _KNOWN_ENV}
    if re.search(r"\bGDR 0\b", text):
        found["NET_GDR_LEVEL"] = "0"
    if found.get("NET_GDR_LEVEL") == "1":
        del found["NET_GDR_LEVEL"]
    if re.search(r"nvls\)? disabled", text.lower()):
        found["NVLS_ENABLE"] = "0"
    elif re.search(r"\bnvls on\b|^nvls\b|nvls\) enabled", text.lower()):
        found.setdefault("NVLS_ENABLE", "1")
    bare = re.fullmatch(r"(Ring|Tree|NVLSTree|NVLS)", text.strip())
    if bare:
        found["ALGO"] = bare[1]
    return {f"NCCL_{k}": v for k, v in found.items()}


def _nccl(row: Row, gpu: str) -> Nccl:
    """Return the library; a release that the row does not state is that of its years."""
    text = re.sub(r"nccl-tests [\d.]+", "", _text(row, "software", "condition"))
    said = re.search(r"nccl[ =v]*(2\.\d+(?:\.\d+)*)", text)
    if said:
        return Nccl(version=said[1], env=_env(row))
    usual = _usual_version(row, gpu)
    return Nccl.model_construct(_fields_set={"env"}, version=usual, env=_env(row))


def _usual_version(row: Row, gpu: str) -> str:
    year = re.search(r"\b20(19|2\d)\b", _text(row, "site", "software"))
    of_year = table("library_of_year").get(year[0]) if year else None
    early = _EARLY if "40g" in _text(row, "gpu") else None
    return of_year or early or table("library_of_gpu").get(gpu, _LATEST)


def _scale_up(gpu: str, row: Row, gpus: int, nodes: int) -> ScaleUp:
    name = table("gpus")[gpu]
    device = catalogue.find("gpus", name) if name else None
    rate = float(device.scale_up_bytes_per_s or 0) if device else 0.0
    plain = rate == 0 or re.search(r"pcie", _text(row, "gpu")) is not None
    if device is None or plain:
        rate, kind = 48e9 if gpu in {"l40s", "gb10"} else 24e9, "pcie"
    else:
        rate, kind = _OWN_RATE.get(gpu, rate), device.scale_up_kind
    reduces = kind == "nvlink" and gpu not in _NO_SWITCH and gpu not in {"a100", "a800"}
    if gpu in _RACKS and _domains(row, gpu, nodes) == nodes > 1:
        reduces = False  # A tray on its own does not reach the rack's switches as a group.
    return ScaleUp.model_construct(
        kind=kind, gpus=1 if kind == "pcie" else gpus, bytes_per_s=rate,
        in_network_reduction=reduces,
    )  # fmt: skip


def _domains(row: Row, gpu: str, nodes: int) -> int:
    """Return scale-up domains: nodes, or racks where NVLink joins the nodes."""
    text = _text(row, "fabric", "fabric_gen", "settings")
    if gpu in _RACKS and re.search(r"nvlink|nvl72|mnnvl", text):
        return -(-nodes // _RACK_NODES)
    return nodes


def case_of(row: Row) -> Case:
    """Turn a row into a cluster, a group and an operation; raise when a fact is missing."""
    other = _OTHER_LIBRARY.search(_text(row, "condition", "settings"))
    if other:
        raise SpecError(f"{other[0]} is not the library that is modelled")
    gpu = _gpu_word(row)
    gpus, nodes = int(_number(row, "gpus", "GPUs")), int(_number(row, "nodes", "nodes"))
    operation = _operation(row)
    if gpus < nodes or nodes < 1 or gpus < len(("a", "pair")):
        raise SpecError(f"{gpus} GPUs on {nodes} nodes is no collective")
    domains = _domains(row, gpu, nodes)
    local = -(-gpus // domains)
    fabric, nics, rate = "infiniband", 1, 1e9
    if domains > 1:
        fabric = _fabric(row)
        count, rate = _nics(row)
        nics = count * (nodes // domains)
    cluster = Cluster.model_construct(
        name=row.get("run_id") or row.get("row_id") or "row", hosts=domains,
        host=Host.model_construct(
            gpu=table("gpus")[gpu] or gpu, gpus=local, nic="", nics=nics, nic_bytes_per_s=rate,
            gpudirect=gpu not in _NO_GPUDIRECT, scale_up=_scale_up(gpu, row, local, nodes),
        ),
        fabric=FabricChoice.model_construct(
            kind=fabric, in_network_reduction=_sharp(row, fabric),
            mtu_bytes=_mtu_bytes(row),
        ),
        nccl=_nccl(row, gpu),
    )  # fmt: skip
    return Case(
        cluster=cluster, group=Group(ranks=gpus, ranks_per_domain=local), operation=operation,
        labels=_labels(row, gpu, fabric if domains > 1 else "inside", domains),
        site=row.get("system") or row.get("site") or cluster.name,
        healthy=_text(row, "health") in HEALTHY,
        family=family_of(row, cluster), sweep=_sweep(row),
    )  # fmt: skip


def _sweep(row: Row) -> str:
    """Return the run of a row; of single values those of one system, setting, collective."""
    run = row.get("run_id")
    return run or " | ".join(row.get(k) or "" for k in ("system", "op", "condition"))


def _mtu_bytes(row: Row) -> int | None:
    return _IPOIB_MTU_BYTES if "ipoib" in _text(row, "fabric", "fabric_gen") else None


def try_case(row: Row) -> Case | None:
    """Return the case of a row, or nothing when a fact is missing."""
    try:
        return case_of(row)
    except WeftError:
        return None


def try_summary(row: Row) -> tuple[Case, Point] | None:
    """Return case and point of a single published value, or nothing when a fact is missing."""
    try:
        return _summary(row)
    except WeftError:
        return None


def _operation(row: Row) -> Operation:
    name = _text(row, "op").replace("-", "_").strip().removesuffix("_perf")
    name = {"all_to_all": "alltoall", "send_recv": "sendrecv"}.get(name, name)
    try:
        return Operation(name)
    except ValueError:
        raise SpecError(f"operation {name or 'empty'} is not modelled") from None


def _sharp(row: Row, fabric: str) -> bool:
    return fabric == "infiniband" and "sharp" in _text(row, "settings", "condition")


def _labels(row: Row, gpu: str, fabric: str, domains: int) -> dict[str, str]:
    if domains == 1:
        scale = "one_host"
    elif domains == len(("one", "other")):
        scale = "two_hosts"
    else:
        scale = "3-8 hosts" if domains <= _MANY else "more than 8 hosts"
    return {
        "collective": _text(row, "op"), "fabric": fabric, "gpu": gpu, "scale": scale,
        "health": _text(row, "health") or "unknown",
    }  # fmt: skip


def size_label(size_bytes: float) -> str:
    """Name the range of sizes that reports group by."""
    for limit, name in ((2**16, "to 64 KiB"), (2**20, "to 1 MiB"), (LARGE_BYTES, "to 64 MiB")):
        if size_bytes < limit:
            return name
    return "64 MiB to 1 GiB" if size_bytes < 2**30 else "from 1 GiB"


def score(kind: str, row_name: str, case: Case, point: Point) -> Score:
    """Predict one point: busbw from 64 MiB on, time below.

    Constants and error model are those fitted without its product family, where the fit has
    seen the system.
    """
    size_bytes = point.size_bytes
    site = case.site if is_holding_out() else ""
    with constants.using(constants.without(site)):
        found = collective_time(case.cluster, case.operation, size_bytes, case.group)
    labels = {
        **case.labels, "size": size_label(size_bytes), "algorithm": found.algorithm,
        "domain": found.domain.partition(":")[0],
    }  # fmt: skip
    time = found.time_s
    if size_bytes < LARGE_BYTES:
        band, quantity, measured = time, "time_s", point.time_s
    else:
        rate, quantity = found.busbw_bytes_per_s, "busbw_bytes_per_s"
        band = Estimate(rate, rate * time.value / time.high, rate * time.value / time.low)
        measured = point.busbw_bytes_per_s
    return Score.of(
        band, kind=kind, row=row_name, site=case.site, labels=labels, quantity=quantity,
        measured=measured, healthy=case.healthy,
    )  # fmt: skip


def runs(tables: Mapping[str, list[Row]]) -> Iterator[tuple[Row, list[Point]]]:
    """Yield runs with their points; the peak alone where no sweep is there."""
    by_run: dict[str, list[Row]] = {}
    for row in tables.get("nccl_points", []):
        by_run.setdefault(row.get("run_id", ""), []).append(row)
    for run in tables.get("nccl_runs", []):
        rows = by_run.get(run.get("run_id", ""), [])
        found = [p for p in map(_point, rows) if p is not None]
        yield run, found or [p for p in [_peak(run)] if p is not None]


def _point(row: Row) -> Point | None:
    try:
        size, time_s = float(row["size_B"]), float(row["time_us"]) * 1e-6
        busbw = float(row.get("busbw_GBps") or 0) * 1e9
    except (KeyError, ValueError):
        return None
    return Point(size, time_s, busbw) if size > 0 and time_s > 0 else None


def _peak(run: Row) -> Point | None:
    try:
        size, busbw = float(run["peak_at_B"]), float(run["peak_busbw_GBps"]) * 1e9
        factor = _operation(run).bus_factor(int(float(run["gpus"])))
    except (KeyError, ValueError, SpecError):
        return None
    return Point(size, size * factor / busbw, busbw) if busbw > 0 else None


def _with_busbw(case: Case, point: Point) -> Point:
    """Work out the bus bandwidth where the row has none, or prints it as 0.00."""
    if point.busbw_bytes_per_s > 0:
        return point
    factor = case.operation.bus_factor(case.group.ranks)
    return Point(point.size_bytes, point.time_s, point.size_bytes * factor / point.time_s)


def score_points(
    kind: str, tables: Mapping[str, list[Row]], *, large: bool
) -> Iterator[Score | LeftOut]:
    """Score the points of all runs on one side of 64 MiB."""
    for run, points in runs(tables):
        name = run.get("run_id", "")
        wanted = [p for p in points if (p.size_bytes >= LARGE_BYTES) is large]
        try:
            case = case_of(run)
            for point in wanted:
                row_name = f"{name}@{point.size_bytes:.0f}"
                yield score(kind, row_name, case, _with_busbw(case, point))
        except WeftError as problem:
            yield from (
                LeftOut(kind=kind, row=f"{name}@{p.size_bytes:.0f}", reason=str(problem))
                for p in wanted
            )
    yield from _orphans(kind, tables, large=large)


def _orphans(kind: str, tables: Mapping[str, list[Row]], *, large: bool) -> Iterator[LeftOut]:
    known = {run.get("run_id", "") for run in tables.get("nccl_runs", [])}
    for row in tables.get("nccl_points", []):
        point = _point(row)
        if point is None or row.get("run_id", "") in known:
            continue
        if (point.size_bytes >= LARGE_BYTES) is large:
            name = f"{row.get('run_id', '')}@{point.size_bytes:.0f}"
            yield LeftOut(kind=kind, row=name, reason="its run is not in nccl_runs.csv")


def score_summary(kind: str, tables: Mapping[str, list[Row]]) -> Iterator[Score | LeftOut]:
    """Score single published values that state their size."""
    rows = tables.get("nccl_summary", [])
    return row_by_row(
        kind, rows, lambda row: score(kind, row.get("row_id", ""), *_summary(row))
    )


def _summary(row: Row) -> tuple[Case, Point]:
    if _text(row, "kind") != "measured":
        raise SpecError(f"{_text(row, 'kind') or 'empty'}: not a measurement")
    size, value = _size(row), _number(row, "value", "one value")
    case = case_of(row)
    factor = case.operation.bus_factor(case.group.ranks)
    unit = (row.get("unit") or "").strip()
    if unit.startswith("GB/s"):
        busbw = value * 1e9
        return case, Point(size, size * factor / busbw, busbw)
    if unit == "us":
        time_s = value * 1e-6
        return case, Point(size, time_s, size * factor / time_s)
    raise SpecError(f"unit {unit or 'empty'} is not a bandwidth or time of a collective")


def _size(row: Row) -> float:
    match = _SIZE.fullmatch((row.get("size") or "").strip())
    if match is None:
        raise SpecError(f"size not stated ({row.get('size') or 'empty'})")
    prefix = match[2].replace("k", "K") if "i" in match[2] else match[2].replace("K", "k")
    return float(units.parse_size(f"{match[1]}{prefix}B"))


_TEXT: Final = ("system", "site", "gpu", "fabric", "fabric_gen")
_BYTES_PER_GBIT: Final = 1.25e8


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    families = read("families")["family"]
    return tuple((family["name"], re.compile(family["pattern"])) for family in families)


def family_of(row: Row, cluster: Cluster) -> str:
    """Return the product family of a row's system.

    A named product where the row names one; otherwise GPU generation, NICs and fabric.
    """
    text = " ".join(row.get(key) or "" for key in _TEXT).lower()
    for name, pattern in _patterns():
        if pattern.search(text):
            return name
    generation = gpu_class(cluster.host.gpu).capitalize()
    fabric = (row.get("fabric") or "").lower()
    if cluster.hosts == 1 and "nvlink" in fabric:
        return f"{generation} NVSwitch"
    gbit = cluster.host.nic_bytes_per_s / _BYTES_PER_GBIT
    return f"{generation} {gbit:.0f}G {cluster.fabric.kind}"

"""What NCCL would choose: every pair of algorithm and protocol by its own cost model."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.engines.analytic.collective import algorithm as kinds
from weft.engines.analytic.collective.algorithm import CollectiveAlgorithm, Limits, Use
from weft.engines.analytic.collective.graph import search
from weft.engines.analytic.collective.path import Path
from weft.errors import SpecError
from weft.traffic.collective import Operation

_PLATEAU_BYTES: Final = 64
_CORRECTED_FROM_BYTES: Final = 64
_SEND_LL_BYTES: Final = 16384
"""NCCL sends with LL up to this size for one peer (NCCL_P2P_LL_THRESHOLD)."""
_SHARPNESS: Final = 12.0
"""Limits that lie close add up: the norm that joins them (infinite: the smallest alone)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Option:
    """One pair that the library may use here, with both cost models worked out."""

    kind: CollectiveAlgorithm
    protocol: str
    channels: int
    nccl_latency_s: float
    nccl_algbw_bytes_per_s: float
    latency_s: float
    algbw_bytes_per_s: float
    limit: str
    plateau_ratio: float
    """What the library multiplies the latency of long rings by."""


def _named(text: str) -> str:
    return text.strip().lower().replace("_", "")


def _listed(wanted: str, name: str) -> bool:
    """Whether a variable such as NCCL_ALGO (a list, or ^ and a list) allows a name."""
    text = wanted.split(";", maxsplit=1)[0].rsplit(":", maxsplit=1)[-1]
    names = {_named(part) for part in text.lstrip("^").split(",")}
    return (_named(name) in names) != text.startswith("^")


def _ll128(path: Path) -> bool:
    """Whether LL128 is on by default: NVLink inside, NICs beside the GPU, ordered delivery."""
    if path.local > 1 and path.link == "pci":
        return False
    if path.domains == 1:
        return True
    if path.fabric.name == "efa":
        return path.table_class in {"hopper", "blackwell"}
    return path.gpudirect and path.fabric.gpudirect


def _asked(path: Path, kind: CollectiveAlgorithm) -> tuple[str, ...]:
    """Return the protocols that NCCL_PROTO leaves; sends and receives heed it only if able."""
    wanted = path.env.get("NCCL_PROTO", "")
    listed = tuple(p for p in kind.protocols if _listed(wanted, p))
    return listed or (kind.protocols if kind.name == "pairwise" else ())


def _protocols(path: Path, kind: CollectiveAlgorithm) -> Iterator[str]:
    if path.env.get("NCCL_PROTO"):
        yield from _asked(path, kind)
        return
    old_efa = path.fabric.name == "efa" and path.table_class in {"volta", "ampere"}
    for protocol in kind.protocols:
        # The first EFA may land writes out of order, so its plug-in asks for Simple.
        barred = protocol == "ll" and old_efa and path.domains > 1
        if not barred and (protocol != "ll128" or _ll128(path)):
            yield protocol


def _joined(limits: Limits) -> float:
    """Return the bandwidth that several limits leave together."""
    low = min(limits.values())
    crowd = sum(math.pow(low / v, _SHARPNESS) for v in limits.values())
    return low / math.pow(crowd, 1 / _SHARPNESS)


def _option(
    path: Path, operation: Operation, kind: CollectiveAlgorithm, protocol: str
) -> Option:
    graphs = search(path)
    use = Use(path=path, graphs=graphs, operation=operation, protocol=protocol)
    limits = kind.limits(use)
    algbw = _joined(limits) * path.fitted(f"protocol.{protocol}", 1.0)
    ratio = path.tuning.bandwidth_ratio.get("two" if path.few_domains else "more", {})
    share = ratio.get(kind.name, {}).get(protocol, 1.0) if path.domains > 1 else 1.0
    return Option(
        kind=kind, protocol=protocol, channels=graphs.total_channels,
        nccl_latency_s=kind.library_latency_s(use),
        nccl_algbw_bytes_per_s=share * kind.nccl_algbw_bytes_per_s(use),
        latency_s=kind.latency_s(use), algbw_bytes_per_s=algbw,
        limit=min(limits, key=lambda name: limits[name]),
        plateau_ratio=_plateau(path, operation, kind, protocol),
    )  # fmt: skip


def _plateau(
    path: Path, operation: Operation, kind: CollectiveAlgorithm, protocol: str
) -> float:
    rings = kind.name == "ring" and protocol == "simple"
    if not (rings and path.domains > 1 and operation is Operation.ALL_REDUCE):
        return 1.0
    return 1.9 if path.table_class == "volta" else 1.4


@lru_cache(maxsize=16384)
def options(path: Path, operation: Operation) -> tuple[Option, ...]:
    """Return the pairs that the library may use for an operation on a path."""
    wanted = path.env.get("NCCL_ALGO", "")
    able = [k for k in kinds.all_of() if operation in k.operations]
    usable = [k for k in able if not k.refusal(path, operation)]
    asked = [k for k in usable if not wanted or _listed(wanted, k.name)]
    found = tuple(
        _option(path, operation, kind, protocol)
        for kind in (asked or usable)
        for protocol in _protocols(path, kind)
    )
    able_to = tuple(o for o in found if o.nccl_algbw_bytes_per_s > 0)
    if not found or (path.env.get("NCCL_PROTO") and not able_to):
        raise SpecError(
            f"NCCL_PROTO={path.env.get('NCCL_PROTO')!r} leaves nothing to run {operation} with;"
            " allowed are LL, LL128 and Simple, and LL128 where the GPUs have it"
        )
    return able_to or found


def nccl_time_s(path: Path, option: Option, size_bytes: float) -> float:
    """Return the library's own estimate, which is right about the choice, not the time."""
    algbw = option.nccl_algbw_bytes_per_s
    if option.kind.name == "pairwise":
        small = size_bytes <= _SEND_LL_BYTES * path.ranks
        return option.nccl_latency_s + (0.0 if small == (option.protocol == "ll") else 1.0)
    algbw *= _correction(path, option, size_bytes)
    latency = option.nccl_latency_s
    if size_bytes / (option.channels * path.ranks) >= _PLATEAU_BYTES:
        latency *= option.plateau_ratio
    return latency + size_bytes / algbw


def _correction(path: Path, option: Option, size_bytes: float) -> float:
    """Return the factor by which trees miss the library's model at a size."""
    if size_bytes < _CORRECTED_FROM_BYTES:
        return 1.0
    if option.kind.name == "nvls_tree":
        x86 = path.cpu in {"intel", "amd"}
        if not (path.tuning.rules.nvls_tree_corrected and x86):
            return 1.0
        if path.table_class != "blackwell":
            return 1.0
    index = math.floor(math.log2(size_bytes / _CORRECTED_FROM_BYTES))
    if index >= option.kind.corrected_below:
        return 1.0
    return path.tuning.tree_correction_ratio[option.protocol][index]


def choose(path: Path, operation: Operation, size_bytes: float) -> Option:
    """Return what the library would run."""
    return min(options(path, operation), key=lambda o: nccl_time_s(path, o, size_bytes))

"""The constants of NCCL's own cost model, by version, in weft's units."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from weft import catalogue
from weft.records import table

_FOLDER: Final = Path(catalogue.__file__).parent / "nccl"
_SCALE: Final[Mapping[str | None, float]] = {"us": 1e-6, "GB/s": 1e9, None: 1.0}
_WORDS: Final = frozenset({"unit", "source"})
CLASSES: Final = ("volta", "ampere", "hopper", "blackwell")
NODE_SCALES: Final = ("n1", "n2", "n4plus")

ByClass = Mapping[str, Mapping[str, float]]
"""Value by GPU class and scale (n1, n2, n4plus), or by algorithm and protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The laws that changed between releases; each release states those that it changed."""

    nvls_law: str
    """``whole``: the graph's bandwidth; ``half_inter``: min(intra, inter / 2) of NVLSTree
    beyond two hosts; ``efficiency``: NVLinks times nvls_ratio, ceilings a channel."""
    nvls_ratio_of_bus: float
    """Algorithm bandwidth over bus bandwidth of NVLS, where the law has a fixed one."""
    nvls_tree_ratio_of_bus: float
    nvls_one_way_ratio: float
    """The same for all-gather and reduce-scatter; 0: NVLS does not run them."""
    nvls_one_way_narrow: bool
    """Whether these count (n - 1) / n of the NVLinks and 0.9 of the network."""
    nvls_tree_linear: bool
    """Whether NVLSTree counts a step for every host; else for every level of its tree."""
    nvls_tree_corrected: bool
    """Whether NVLSTree has the correction of trees (x86 with Blackwell only)."""
    ring_ll_ratio: float
    ring_ll_one_way_ratio: float
    ring_ll128_alone_ratio: float
    """Share of a ring's bandwidth that LL128 keeps with one rank a host."""
    ring_extra_crossings: int
    """Network steps of all-reduce beyond 2 (hosts - 1)."""
    alone_steps_as_tree: bool
    simple_tree_ratio: float
    """What a tree of simple chains keeps."""
    pat_ratio: float
    max_channels: int
    nvls_heads: int
    duplicates_few: bool
    """Whether up to four channels of 25 GB/s are laid twice from Hopper on."""
    peer_channel_gbyte_per_s: float
    """NIC rate for which a send takes one more channel; 0: two at most, fewer at scale."""
    doubles_below: int
    """Channels below which hosts from Hopper on double fast rings once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What one version of the library counts with when it chooses."""

    name: str
    library: str
    base_s: ByClass
    step_s: Mapping[str, ByClass]
    ll_max_bytes_per_s: ByClass
    channel_ring_ll128_bytes_per_s: ByClass
    channel_tree_ll128_bytes_per_s: ByClass
    channel_tree_bytes_per_s: ByClass
    channel_nvls_tree_bytes_per_s: ByClass
    nvls_ratio: Mapping[str, float]
    net_overhead_s: Mapping[str, float]
    tree_correction_ratio: Mapping[str, tuple[float, ...]]
    search_bytes_per_s: Mapping[str, tuple[float, ...]]
    scale_up_link_bytes_per_s: Mapping[str, float]
    bandwidth_ratio: Mapping[str, ByClass]
    rules: Rules


def _table(raw: Any, unit: str | None = None) -> Any:  # noqa: ANN401 - whatever TOML held
    """Bring a table to inside units: numbers times the unit that the table names."""
    if isinstance(raw, dict):
        here = raw.get("unit", unit)
        return {k: _table(v, here) for k, v in raw.items() if k not in _WORDS}
    if isinstance(raw, list):
        return tuple(_table(v, unit) for v in raw)
    if isinstance(raw, bool | str):
        return raw
    return raw * _SCALE[unit]


def _merged(low: Any, high: Any) -> Any:  # noqa: ANN401 - whatever TOML held
    if isinstance(low, dict) and isinstance(high, dict):
        return {k: _merged(low.get(k), high.get(k)) for k in low | high}
    return low if high is None else high


def _read(name: str) -> dict[str, Any]:
    own = dict(table("weft.catalogue", f"nccl/{name}"))
    parent = own.pop("inherits", None)
    merged: dict[str, Any] = _merged(_read(parent), own) if parent else own
    return merged


def versions() -> list[str]:
    """List the NCCL versions that have tables, oldest first."""
    found = [p.stem for p in _FOLDER.glob("*.toml") if p.stem[0].isdigit()]
    return sorted(found, key=number)


def number(version: str) -> tuple[int, ...]:
    """Read a version as numbers.

    >>> number("2.27.3+cuda12.9")
    (2, 27, 3)
    """
    match = re.match(r"\d+(?:\.\d+)*", version.strip())
    return tuple(int(part) for part in match[0].split(".")) if match else (0,)


@cache
def find(version: str) -> Tuning:
    """Return the tables that hold for a version: its own or the newest before it.

    >>> find("2.29.3").name, find("rccl").library
    ('2.29.2', 'rccl')
    """
    if version == "rccl":
        return _tuning("rccl")
    known = versions()
    older = [v for v in known if number(v) <= number(version)]
    return _tuning(older[-1] if older else known[0])


def _tuning(name: str) -> Tuning:
    raw = _read(name)
    tables = {k: _table(v) for k, v in raw.items() if isinstance(v, dict)}
    return Tuning(
        name=raw["name"],
        library=raw["library"],
        bandwidth_ratio=tables.get("bandwidth_ratio", {}),
        rules=Rules(**tables["rules"]),
        **{
            field: tables[field]
            for field in Tuning.__dataclass_fields__
            if field in tables and field not in {"bandwidth_ratio", "rules"}
        },
    )


@cache
def _gpu_classes() -> Mapping[str, str]:
    classes: dict[str, str] = table("weft.catalogue", "nccl/gpu_classes")["classes"]
    return classes


@cache
def gpu_class(gpu: str) -> str:
    """Return the class of tables that a GPU falls in; hopper when its name is unknown.

    >>> gpu_class("h100_sxm"), gpu_class("mi300x")
    ('hopper', 'cdna3')
    """
    slug = gpu.lower().replace("-", "_")
    fitting = [name for name in _gpu_classes() if slug.startswith(name)]
    return _gpu_classes()[max(fitting, key=len)] if fitting else "hopper"

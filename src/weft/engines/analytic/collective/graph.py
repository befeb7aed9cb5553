"""What NCCL's graph search finds: how many channels, and the speed of each."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.engines.analytic.collective.path import Path

_SCALE_UP_RATIO: Final = {"volta": 0.80, "ampere": 0.80, "hopper": 0.824, "blackwell": 0.802}
"""NCCL's usable rate of a GPU's NVLinks over the datasheet's (topo.h)."""
_INTRA_CHANNELS: Final = 12
"""Channels that the search finds in a host of eight GPUs on NVSwitch, before doubling."""
_DOUBLED_FROM_BYTES_PER_S: Final = 25e9
_FASTEST_CHANNELS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Channels and the speed of one, inside a domain and between domains."""

    channels: int
    intra_bytes_per_s: float
    inter_bytes_per_s: float
    total_channels: int
    """Channels that run: rings are laid twice."""


def _speeds(path: Path, side: str) -> tuple[float, ...]:
    generation = path.table_class
    era = generation if generation in {"hopper", "blackwell"} else "pre_hopper"
    return path.tuning.search_bytes_per_s[f"{side}_{era}"]


def _fitting(speeds: tuple[float, ...], limit_bytes_per_s: float) -> float:
    """Return the best candidate speed below a limit; the smallest when none is."""
    return next((s for s in speeds if s <= limit_bytes_per_s), speeds[-1])


def _wanted(path: Path, channels: int) -> int:
    """Apply the variables that set how many channels there are."""
    env = path.env
    low = max(int(env.get(k, 0)) for k in ("NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"))
    high = min(int(env.get(k, 64)) for k in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"))
    return max(1, min(max(channels, low), high, _FASTEST_CHANNELS))


@lru_cache(maxsize=8192)
def _search(path: Path) -> Graph:
    usable = path.scale_up_bytes_per_s * _SCALE_UP_RATIO[path.table_class]
    if path.domains == 1:
        if path.link == "pci":
            speed, channels = _fitting(_speeds(path, "intra"), path.scale_up_bytes_per_s), 1
        else:
            speed = _fitting(_speeds(path, "intra"), usable / _INTRA_CHANNELS)
            channels = max(1, int(usable // speed))
    else:
        speed = _fitting(_speeds(path, "inter"), path.nic_line_bytes_per_s)
        channels = path.nics
    if speed >= _DOUBLED_FROM_BYTES_PER_S:
        channels, speed = 2 * channels, speed / 2
        total = channels
    else:
        total = 2 * channels
    return Graph(
        channels=channels,
        intra_bytes_per_s=speed,
        inter_bytes_per_s=speed,
        total_channels=_wanted(path, total),
    )


def search(path: Path) -> Graph:
    """Return the graph of a path."""
    return _search(path)

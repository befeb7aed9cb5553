"""What NCCL's graph search finds: how many channels, and the speed of each.

The library lays rings over a description of the host and takes the fastest that fit. On a
host whose GPUs and NICs are alike the outcome follows from three budgets [NCCL search.cc,
ncclTopoCompute]: a NIC carries floor(rate / speed) channels, a GPU's PCIe slot the same, and
c channels of speed s take c s (g - 1) / g of each GPU's NVLinks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.engines.analytic.collective.path import PCIE_BYTES_PER_S, Path

_LINK_BYTES_PER_S: Final = {"volta": 25e9, "ampere": 25e9, "hopper": 25e9, "blackwell": 50e9}
"""Datasheet rate of one NVLink, one way, by generation."""
_PCIE6_BYTES_PER_S: Final = 96e9
"""Slot of GPUs behind NICs faster than PCIe 5.0 x16 (NCCL: 64 GT/s)."""
_PCIE5_NIC_BYTES_PER_S: Final = 60e9
_PEER_PCIE_RATIO: Final = 5 / 6
"""Peer traffic through an Intel root costs 6/5 of its bytes [topo.h]."""
_HALF: Final = 0.49
"""The search stops at speeds below this share of the best that it has."""
_DUPLICATED_FROM_BYTES_PER_S: Final = 25e9
_DUPLICATED_MANY_FROM_BYTES_PER_S: Final = 50e9
_FEW_CHANNELS: Final = 4
_DOUBLED_FROM_BYTES_PER_S: Final = 45e9
_CLIMBS_SINCE: Final = (2, 13)
"""Published two-host runs show rings before about this version, and trees after."""
_PEERS_PER_BATCH: Final = 8
_PEER_CHANNELS: Final = 2
_PEER_CROWD: Final = 4
_MODERN: Final = frozenset({"hopper", "blackwell"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Channels of one pattern and the speed of each, inside a domain and between domains."""

    channels: int
    intra_bytes_per_s: float
    inter_bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """What the search finds for each pattern."""

    ring: Graph
    tree: Graph
    nvls: Graph
    direct: Graph
    simple_trees: bool
    """Trees enter and leave a host by one GPU, as where each GPU has a NIC of its own."""
    total_channels: int
    """Channels that run: rings are laid twice when they are connected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Budget:
    """What the channels of a host share."""

    gpus: int
    nics: int
    nic_bytes_per_s: float
    slot_bytes_per_s: float
    """PCIe slot of a GPU."""
    scale_up_bytes_per_s: float
    """NVLinks of a GPU, as NCCL counts them; 0 where PCIe joins the GPUs."""

    @property
    def slowest_bytes_per_s(self) -> float:
        """Fastest channel that one path of the host can carry."""
        if self.nics:
            nic = min(self.nic_bytes_per_s, self.slot_bytes_per_s)
            return nic if self.scale_up_bytes_per_s else min(nic, self._peers)
        return self.scale_up_bytes_per_s or self._peers

    @property
    def _peers(self) -> float:
        alone = self.gpus == 1
        return self.slot_bytes_per_s * (1.0 if alone else _PEER_PCIE_RATIO)

    def rings(self, speed: float) -> int:
        """Return how many rings of a speed fit."""
        found = math.inf
        if self.nics:
            # The library counts whole GB/s of a NIC.
            each = self.nic_bytes_per_s // (math.floor(speed / 1e9) * 1e9 or speed)
            slot = self.slot_bytes_per_s // speed
            found = min(self.nics * min(each, slot), self.gpus * slot)
        if self.gpus == 1:
            return int(found) if self.nics else 1
        if not self.scale_up_bytes_per_s:
            return int(min(found, self._peers // speed))
        leaves = self.gpus - 1 if self.nics else self.gpus
        return int(min(found, _whole(self.scale_up_bytes_per_s * self.gpus / leaves / speed)))

    def trees(self, channels: int, speed: float) -> bool:
        """Whether channels of a speed fit inside the host as chains."""
        if self.gpus == 1:
            return True
        if not self.scale_up_bytes_per_s:
            return channels * speed <= self._peers
        share = (self.gpus - 1) / self.gpus if self.nics else 1.0
        return channels * speed * share <= self.scale_up_bytes_per_s

    def heads(self, speed: float, heads: int) -> bool:
        """Whether NVLS may pull from a number of GPUs at a speed: its own GPU counts twice."""
        return (heads + 1) * speed <= self.scale_up_bytes_per_s


def _whole(ratio: float) -> int:
    return math.floor(ratio + 1e-9)


def _speeds(path: Path) -> tuple[float, ...]:
    generation = path.table_class
    era = generation if generation in _MODERN else "pre_hopper"
    side = "intra" if path.domains == 1 else "inter"
    return path.tuning.search_bytes_per_s[f"{side}_{era}"]


def _budget(path: Path) -> _Budget:
    link = path.tuning.scale_up_link_bytes_per_s[path.table_class]
    slot = PCIE_BYTES_PER_S[path.table_class]
    fast = path.nic_line_bytes_per_s > _PCIE5_NIC_BYTES_PER_S
    if path.table_class == "blackwell" and fast and path.domains > 1:
        slot = _PCIE6_BYTES_PER_S
    ratio = link / _LINK_BYTES_PER_S[path.table_class]
    nvlink = path.link != "pci"
    return _Budget(
        gpus=path.local, nics=path.nics if path.domains > 1 else 0,
        nic_bytes_per_s=path.nic_line_bytes_per_s, slot_bytes_per_s=slot,
        scale_up_bytes_per_s=path.scale_up_bytes_per_s * ratio if nvlink else 0.0,
    )  # fmt: skip


def _best(
    speeds: tuple[float, ...], budget: _Budget, count: Callable[[float], int]
) -> tuple[int, float]:
    """Return channels and speed of the most bandwidth, as the first pass finds them."""
    channels, best = 0, speeds[-1]
    for speed in speeds:
        if speed > budget.slowest_bytes_per_s and speed != speeds[-1]:
            continue
        if channels and speed / best <= _HALF:
            break
        found = count(speed)
        if found * speed > channels * best or not channels:
            channels, best = found, speed
        if channels and not budget.nics and channels * best >= budget.scale_up_bytes_per_s:
            break
    return max(1, channels), best


def _duplicated(path: Path, channels: int, speed: float, most: int) -> tuple[int, float]:
    """Lay channels twice at half the speed where the library does (ncclTopoDupChannels)."""
    modern = path.table_class in _MODERN
    least = _DUPLICATED_FROM_BYTES_PER_S
    if modern and (channels > _FEW_CHANNELS or not path.tuning.rules.duplicates_few):
        least = _DUPLICATED_MANY_FROM_BYTES_PER_S
    if speed < least or 2 * channels > most:
        return channels, speed
    return 2 * channels, speed / 2


def _climbed(
    speeds: tuple[float, ...], inter: float, fits: Callable[[float], bool], start: float
) -> float:
    """Return the speed inside that the second pass reaches: step by step up to 2 x inter."""
    found = start
    for speed in reversed(speeds):
        if speed <= start:
            continue
        if found >= 2 * inter or not fits(speed):
            break
        found = speed
    return found


def _tree(path: Path, budget: _Budget, ring: Graph, speeds: tuple[float, ...]) -> Graph:
    inter = ring.inter_bytes_per_s
    by_pcie = not budget.scale_up_bytes_per_s and budget.gpus > 1
    if by_pcie or path.version < _CLIMBS_SINCE:
        return ring
    intra = _climbed(
        speeds, inter, lambda speed: budget.trees(ring.channels, speed), ring.intra_bytes_per_s
    )
    return Graph(
        channels=ring.channels,
        intra_bytes_per_s=intra,
        inter_bytes_per_s=inter if path.domains > 1 else intra,
    )


def _nvls(path: Path, budget: _Budget, speeds: tuple[float, ...]) -> Graph:
    most = min(path.local, path.tuning.rules.nvls_heads)
    heads = max(1, min(most, budget.nics or most))
    line = budget.slowest_bytes_per_s
    able = [s for s in speeds if s <= line and budget.heads(s, heads)]
    intra = able[0] if able else speeds[-1]
    limit = line if budget.nics else math.inf
    inter = _climbed(speeds, intra, lambda speed: speed <= limit, intra)
    return Graph(channels=heads, intra_bytes_per_s=intra, inter_bytes_per_s=inter)


def _direct(budget: _Budget, speeds: tuple[float, ...]) -> Graph:
    heads = max(1, min(budget.gpus, budget.nics or budget.gpus))
    inter = next((s for s in speeds if s <= budget.slowest_bytes_per_s), speeds[-1])
    intra = _climbed(
        speeds, inter, lambda speed: 2 * speed <= budget.scale_up_bytes_per_s, inter
    )
    return Graph(channels=heads, intra_bytes_per_s=intra, inter_bytes_per_s=inter)


def _connected(path: Path, ring: Graph) -> int:
    """Return the channels that run (ncclTopoPostset): twice those found, up to the most."""
    rules = path.tuning.rules
    total = min(2 * ring.channels, rules.max_channels)
    fast = ring.intra_bytes_per_s > _DOUBLED_FROM_BYTES_PER_S
    doubles = path.table_class in _MODERN and path.domains > 1 and fast
    if doubles and total < rules.doubles_below:
        total *= 2
    return _wanted(path, total)


def _power_of_two(least: float) -> int:
    return 1 << max(0, math.ceil(least) - 1).bit_length()


def peer_channels(path: Path) -> int:
    """Return the channels of a send to a rank of another host (paths.cc, by release).

    Since 2.29 one for every 14 GB/s of the GPU's NICs, halved until a batch of eight peers
    fits the channels; before, two, and one where all ranks would overload the channels.
    """
    width = _power_of_two(search(path).total_channels)
    step = path.tuning.rules.peer_channel_gbyte_per_s * 1e9
    per_gpu = max(1.0, path.nics / path.local)
    if step:
        wanted = max(per_gpu, math.ceil(per_gpu * path.nic_line_bytes_per_s / step))
        found = _power_of_two(wanted)
        while found * math.ceil(path.ranks / _PEERS_PER_BATCH) > width and found > 1:
            found //= 2
        return found
    most = _PEER_CHANNELS
    while most * path.ranks > _PEER_CROWD * width and most > 1:
        most //= 2
    return min(width, _power_of_two(max(per_gpu, most)))


def _wanted(path: Path, channels: int) -> int:
    """Apply the variables that set how many channels there are."""
    env = path.env
    most = path.tuning.rules.max_channels
    low = max(int(env.get(k, 0)) for k in ("NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"))
    high = min(int(env.get(k, most)) for k in ("NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"))
    return max(1, min(max(channels, low), high, most))


@lru_cache(maxsize=8192)
def search(path: Path) -> Graphs:
    """Return the graphs of a path."""
    budget, speeds = _budget(path), _speeds(path)
    most = path.tuning.rules.max_channels // 2
    channels, speed = _best(speeds, budget, lambda s: min(most, budget.rings(s)))
    channels, speed = _duplicated(path, channels, speed, most)
    ring = Graph(channels=channels, intra_bytes_per_s=speed, inter_bytes_per_s=speed)
    own_nic = path.table_class in _MODERN and path.domains > 1
    return Graphs(
        ring=ring,
        tree=_tree(path, budget, ring, speeds),
        nvls=_nvls(path, budget, speeds),
        direct=_direct(budget, speeds),
        simple_trees=path.local == 1 or own_nic,
        total_channels=_connected(path, ring),
    )

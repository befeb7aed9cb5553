"""Weft's own time of what the library chooses: start, steps, fill of the pipeline, volume."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from weft.engines.analytic.collective.choice import Option, choose
from weft.engines.analytic.collective.constants import Fitted, current
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.engine import CollectiveTime
from weft.engines.overlay import overlaid
from weft.errors import Infeasible
from weft.network.fabric import Fabric
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group, Operation

_LARGE_BYTES: Final = 64 * 2**20
_SMALL_BYTES: Final = 256 * 2**10
_FLOOR_POWERS: Final = 6
_FILLED_LATENCY_S: Final = 400e-6
"""The pipeline of the largest published rings; longer ones fill by chunks, not by steps."""
_FILL_RANKS: Final = 16
"""Ranks of most published runs, to which the sizes of half fill refer."""
_LATENCY_SHARE: Final = 0.5
_LAUNCH_S: Final = 5e-6
"""A collective of one rank still is a launch."""


def option_time_s(path: Path, option: Option, size_bytes: float) -> float:
    """Return the time of one pair of algorithm and protocol."""
    half = path.fitted(f"fill_half_bytes.{option.protocol}")
    if option.kind.name == "ring":
        # A ring cuts the size by its ranks, so long rings reach full chunks later.
        half *= max(1.0, path.ranks / _FILL_RANKS)
    name = option.kind.name if option.protocol == "simple" else option.protocol
    full = path.fitted(f"fill.{name}", path.fitted("fill.ring"))
    fill = full * size_bytes / (size_bytes + half)
    if path.domains > 1:
        fill *= path.net_const("fill_net")
    filled_s = option.latency_s + fill * min(option.latency_s, _FILLED_LATENCY_S)
    return filled_s + size_bytes / option.algbw_bytes_per_s


@lru_cache(maxsize=32768)
def _power_time_s(path: Path, operation: Operation, power: int) -> float:
    """Return the time of a size that is a power of two."""
    size_bytes = float(2**power)
    return option_time_s(path, choose(path, operation, size_bytes), size_bytes)


def time_of(path: Path, operation: Operation, size_bytes: float) -> tuple[float, Option]:
    """Return time and choice.

    The library may switch too late and be faster with a larger message; the floor of smaller
    powers of two keeps such a step out of the prediction.
    """
    option = choose(path, operation, size_bytes)
    time_s = option_time_s(path, option, size_bytes)
    last = math.floor(math.log2(max(1.0, size_bytes)))
    floor_s = max(
        _power_time_s(path, operation, power)
        for power in range(max(0, last - _FLOOR_POWERS), last + 1)
    )
    return (max(time_s, floor_s) if size_bytes >= 1 else time_s), option


def bucket(size_bytes: float) -> str:
    """Name the range of sizes that a band belongs to."""
    if size_bytes >= _LARGE_BYTES:
        return "large"
    return "small" if size_bytes <= _SMALL_BYTES else "middle"


def scale(domains: int) -> str:
    """Name the range of hosts that a band belongs to."""
    return ("one_host", "two_hosts", "more_hosts")[min(domains, 3) - 1]


def band_names(fabric: Fabric, scale: str, size: str) -> tuple[str, ...]:
    """Return the classes that may have a band, the narrowest first.

    RDMA fabrics without published runs of their own have that of RoCE.
    """
    wide = (f"{scale}.{size}", size)
    if scale == "one_host":
        return wide
    relative = (f"roce.{scale}.{size}",) if fabric.rdma else ()
    return (f"{fabric.name}.{scale}.{size}", *relative, *wide)


def band(path: Path, size_bytes: float) -> tuple[float, float]:
    """Return the ends of the 80 % band over the time."""
    names = band_names(path.fabric, scale(path.domains), bucket(size_bytes))
    return path.fitted.band(*names)


def _reasons(path: Path, option: Option, size_bytes: float) -> tuple[str, ...]:
    protocol = "Simple" if option.protocol == "simple" else option.protocol.upper()
    library = path.tuning.library.upper()
    said = [f"{library} {path.tuning.name} tables choose {option.kind.title}, {protocol}"]
    if option.kind.name in {"tree", "nvls_tree"} and path.few_domains and path.domains > 1:
        said.append(
            "on two hosts a tree sends every byte over the network once each way, so busbw may"
            " exceed the line rate of the NICs"
        )
    if size_bytes / option.algbw_bytes_per_s < option.latency_s:
        said.append("steps and start-up cost more than the volume at this size")
    return tuple(said)


def _published_more_s(path: Path, option: Option, volume_s: float) -> float:
    """Return what published factors would add to a time that the fabric bounds.

    The band holds both: the factor that packets gave and the published one.
    """
    if not path.fabric_limit or option.limit != path.fabric_limit:
        return 0.0
    return volume_s * (path.fabric_ratio / path.published_ratio - 1)


@lru_cache(maxsize=16384)
def _predict(
    same: Same, operation: Operation, size_bytes: float, group: Group, fitted: Fitted
) -> CollectiveTime:
    path = path_of(same, group, fitted)
    if path.domains > 1 and path.net_bytes_per_s <= 0:
        raise Infeasible(
            f"{group.ranks} ranks span {path.domains} hosts but hosts have no NIC;"
            " set host.nics to 1 or more"
        )
    time_s, option = time_of(path, operation, size_bytes)
    low, high = band(path, size_bytes)
    volume_s = size_bytes / option.algbw_bytes_per_s
    other_s = time_s + _published_more_s(path, option, volume_s)
    found = CollectiveTime(
        operation=operation, group=group, size_bytes=size_bytes,
        time_s=Estimate(time_s, min(time_s, other_s) * low, max(time_s, other_s) * high),
        algorithm=option.kind.name, protocol=option.protocol, channels=option.channels,
        limit=option.limit if volume_s > _LATENCY_SHARE * time_s else "latency",
        reasons=_reasons(path, option, size_bytes), assumptions=path.assumptions,
    )  # fmt: skip
    return overlaid(same.cluster, found, volume_s)


def collective_time(
    cluster: Cluster, operation: Operation, size_bytes: float, group: Group
) -> CollectiveTime:
    """Predict one collective of one size by a group of ranks on a cluster.

    ``size_bytes`` is that of nccl-tests: the whole array for all-gather and reduce-scatter,
    what one rank holds for the others.
    """
    if group.ranks == 1 or size_bytes <= 0:
        return CollectiveTime(
            operation=operation, group=group, size_bytes=size_bytes,
            time_s=Estimate(_LAUNCH_S, _LAUNCH_S / 2, _LAUNCH_S * 2),
            algorithm="none", protocol="none", channels=0, limit="latency",
        )  # fmt: skip
    return _predict(Same(cluster), operation, size_bytes, group, current())


def sweep(
    cluster: Cluster,
    operation: Operation,
    sizes: Sequence[float],
    ranks: int,
    ranks_per_domain: int,
) -> list[CollectiveTime]:
    """Predict the curve of nccl-tests: one collective alone on the cluster, by size."""
    group = Group(ranks=ranks, ranks_per_domain=ranks_per_domain)
    return [collective_time(cluster, operation, size, group) for size in sizes]

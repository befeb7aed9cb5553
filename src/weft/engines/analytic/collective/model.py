"""Weft's own time of what the library chooses: start, steps, fill of the pipeline, volume."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, hypot, log
from typing import Final

from weft.engines.analytic.collective.algorithm import REDUCING
from weft.engines.analytic.collective.choice import Option, choose, options
from weft.engines.analytic.collective.constants import Fitted, current
from weft.engines.analytic.collective.domain import Place, distances, sentence
from weft.engines.analytic.collective.mixture import Law, parts
from weft.engines.analytic.collective.path import Path, Same, path_of
from weft.engines.analytic.collective.spread import bucket
from weft.engines.engine import CollectiveTime
from weft.errors import Infeasible
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.overlay import UNCHANGED
from weft.traffic.collective import Group, Operation

_FLOOR_POWERS: Final = 6
_SURE_POWERS: Final = 3
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
    return option.latency_s * (1 + fill) + size_bytes / option.algbw_bytes_per_s


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


def place_of(path: Path, operation: Operation) -> Place:
    """Return where a collective of a group lies among what was measured."""
    return Place(
        operation=operation.value, ranks=path.ranks, domains=path.domains, local=path.local,
        generation=path.gpu_class, fabric=path.fabric.name,
        version=path.version if path.tuning.library == "nccl" else (),
    )  # fmt: skip


@lru_cache(maxsize=32768)
def law_of(path: Path, operation: Operation, size_bytes: float) -> tuple[Law, Option]:
    """Return the law of a time on a system never measured, and the most likely option."""
    spread = path.fitted.spread
    found = parts(
        path, operation, size_bytes, nvls_off=spread.choice["nvls_off"],
        trust=spread.choice["stated" if path.release_stated else "open"],
    )  # fmt: skip
    law = Law(
        tuple(part.weight for part in found),
        tuple(math.log(option_time_s(path, part.option, size_bytes)) for part in found),
        _margin(path, operation, bucket(size_bytes)).sigma,
    )
    return law, found[0].option


@dataclass(frozen=True, slots=True)
class _Margin:
    """Spread of the law, the levels that are the ends of its band, and what that rests on."""

    sigma: float
    low: float
    high: float
    domain: str


@lru_cache(maxsize=16384)
def _margin(path: Path, operation: Operation, size: str) -> _Margin:
    place, spread = place_of(path, operation), path.fitted.spread
    far = distances(place, spread.measured)
    low, high = spread.ends(place, size, far)
    return _Margin(
        spread.sigma(place, size, far), low, high, sentence(place, spread.measured, far)
    )


def _floor_s(path: Path, operation: Operation, size_bytes: float, middle_s: float) -> float:
    """Return the largest median of smaller powers of two, where one may be above a time.

    Where even the slowest option is faster at an eighth of the size, the smaller powers need
    no law of their own.
    """
    if size_bytes < 1:
        return 0.0
    last = math.floor(math.log2(size_bytes))
    first = max(0, last - _FLOOR_POWERS)
    sure = max(first, last - _SURE_POWERS)
    slowest_s = max(option_time_s(path, o, 2.0**sure) for o in options(path, operation))
    if slowest_s <= middle_s:
        first = sure + 1
    powers = range(first, last + 1)
    return max((law_of(path, operation, 2.0**p)[0].quantile(0.5) for p in powers), default=0)


def estimate(path: Path, operation: Operation, size_bytes: float) -> tuple[Estimate, Option]:
    """Return the median of the law with its 80 % band, and the most likely option.

    The library may switch too late and be faster with a larger message; the floor of smaller
    powers of two keeps such a step out of the prediction.
    """
    law, option = law_of(path, operation, size_bytes)
    middle = law.quantile(0.5)
    raised = max(1.0, _floor_s(path, operation, size_bytes, middle) / middle)
    margin = _margin(path, operation, bucket(size_bytes))
    return Estimate(
        middle * raised,
        min(middle, law.quantile(margin.low)) * raised,
        max(middle, law.quantile(margin.high)) * raised,
    ), option


def _least_s(path: Path, operation: Operation, size_bytes: float) -> float:
    """Return the time in which the NICs of a domain can send what must leave it, no sooner.

    All-gather and reduce-scatter: (D - 1) / D of the size over D domains, all-reduce twice
    that where the network does not reduce; all-to-all: what each rank holds for others.
    """
    if path.domains == 1 or (path.network_reduces and operation in REDUCING):
        return 0.0
    beyond = size_bytes * (path.domains - 1) / path.domains
    leaves = {
        Operation.ALL_REDUCE: 2 * beyond,
        Operation.ALL_GATHER: beyond,
        Operation.REDUCE_SCATTER: beyond,
        Operation.ALL_TO_ALL: path.local * size_bytes * (1 - path.local / path.ranks),
    }
    return leaves.get(operation, 0.0) / (path.nics * path.nic_line_bytes_per_s)


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
    if operation is Operation.ALL_TO_ALL and not path.crossing.joined:
        raise Infeasible(
            "without PXN an all-to-all goes from one rail to another, which the topology does "
            "not join; unset NCCL_PXN_DISABLE, or use topology.kind rail_optimized"
        )
    found, option = estimate(path, operation, size_bytes)
    volume_s = size_bytes / option.algbw_bytes_per_s
    published_ratio = 1 + _published_more_s(path, option, volume_s) / found.value
    low = max(found.low * min(1.0, published_ratio), _least_s(path, operation, size_bytes))
    time_s = Estimate(
        found.value, min(found.value, low), found.high * max(1.0, published_ratio)
    )
    made = CollectiveTime(
        operation=operation, group=group, size_bytes=size_bytes, time_s=time_s,
        algorithm=option.kind.name, protocol=option.protocol, channels=option.channels,
        limit=option.limit if volume_s > _LATENCY_SHARE * time_s.value else "latency",
        reasons=_reasons(path, option, size_bytes), assumptions=path.assumptions,
        domain=_margin(path, operation, bucket(size_bytes)).domain,
    )  # fmt: skip
    return overlaid(same.cluster, made, volume_s, fitted.spread.calibrated)


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


def overlaid(
    cluster: Cluster, found: CollectiveTime, volume_s: float, left: Mapping[str, float]
) -> CollectiveTime:
    """Return a collective's time with the ratios of the cluster's overlay, if it has one.

    ::

        t' = fixed ratio x (t - volume) + volume ratio x volume

    ``left`` is the share of the band that is left once the system has been measured: by the
    ``same`` collective of as many ranks, or by ``other`` ones. The band holds that and what
    the overlay left over, and is never wider than without the overlay.
    """
    overlay = cluster.overlay
    across = found.group.domains > 1
    if overlay is None or (across and overlay.fabric not in {"", cluster.fabric.kind}):
        return found
    ratios = overlay.collective(
        across=across,
        operation=found.operation.value,
        algorithm=found.algorithm,
    )
    if ratios is UNCHANGED:
        return found
    volume_s = min(volume_s, found.time_s.value)
    time_s = ratios.volume_ratio * volume_s
    time_s += ratios.fixed_ratio * (found.time_s.value - volume_s)
    same = overlay.measured(
        across=across, operation=found.operation.value, ranks=found.group.ranks
    )
    known_ratio = left["same" if same else "other"]
    band = Estimate(
        time_s,
        time_s / _end(found.time_s.value / found.time_s.low, 1 / ratios.low_ratio, known_ratio),
        time_s * _end(found.time_s.high / found.time_s.value, ratios.high_ratio, known_ratio),
    )
    said = f"measured on this cluster at {ratios.rows} sizes (overlay {overlay.name})"
    return replace(
        found,
        time_s=band,
        reasons=(*found.reasons, said),
    )


def _end(bare_ratio: float, left_over_ratio: float, known_ratio: float) -> float:
    """Return one end of the band over the value, as a ratio of at least 1."""
    bare, left_over = log(bare_ratio), log(max(1.0, left_over_ratio))
    return exp(min(bare, hypot(known_ratio * bare, left_over)))

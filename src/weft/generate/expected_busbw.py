"""Expected bus bandwidth as recorded series: by collective, size and ranks, the low end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.errors import WeftError
from weft.generate.plan import Plan
from weft.predict.collective import busbw, expect
from weft.results import Estimate

EXPECTED: Final = "weft:collective_busbw:expected"
SIZED: Final = "weft:collective_busbw:sized"
NAMES: Final = {
    "all_reduce": "AllReduce",
    "all_gather": "AllGather",
    "reduce_scatter": "ReduceScatter",
}
"""What NCCL Inspector calls an operation."""
MIB: Final = 1 << 20
SIZES_MIB: Final = (64, 256, 1024, 4096)
"""Below 64 MiB latency and the queue of the GPU count for more than the network."""
MOST_COUNTS: Final = 8
"""Numbers of hosts for which values are written: the cluster, and powers of two below it."""
TOLERANCE: Final = 0.9
"""Share of the lower end of the band below which a collective is slow."""
_STEP: Final = 4
_UNIT: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One expected value."""

    operation: str
    hosts: int
    ranks: int
    size_mib: int
    busbw_bytes_per_s: Estimate

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels that it shares with what NCCL Inspector measures."""
        return {
            "collective": NAMES[self.operation], "n_nodes": str(self.hosts),
            "nranks": str(self.ranks), "size": size_label(self.size_mib),
        }  # fmt: skip


def points(plan: Plan) -> Iterator[Point]:
    """Yield expected values; at most operations x counts x sizes of them: 96."""
    cluster = plan.cluster
    per_domain = cluster.gpus_per_domain
    for operation in NAMES:
        for hosts in _counts(cluster.hosts):
            ranks = hosts * per_domain
            try:
                curve = expect(
                    cluster, operation, ranks=ranks, ranks_per_domain=per_domain,
                    smallest_bytes=SIZES_MIB[0] * MIB, largest_bytes=SIZES_MIB[-1] * MIB,
                    factor=float(_STEP),
                )  # fmt: skip
            except WeftError:  # a number of hosts that this cluster cannot have
                continue
            for point in curve.points:
                yield Point(operation=operation, hosts=hosts, ranks=ranks,
                            size_mib=int(point.size_bytes) // MIB,
                            busbw_bytes_per_s=busbw(point))  # fmt: skip


def _counts(hosts: int) -> list[int]:
    """Return the numbers of hosts of jobs: all, and powers of two below, the largest first.

    >>> _counts(48)
    [48, 32, 16, 8, 4, 2]
    """
    powers = [1 << number for number in range(1, hosts.bit_length()) if 1 << number < hosts]
    return [hosts, *reversed(powers)][:MOST_COUNTS] if hosts > 1 else []


def size_label(size_mib: int) -> str:
    """Return a size as a label.

    >>> size_label(64), size_label(4096)
    ('64MiB', '4GiB')
    """
    return f"{size_mib // _UNIT}GiB" if size_mib >= _UNIT else f"{size_mib}MiB"


def size_pattern(size_mib: int) -> str:
    """Return which ranges of NCCL Inspector count as a size: from it to below four times it.

    >>> size_pattern(1024)
    '(?:[1-3])-[0-9]+GB'
    """
    low, unit = (size_mib, "MB") if size_mib < _UNIT else (size_mib // _UNIT, "GB")
    high = min(low * _STEP, _UNIT) - 1
    return f"(?:{_numbers(low, high)})-[0-9]+{unit}"


def _numbers(low: int, high: int) -> str:
    """Return a pattern of the whole numbers of a range, ten at a time.

    >>> _numbers(4, 15), _numbers(64, 79)
    ('[4-9]|1[0-5]', '6[4-9]|7[0-9]')
    """
    parts = []
    for tens in range(low // 10, high // 10 + 1):
        first, last = max(low, tens * 10) % 10, min(high, tens * 10 + 9) % 10
        head = str(tens) if tens else ""
        parts.append(f"{head}[{first}-{last}]" if first != last else f"{head}{first}")
    return "|".join(parts)

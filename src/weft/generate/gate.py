"""Thresholds for gates of others: what is expected here, in the words of each tool."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Final

from weft import plugins
from weft.errors import SpecError
from weft.generate import gates
from weft.network.network import layout
from weft.predict.collective import busbw, expect
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.units import gbit_from_rate

MIB: Final = 1 << 20
GIGA: Final = 1e9
MEASURED: Final = "within the measured domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The least value that a gate accepts, and what it rests on."""

    operation: str
    ranks: int
    smallest_bytes: int
    largest_bytes: int
    busbw_bytes_per_s: Estimate
    """Of one size, or the mean over the sizes of a sweep."""

    @property
    def least_gb_per_s(self) -> float:
        """Return the lower end of the 80 % band in GB/s, as nccl-tests prints it."""
        return self.busbw_bytes_per_s.low / GIGA

    def derivation(self, day: date) -> str:
        """Return band, derivation and date in one line."""
        band = self.busbw_bytes_per_s
        return (
            f"{self.operation} over {self.ranks} GPUs: 80 % band {band.low / GIGA:.1f} to "
            f"{band.high / GIGA:.1f} GB/s, weft expect, {day.isoformat()}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a gate can ask of a cluster."""

    cluster: Cluster
    day: date

    def threshold(
        self,
        operation: str = "all_reduce",
        *,
        hosts: int = 0,
        smallest_bytes: int = 8 << 30,
        largest_bytes: int = 8 << 30,
    ) -> Threshold:
        """Return the threshold of an operation over some hosts, all of them by default.

        Of several sizes it is that of their mean, which nccl-tests prints in its last line.
        Raises SpecError beyond what was measured: then nobody knows what a healthy system has.
        """
        per = self.cluster.gpus_per_domain
        ranks = per * (hosts or self.cluster.hosts)
        found = expect(
            self.cluster, operation, ranks=ranks, ranks_per_domain=per,
            smallest_bytes=smallest_bytes, largest_bytes=largest_bytes,
        )  # fmt: skip
        if found.domain != MEASURED:
            raise SpecError(
                f"no threshold for {operation} over {ranks} GPUs: {found.domain}. Measure a "
                "healthy system and give the overlay of weft calibrate (--overlay)"
            )
        bands = [busbw(point) for point in found.points]
        return Threshold(
            operation=operation, ranks=ranks, smallest_bytes=smallest_bytes,
            largest_bytes=largest_bytes, busbw_bytes_per_s=_mean(bands),
        )  # fmt: skip

    @property
    def link_gbit(self) -> int:
        """Return the rate of a port in Gb/s."""
        return round(gbit_from_rate(layout(self.cluster).link_bytes_per_s))


def _mean(bands: list[Estimate]) -> Estimate:
    """Return the mean of estimates whose errors go together."""
    count = len(bands)
    return Estimate(
        sum(band.value for band in bands) / count,
        sum(band.low for band in bands) / count,
        sum(band.high for band in bands) / count,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A tool that passes or fails a system by a threshold."""

    title: str
    source: str
    """Where its format is documented."""
    write: Callable[[Asked], str] | None = None
    refuses: str = ""
    """Why no threshold can be given to it; then nothing is written."""


def emit(name: str, cluster: Cluster, day: date) -> str:
    """Return the thresholds of a cluster for a gate.

    Raises UnknownName for a gate that is not known, SpecError where no threshold can be given.
    """
    gate = plugins.load(gates, name, Gate)
    if gate.write is None:
        raise SpecError(f"{name}: {gate.refuses} ({gate.source})")
    return gate.write(Asked(cluster=cluster, day=day))

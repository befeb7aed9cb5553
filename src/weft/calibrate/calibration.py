"""Calibrating a cluster: files of benchmarks and a measurement of its GPU become an overlay."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from weft import catalogue
from weft.calibrate import fit, gpu
from weft.calibrate.gpu import GpuMeasurement
from weft.calibrate.reader import CollectiveReading, MessageReading, Reading, readings
from weft.engines.analytic.collective import collective_time
from weft.errors import SpecError, Unreadable
from weft.inventory.inventory import Inventory
from weft.predict.provenance import provenance
from weft.readers.benchmarks import measured
from weft.readers.read import read_text
from weft.readers.untrusted import read_bytes
from weft.results import Provenance
from weft.spec.cluster import Cluster
from weft.spec.overlay import Overlay

LARGEST_BYTES: Final = 64 << 20
_FORMATS: Final = ("nccl_tests", "rccl_tests", "weft_bench", "perftest")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """One file of a benchmark, and what was found in it."""

    file: str
    benchmark: str
    sha256: str
    readings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """An overlay, and what it does to the errors of the readings it came from."""

    cluster: Cluster
    """With the overlay in it."""
    overlay: Overlay
    files: tuple[FileRead, ...]
    gpu: GpuMeasurement | None
    median_abs_error_before_ratio: float | None
    """Of the collectives that were read, without the overlay."""
    median_abs_error_after_ratio: float | None
    provenance: Provenance


def calibrate(
    cluster: Cluster,
    files: Sequence[Path] = (),
    *,
    name: str = "overlay",
    measure_gpu: bool = False,
) -> Calibration:
    """Fit ratios of measured to predicted times, and lay them over the cluster.

    ``files`` hold output of nccl-tests (text or JSON) or perftest, run on this cluster;
    ``measure_gpu`` measures the GPU of this host.
    """
    if not files and not measure_gpu:
        raise SpecError(
            "nothing to calibrate with; give output of nccl-tests or perftest, or measure the "
            "GPU of this host"
        )
    bare = cluster.with_(overlay=None)
    read = [(path, *read_file(path)) for path in files]
    readings = [reading for _, _, found in read for reading in found]
    measured = gpu.measure() if measure_gpu else None
    overlay = _overlay(bare, name, readings, measured).with_(
        sources={str(path): file_read.sha256 for path, file_read, _ in read}
    )
    collectives = [reading for reading in readings if isinstance(reading, CollectiveReading)]
    laid_over = bare.with_(overlay=overlay)
    return Calibration(
        cluster=laid_over,
        overlay=overlay,
        files=tuple(file_read for _, file_read, _ in read),
        gpu=measured,
        median_abs_error_before_ratio=_error(bare, collectives),
        median_abs_error_after_ratio=_error(laid_over, collectives),
        provenance=provenance(laid_over, sources=tuple(map(str, files)), assumptions=()),
    )


def read_file(path: Path) -> tuple[FileRead, list[Reading]]:
    """Read what the benchmark of one file measured."""
    try:
        content = read_bytes(path, LARGEST_BYTES)
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error
    if len(content) > LARGEST_BYTES:
        raise SpecError(f"{path}: is larger than {LARGEST_BYTES >> 20} MiB; one run a file")
    seen = read_text(content.decode("utf-8", errors="replace"), path.name)
    found = readings(seen, path.name)
    if failed := [note for file in seen.files for note in file.notes]:
        raise SpecError(f"{path}: {failed[0]}")
    if not found:
        raise SpecError(f"{path}: {_why_nothing(seen)}")
    benchmark = next(item.benchmark for item in measured(seen))
    digest = hashlib.sha256(content).hexdigest()
    made = FileRead(file=str(path), benchmark=benchmark, sha256=digest, readings=len(found))
    return made, found


def _why_nothing(seen: Inventory) -> str:
    """Say why an output gives no reading: it has no row, or it is another program's."""
    begun = [text for file in seen.files for text in file.formats if text in _FORMATS]
    if begun:
        return f"{begun[0]} without a row of results; was it cut short?"
    return "not output of a benchmark that weft calibrates with: " + ", ".join(_FORMATS)


def _overlay(
    cluster: Cluster, name: str, readings: Iterable[Reading], measured: GpuMeasurement | None
) -> Overlay:
    known = list(readings)
    messages = [reading for reading in known if isinstance(reading, MessageReading)]
    collectives = [reading for reading in known if isinstance(reading, CollectiveReading)]
    classes = {
        **fit.message_ratios(cluster, messages),
        **fit.collective_ratios(cluster, collectives),
    }
    if measured is None:
        return Overlay(name=name, fabric=cluster.fabric.kind, collectives=classes)
    own = gpu.ratios(measured, catalogue.find("gpus", cluster.host.gpu))
    return Overlay(
        name=name, fabric=cluster.fabric.kind, collectives=classes,
        matrix_ratio=own.matrix_ratio,
        attention_ratio=own.attention_ratio, memory_ratio=own.memory_ratio,
    )  # fmt: skip


def _error(cluster: Cluster, readings: Sequence[CollectiveReading]) -> float | None:
    errors = []
    for reading in readings:
        group = fit.group_of(cluster, reading.ranks, reading.hosts)
        found = collective_time(cluster, reading.operation, reading.size_bytes, group)
        errors.append(abs(found.time_s.value / reading.time_s - 1))
    return median(errors) if errors else None

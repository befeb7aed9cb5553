"""The JSON that the torch.distributed worker of `weft bench run` writes.

Every iteration is timed alone; the time of a size is their median.
"""

from collections.abc import Iterable, Iterator
from statistics import median

from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import BenchmarkRank, BenchmarkRun, MeasuredCollective
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer, real


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict):
        return None
    if "weft_bench" in value and isinstance(value.get("results"), list):
        return list(_torch(value, source, number))
    return None


def _torch(value: dict[str, object], source: Source, number: int) -> Iterator[Fact]:
    operation, ranks = str(value.get("operation", "")), integer(value.get("ranks"))
    where = source.evidence(f"{value.get('benchmark')} {operation}", number)
    yield BenchmarkRun(
        benchmark=str(value.get("benchmark", "")), operation=operation, ranks=ranks,
        version=str(value.get("version", "")),
        options=(("backend", str(value.get("backend", ""))),), evidence=where,
    )  # fmt: skip
    if value.get("nccl"):
        yield SoftwareVersion(software="NCCL", version=str(value["nccl"]), evidence=where)
    devices = value.get("devices")
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, dict):
            yield BenchmarkRank(
                rank=integer(device.get("rank")) or 0, host=str(device.get("host", "")),
                gpu_name=str(device.get("gpu", "")),
                evidence=source.evidence(f"device {device}", number),
            )  # fmt: skip
    results = value["results"]
    assert isinstance(results, list)
    for row in results:
        if isinstance(row, dict):
            yield from _size(row, operation, ranks, source, number)


def _size(
    row: dict[str, object], operation: str, ranks: int | None, source: Source, number: int
) -> Iterator[Fact]:
    size, given = integer(row.get("size_bytes")), row.get("times_s")
    times = [t for one in (given if isinstance(given, list) else ()) if (t := real(one))]
    if size and times:
        yield MeasuredCollective(
            operation=operation, size_bytes=size, time_s=median(times), datatype="float",
            ranks=ranks, times_s=tuple(times),
            evidence=source.evidence(f"size {size} times {times[:3]}", number),
        )  # fmt: skip


weft_bench = Parser(tool="weft bench run", document=_document, rank=11)

"""The JSON that iperf3 writes with ``--json``: what was received, over the whole test."""

from collections.abc import Iterable, Iterator

from weft import units
from weft.observe.facts import Fact, MeasuredTransfer, Message, SoftwareVersion
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer, real


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict):
        return None
    start, end = value.get("start"), value.get("end")
    if not isinstance(start, dict) or not isinstance(end, dict):
        return None
    if "iperf" not in str(start.get("version", "")):
        return None
    return list(_facts(value, start, end, source, number))


def _facts(
    value: dict[str, object],
    start: dict[str, object],
    end: dict[str, object],
    source: Source,
    number: int,
) -> Iterator[Fact]:
    received = end.get("sum_received") or end.get("sum")
    rate = real(received.get("bits_per_second")) if isinstance(received, dict) else None
    moved = integer(received.get("bytes")) if isinstance(received, dict) else None
    where = source.evidence(f"sum_received {received}", number)
    yield SoftwareVersion(
        software="iperf3", version=str(start.get("version", "")), evidence=where
    )
    if value.get("error"):
        yield Message(
            software="iperf3", level="error", text=str(value["error"])[:400], evidence=where
        )
    if rate and moved:
        yield MeasuredTransfer(
            operation="tcp", size_bytes=moved, benchmark="iperf3", evidence=where,
            average_bytes_per_s=units.rate_from_gbit(rate / 1e9),
        )  # fmt: skip


iperf3 = Parser(tool="iperf3", document=_document, rank=40)

"""The JSON that iperf3 writes with ``--json``: what was received, over the whole test."""

from collections.abc import Iterable, Iterator

from weft import units
from weft.observe.facts import (
    Fact,
    MeasuredLatency,
    MeasuredTransfer,
    Message,
    SoftwareVersion,
)
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
    trip_s = _round_trip_s(end)
    if trip_s:
        yield MeasuredLatency(
            operation="tcp round trip", size_bytes=0, average_s=trip_s, benchmark="iperf3",
            evidence=where,
        )  # fmt: skip
    if rate and moved:
        yield MeasuredTransfer(
            operation="tcp", size_bytes=moved, benchmark="iperf3", evidence=where,
            average_bytes_per_s=units.rate_from_gbit(rate / 1e9),
        )  # fmt: skip


def _round_trip_s(end: dict[str, object]) -> float | None:
    """Return the mean round trip of the streams, as the sender's kernel saw it."""
    streams = end.get("streams")
    found = []
    for stream in streams if isinstance(streams, list) else ():
        sender = stream.get("sender") if isinstance(stream, dict) else None
        trip_us = real(sender.get("mean_rtt")) if isinstance(sender, dict) else None
        if trip_us:
            found.append(trip_us * 1e-6)
    return sum(found) / len(found) if found else None


iperf3 = Parser(tool="iperf3", document=_document, rank=40)

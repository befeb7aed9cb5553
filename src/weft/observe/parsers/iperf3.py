"""What iperf3 prints, and the JSON of ``--json``: what was received, over the whole test."""

import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from weft import units
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredLatency, MeasuredTransfer
from weft.observe.facts.programs import Message, SoftwareVersion
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_GIGABIT = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_ROW = re.compile(
    r"\[\s*(?P<id>\d+|SUM)\](?:\[\w+-\w\])?\s+[\d.]+-[\d.]+\s+sec\s+(?P<moved>[\d.]+) "
    r"(?P<bytes>[KMGT]?)Bytes\s+(?P<rate>[\d.]+) (?P<bits>[KMGT]?)bits/sec(?P<more>.*)"
)
_AROUND = re.compile(
    r"Connecting to host \S+, port \d+|\[\s*\d+\] local \S+ port \d+ connected to |"
    r"\[ ID\] Interval |(?:- ){10,}|iperf Done\.|Accepted connection from |"
    r"Server listening on \d+"
)
_REFUSED = re.compile(
    r"(?:iperf3: error - unable to connect to server.{0,100}?: |(?:tcp )?connect failed: |"
    r"(?:qperf: )?failed to connect: )(?P<text>[A-Z].{1,80})"
)
_ERRNO = {
    "no route to host": errno.EHOSTUNREACH,
    "network is unreachable": errno.ENETUNREACH,
    "connection refused": errno.ECONNREFUSED,
    "connection timed out": errno.ETIMEDOUT,
    "operation timed out": errno.ETIMEDOUT,
    "connection reset by peer": errno.ECONNRESET,
}
_ERROR = re.compile(r"iperf3: error - (?P<text>.+)")


def _refused(words: str, source: Source, text: str, number: int) -> CallFailed:
    """Return why a test found nobody at the other end."""
    said = words.strip()
    return CallFailed(
        call="connect", error=said, errno=_ERRNO.get(said.lower()), library="iperf3",
        evidence=source.evidence(text, number),
    )  # fmt: skip


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
    streams = end.get("streams")
    if rate and moved:
        yield MeasuredTransfer(
            operation="tcp", size_bytes=moved, benchmark="iperf3", evidence=where,
            average_bytes_per_s=units.rate_from_gbit(rate / 1e9),
            streams=len(streams) if isinstance(streams, list) and streams else None,
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


@dataclass(slots=True)
class _Reader:
    """Reads what the receiver of one test after another had at its end."""

    source: Source
    ids: set[str] = field(default_factory=set)
    received: list[tuple[int, float, str, int]] = field(default_factory=list)
    """Bytes, their rate, the line and its number; the sum of the streams comes last."""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line; a test is told when its last line is there."""
        row = _ROW.match(text)
        if row:
            return self._row(row, text, number)
        refused = _REFUSED.match(text)
        if refused:
            return (_refused(refused["text"], self.source, text, number),)
        error = _ERROR.match(text)
        if error:
            where = self.source.evidence(text, number)
            said = error["text"]
            return (Message(software="iperf3", level="error", text=said, evidence=where),)
        if not _AROUND.match(text):
            return None
        return tuple(self.end()) if text.startswith("Connecting") else READ

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        if row["id"] != "SUM":
            self.ids.add(row["id"])
        moved, rate = real(row["moved"]), real(row["rate"])
        if "receiver" in row["more"] and moved and rate:
            bytes_per_s = units.rate_from_gbit(rate * _GIGABIT[row["bits"]])
            whole = int(moved * _BYTES[row["bytes"]])
            self.received = [*self.received[-1:], (whole, bytes_per_s, text, number)]
        return READ

    def end(self) -> Iterable[Fact]:
        """Return the test that was read; of several streams their sum stands last."""
        if not self.received:
            self.ids = set()
            return ()
        moved, rate, text, number = self.received[-1]
        where, streams = self.source.evidence(text, number), len(self.ids)
        self.received, self.ids = [], set()
        return (
            MeasuredTransfer(
                operation="tcp", size_bytes=moved, benchmark="iperf3", evidence=where,
                average_bytes_per_s=rate, streams=streams,
            ),
        )  # fmt: skip


iperf3 = Parser(
    tool="iperf3",
    marks=("bits/sec", "iperf", "connect failed: ", "failed to connect: "),
    reader=_Reader,
    document=_document,
    rank=40,
)

"""Traces of jobs that ran: spans of computing and calls of collectives, rank by rank.

A trace is untrusted: each file is bounded, unpacked in memory and parsed by a library or by a
loop without recursion. What cannot be replayed is an error with the file and the place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import re2

from weft import plugins
from weft.errors import SpecError, Unreadable
from weft.readers import traces
from weft.readers.archives import UNREADABLE, Member, members
from weft.readers.untrusted import Malformed, json_value

MOST_BYTES: Final = 256 << 20
"""Of one rank, unpacked; parsed JSON takes some five times that of memory."""
MOST_SPANS: Final = 2_000_000
"""Of all ranks of a job."""
_RANK: Final = re2.compile(r"(?i)rank[ _.-]*(\d{1,9})|\.(\d{1,9})\.(?:et|json)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A collective, or one end of a transfer, as one rank made it."""

    operation: str
    """As the trace names it."""
    input_bytes: float
    """Of the rank's own buffer; 0: not recorded."""
    output_bytes: float = 0.0
    """Of what it ends with; 0: not recorded."""
    group: str = ""
    """Name of its process group; empty: all ranks."""
    peer: int | None = None
    """The other rank of a transfer; none: not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What one rank did from a begin for a length: computing, or a collective."""

    name: str
    begin_s: float
    """On the clock of the rank; 0 where only dependencies were recorded."""
    length_s: float
    lane: str
    """Stream, thread or communicator: what of one lane ran in order."""
    after: tuple[int, ...] = ()
    """Places of the spans that had to end before, as recorded."""
    call: Call | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The trace of one rank."""

    source: str
    rank: int | None
    """None where neither the file nor its name tells."""
    ranks: int | None
    """Of the job; none where the trace does not say."""
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    steps: int = 1
    timed: bool = True
    """Whether begins were recorded."""
    waits_recorded: bool = True
    """Whether it was recorded which computing waited for which collective."""
    notes: tuple[str, ...] = ()
    """What the trace leaves open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file of a trace: its bytes, and its value where it is JSON."""

    name: str
    data: bytes
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of traces: how it is recognised and read."""

    title: str
    claims: Callable[[Document], bool]
    reads: Callable[[Document], Traced]
    """Raises Malformed for what is none, SpecError for what cannot be replayed."""


def read_job(paths: Sequence[Path]) -> list[Traced]:
    """Read the traces of one job: files, or folders and archives of them.

    Raises SpecError for what is no trace, Unreadable for what cannot be read.
    """
    found: list[Traced] = []
    groups: dict[str, tuple[int, ...]] = {}
    spans = 0
    for path in paths:
        for document in _documents(path):
            named = _groups(document.value)
            if named:
                groups |= named
                continue
            found.append(_traced(document))
            spans += len(found[-1].spans)
            if spans > MOST_SPANS:
                raise SpecError(
                    f"{document.name}: more than {MOST_SPANS:,} kernels and collectives in "
                    "all; record fewer steps, or give the trace of one rank"
                )
    if not found:
        given, known = ", ".join(map(str, paths)), plugins.titles(traces, Format)
        raise SpecError(f"{given}: holds no trace; read are: {known}")
    return [replace(traced, groups={**groups, **traced.groups}) for traced in found]


def _documents(path: Path) -> Iterator[Document]:
    if not path.exists():
        raise Unreadable(f"{path}: no such file; name a trace, or a folder of traces")
    for member in members(path):
        name = str(path) if member.name == path.name else f"{path}/{member.name}"
        data = _data(member, name)
        value = None
        if data.lstrip()[:1] in {b"{", b"["}:
            try:
                value = json_value(_as_list(data))
            except Malformed as failure:
                place = f"{name}:{failure.line}:{failure.column}"
                raise SpecError(f"{place}: {failure.message}") from failure
        yield Document(name=name, data=data, value=value)


def _data(member: Member, name: str) -> bytes:
    if member.stream is None:
        raise SpecError(f"{name}: {member.skipped}; give it whole, as the job wrote it")
    parts, left = [], MOST_BYTES + 1
    try:
        while left > 0 and (part := member.stream.read(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
    except UNREADABLE as failure:
        raise SpecError(
            f"{name}: it cannot be read: {failure}; give it whole, as the job wrote it"
        ) from failure
    if left <= 0:
        raise SpecError(
            f"{name}: holds more than {MOST_BYTES >> 20} MiB; record fewer steps, with "
            "with_stack=False and profile_memory=False"
        )
    return b"".join(parts)


def _as_list(data: bytes) -> bytes:
    """Return JSON as it is, and JSON documents one after the other as a list of them.

    A string of JSON holds no line break, so these places are none of a string.
    """
    joined = data.replace(b"}{\n", b"},{\n").replace(b"}\n{\n", b"},\n{\n")
    return data if joined == data else b"[" + joined + b"]"


def _traced(document: Document) -> Traced:
    try:
        found = _format_of(document).reads(document)
    except Malformed as failure:
        raise SpecError(f"{document.name}: {failure.message}") from failure
    if not any(span.call for span in found.spans):
        raise SpecError(
            f"{document.name}: holds no collective; a trace of one GPU has no network to replay"
        )
    return replace(found, rank=found.rank if found.rank is not None else rank_in(document.name))


def _format_of(document: Document) -> Format:
    for name in plugins.names(traces):
        one = plugins.load(traces, name, Format)
        if one.claims(document):
            return one
    raise Malformed(f"unknown trace format; read are: {plugins.titles(traces, Format)}")


def rank_in(name: str) -> int | None:
    """Return the rank that the name of a file tells.

    >>> rank_in("out/rank3.json.gz"), rank_in("llama.17.et"), rank_in("trace.json")
    (3, 17, None)
    """
    found = _RANK.search(Path(name).name)
    return int(found[1] or found[2]) if found else None


def _groups(value: Any) -> dict[str, tuple[int, ...]]:  # noqa: ANN401 - any JSON
    """Return the process groups of a document that holds nothing else: name -> ranks."""
    if not isinstance(value, dict) or not value:
        return {}
    if not all(isinstance(item, list) and item for item in value.values()):
        return {}
    if not all(type(rank) is int for item in value.values() for rank in item):
        return {}
    return {name: tuple(ranks) for name, ranks in value.items()}

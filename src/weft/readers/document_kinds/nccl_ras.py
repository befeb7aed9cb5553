"""``ncclras -f json`` (NCCL 2.28 and later): the ranks of each communicator, how far they came.

A rank is told by how many collectives it has launched, all operations together: the RAS
subsystem counts them by operation (``src/ras/client_support.cc``).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe

_LARGEST: Final = 1 << 20
"""Ranks of a communicator that are looked at."""


def _reads(document: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
    """Record every communicator; return whether the document is of this kind."""
    del title
    if not isinstance(document, dict) or "nccl_version" not in document:
        return False
    for communicator in _objects(document, "communicators"):
        if communicator.get("hash"):
            _record(communicator, scribe)
    return isinstance(document.get("communicators"), list)


def _objects(outer: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    found = outer.get(name)
    for member in found[:_LARGEST] if isinstance(found, list) else ():
        if isinstance(member, dict):
            yield member


def _record(communicator: Mapping[str, Any], scribe: Scribe) -> None:
    key = {"job": str(communicator["hash"])}
    launched = {}
    for rank in _objects(communicator, "ranks"):
        number = str(rank.get("rank", ""))
        count = launched[number] = _launched(rank)
        own = {**key, "rank": number}
        line = _say_rank(rank, "running", f", {count} collectives launched", own, scribe)
        scribe.said("rank.launched", str(count), line, own)
    missing = list(_objects(communicator, "missing_ranks"))
    for rank in missing:
        status = rank.get("status")
        dead = isinstance(status, dict) and status.get("considered_dead") is True
        own = {**key, "rank": str(rank.get("rank", ""))}
        line = _say_rank(rank, "dead" if dead else "missing", "", own, scribe)
        scribe.event("ras.dead" if dead else "ras.missing", "rank", "error", line, own)
    furthest = max(launched.values(), default=0)
    behind = sum(count < furthest for count in launched.values())
    told = f"{len(launched)} ranks of {communicator.get('size', '')}, {len(missing)} missing"
    line = Line(1, f"communicator {key['job']}: {told}, {behind} behind", b"")
    scribe.said("job.ranks", str(communicator.get("size", "")), line, key)
    scribe.said("job.ranks_missing", str(len(missing)), line, key)
    scribe.said("job.ranks_behind", str(behind), line, key)
    scribe.said("job.launched", str(furthest), line, key)


def _say_rank(
    rank: Mapping[str, Any], status: str, more: str, key: Mapping[str, str], scribe: Scribe
) -> Line:
    where = f"process {rank.get('pid', '')} on {rank.get('host', '')}"
    line = Line(1, f"rank {key['rank']} of {key['job']}: {status}, {where}{more}", b"")
    scribe.said("rank.status", status, line, key)
    scribe.said("rank.host", str(rank.get("host", "")), line, key)
    return line


def _launched(rank: Mapping[str, Any]) -> int:
    counts = rank.get("collective_counts")
    values = counts.values() if isinstance(counts, dict) else ()
    return sum(count for count in values if isinstance(count, int))


nccl_ras = Document("nccl_ras", _reads)

"""PyTorch's flight recorder as JSON: which collective each rank is in, and how far it came.

The rank is in the name of the file (``..._rank_5``, ``nccl_trace_5``), where PyTorch puts it.
"""

from collections.abc import Mapping
from typing import Any, Final

import re2

from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe

_RANK: Final = re2.compile(r"(?:rank|trace)[ _.-]*(\d+)(?: |$)")
_LAST: Final = re2.compile(r"(\d+)\s*$")
_OPEN: Final = frozenset(("scheduled", "started"))


def _reads(document: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
    """Record what one rank was doing; return whether the document is of this kind."""
    if not isinstance(document, dict) or not isinstance(document.get("entries"), list):
        return False
    entries = [entry for entry in document["entries"] if isinstance(entry, dict)]
    if entries and not {"profiling_name", "state", "collective_seq_id"} & entries[0].keys():
        return False
    rank = _rank(document, title)
    if rank:
        _record(entries, rank, document, scribe)
    return True


def _rank(document: Mapping[str, Any], title: str) -> str:
    if "rank" in document:
        return str(document["rank"])
    found = _RANK.search(title) or _LAST.search(title)
    return str(found[1]) if found else ""


def _record(
    entries: list[dict[str, Any]], rank: str, document: Mapping[str, Any], scribe: Scribe
) -> None:
    key = {"rank": rank}
    waiting = next((entry for entry in entries if str(entry.get("state")) in _OPEN), None)
    last = waiting or (entries[-1] if entries else {})
    text = f"{last.get('profiling_name', '')} #{last.get('collective_seq_id', '')}"
    line = Line(1, f"rank {rank}: {text} {last.get('state', '')}", b"")
    operation = str(last.get("profiling_name", "")).removeprefix("nccl:")
    if operation:
        scribe.said("rank.operation", operation, line, key)
    if waiting is not None:
        scribe.said("rank.sequence", str(waiting.get("collective_seq_id", "")), line, key)
        scribe.said("rank.shape", str(waiting.get("input_sizes", "")), line, key)
    status = document.get("pg_status")
    for counts in status.values() if isinstance(status, dict) else ():
        if isinstance(counts, dict):
            for name in ("enqueued", "completed"):
                value = str(counts.get(f"last_{name}_collective", ""))
                scribe.said(f"rank.last_{name}", value, line, key)
        break
    scribe.said("rank.status", "waiting" if waiting else "idle", line, key)
    world = _world(document)
    if world:
        scribe.said("job.ranks", str(world), line, {})


def _world(document: Mapping[str, Any]) -> int:
    """Return the number of ranks of the largest group, where the configuration lists them."""
    config = document.get("pg_config")
    sizes = [0]
    for group in config.values() if isinstance(config, dict) else ():
        ranks = group.get("ranks", "") if isinstance(group, dict) else ""
        sizes.append(str(ranks).count(",") + 1 if ranks else 0)
    return max(sizes)


flight_recorder = Document("flight_recorder", _reads)

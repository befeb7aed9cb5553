"""The JSON report of nccl-tests (``-J FILE``): one result a size."""

from typing import Any, Final

from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe

_GIGA: Final = 1e9
_MICRO: Final = 1e-6


def _reads(document: Any, title: str, scribe: Scribe) -> bool:  # noqa: ANN401 - any JSON
    """Record each size; return whether the document is of this kind."""
    del title
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        return False
    rows = [one for one in document["results"] if isinstance(one, dict) and "size" in one]
    for row in rows:
        best = row.get("out_of_place") or row.get("in_place") or {}
        if not isinstance(best, dict) or "bus_bw" not in best:
            continue
        key = {"job": scribe.file, "size": str(row["size"])}
        line = Line(1, f"{row['size']} bytes: {best}", b"")
        scribe.state("collective.busbw", float(best["bus_bw"]) * _GIGA, line, key)
        scribe.state("collective.algbw", float(best.get("alg_bw", 0)) * _GIGA, line, key)
        scribe.state("collective.time", float(best.get("time", 0)) * _MICRO, line, key)
    return bool(rows)


nccl_tests_json = Document("nccl_tests_json", _reads)

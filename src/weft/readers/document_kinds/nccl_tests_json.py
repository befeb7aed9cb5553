"""The JSON report of nccl-tests (``-J FILE``): one result a size."""

from typing import Any, Final

from weft.inventory.values import number
from weft.readers.documents import Document
from weft.readers.line import Line
from weft.readers.scribe import Scribe

_FIGURES: Final = (
    ("collective.busbw", "bus_bw", 1e9),
    ("collective.algbw", "alg_bw", 1e9),
    ("collective.time", "time", 1e-6),
)
"""Attribute, its name in the report, and the unit of the report in that of the attribute."""


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
        for path, name, unit in _FIGURES:
            value = number(best.get(name), unit)
            if value is not None:
                scribe.state(path, value, line, key)
    return bool(rows)


nccl_tests_json = Document("nccl_tests_json", _reads)

"""The text that perftest prints: ib_write_bw, ib_read_lat and their like."""

from collections.abc import Iterator
from typing import Final, Literal

import re2

from weft.calibrate.reader import MessageReading, Reader
from weft.inventory.values import number, whole
from weft.units import rate_from_gbit

_TEST: Final = re2.compile(
    r"(?i)(RDMA_Write|RDMA_Read|Send)\s+(Bidirectional\s+)?(BW|Latency)\s+(Test|.*)"
)
_HEAD: Final = re2.compile(r"(?i)#bytes\s+#iterations\s+(.*)")
_PAIRS: Final = re2.compile(r"Number of qps\s*:\s*(\d+)")
_DEPTH: Final = re2.compile(r"TX depth\s*:\s*(\d+)")
_SCALES: Final = {
    "gb/sec": rate_from_gbit(1.0), "mb/sec": 2.0**20, "mib/sec": 2.0**20, "gib/sec": 2.0**30,
}  # fmt: skip
"""perftest's MB is 2^20 bytes."""
_COLUMNS: Final = {"bw": 1, "latency": 2}
"""Of the figures after the iterations: average bandwidth; typical latency."""
_US: Final = 1e-6
Verb = Literal["write", "send", "read"]
_VERBS: Final[dict[str, Verb]] = {"rdma_write": "write", "rdma_read": "read", "send": "send"}


def _claims(text: str) -> bool:
    return _TEST.search(text) is not None and _HEAD.search(text) is not None


def _read(text: str, name: str) -> Iterator[MessageReading]:  # noqa: ARG001 - one signature
    test = _TEST.search(text)
    head = _HEAD.search(text)
    assert test is not None
    assert head is not None
    verb, ways = _VERBS[test[1].lower()], 2 if test[2] else 1
    pairs, depth = _PAIRS.search(text), _DEPTH.search(text)
    what = test[3].lower()
    scale = next((s for unit, s in _SCALES.items() if unit in head[1].lower()), 0.0)
    for size_bytes, figures in _rows(text):
        figure = figures[min(_COLUMNS[what], len(figures) - 1)]
        yield MessageReading(
            verb=verb, size_bytes=size_bytes, ways=ways,
            queue_pairs=whole(pairs[1]) or 1 if pairs else 1,
            depth=whole(depth[1]) if depth else None,
            time_s=figure * _US if what == "latency" else None,
            bytes_per_s=figure * scale if what == "bw" and scale else None,
        )  # fmt: skip


def _rows(text: str) -> Iterator[tuple[float, list[float]]]:
    for line in text.splitlines():
        cells = line.split()
        if len(cells) < 3 or whole(cells[1]) is None:  # noqa: PLR2004
            continue
        figures = [found for cell in cells[2:] if (found := number(cell)) is not None]
        size_bytes = whole(cells[0])
        if (
            len(figures) == len(cells) - 2
            and size_bytes
            and size_bytes > 0
            and max(figures) > 0
        ):
            yield float(size_bytes), figures


perftest = Reader(title="perftest text", claims=_claims, read=_read)

"""The JSON of `weft bench run torch.distributed`: every iteration timed, the median counts."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from weft.calibrate.reader import CollectiveReading, Reader
from weft.calibrate.readers.nccl_tests import NAMES
from weft.errors import SpecError
from weft.inventory.values import number, whole
from weft.readers.untrusted import Malformed, json_value


def _documents(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{") and '"weft_bench"' in line:
            try:
                found = json_value(line)
            except Malformed:
                continue
            if isinstance(found, dict):
                yield found


def _claims(text: str) -> bool:
    return any(True for _ in _documents(text))


def _read(text: str, name: str) -> Iterator[CollectiveReading]:
    for found in _documents(text):
        operation = NAMES.get(str(found.get("operation")))
        if operation is None:
            raise SpecError(f"{name}: {found.get('operation')!r} is no collective of weft")
        devices, ranks = _mappings(found, "devices"), whole(found.get("ranks"))
        hosts = {str(one.get("host")) for one in devices}
        for row in _mappings(found, "results"):
            stated = row.get("times_s")
            times = [number(one) or 0.0 for one in stated] if isinstance(stated, list) else []
            size_bytes, times = number(row.get("size_bytes")), [one for one in times if one > 0]
            if times and ranks and size_bytes:
                yield CollectiveReading(
                    operation=operation, ranks=ranks, hosts=max(1, len(hosts)),
                    size_bytes=size_bytes, time_s=median(times),
                )  # fmt: skip


def _mappings(found: dict[str, Any], key: str) -> list[dict[str, Any]]:
    listed = found.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


weft_bench = Reader(title="weft bench run JSON", claims=_claims, read=_read)

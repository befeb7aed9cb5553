"""The JSON of `weft bench run torch.distributed`: every iteration timed, the median counts."""

import json
from collections.abc import Iterator
from statistics import median
from typing import Any

from weft.calibrate.reader import CollectiveReading, Reader
from weft.calibrate.readers.nccl_tests import NAMES
from weft.errors import SpecError


def _documents(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{") and '"weft_bench"' in line:
            try:
                found = json.loads(line)
            except (json.JSONDecodeError, RecursionError):
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
        hosts = {str(one.get("host")) for one in found.get("devices") or [] if one}
        for row in found.get("results") or []:
            times = [float(one) for one in row.get("times_s") or [] if float(one) > 0]
            if times:
                yield CollectiveReading(
                    operation=operation, ranks=int(found["ranks"]), hosts=max(1, len(hosts)),
                    size_bytes=float(row["size_bytes"]), time_s=median(times),
                )  # fmt: skip


weft_bench = Reader(title="weft bench run JSON", claims=_claims, read=_read)

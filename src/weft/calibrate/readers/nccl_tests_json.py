"""The JSON that nccl-tests writes with -J (version 3), where even booleans are text."""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.calibrate.reader import CollectiveReading, Reader
from weft.calibrate.readers.nccl_tests import operation_in
from weft.errors import SpecError
from weft.inventory.values import number
from weft.readers.untrusted import Malformed, json_value

_US = 1e-6


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        found = json_value(text)
    except Malformed:
        return None
    return found if isinstance(found, dict) else None


def _claims(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    found = _document(text)
    if found is None or "weft_bench" in found:
        return False
    return "results" in found and "devices" in found


def _read(text: str, name: str) -> Iterator[CollectiveReading]:
    found = _document(text) or {}
    devices = [d for d in found.get("devices") or [] if isinstance(d, dict)]
    if not devices:
        raise SpecError(f"{name}: no devices, so ranks and hosts are not known")
    hosts = {str(d.get("hostname")) for d in devices}
    named = operation_in(f"{' '.join(map(str, _arguments(found)))} {name}")
    for result in found.get("results") or []:
        operation = operation_in(str(result.get("experiment_name") or "")) or named
        if operation is None:
            raise SpecError(f"{name}: the operation is not named; put it into the file's name")
        times = [t for side in ("out_of_place", "in_place") if (t := _time_us(result, side))]
        size_bytes = _number(result.get("size"))
        if times and size_bytes:
            yield CollectiveReading(
                operation=operation, ranks=len(devices), hosts=len(hosts),
                size_bytes=size_bytes, time_s=times[0] * _US,
            )  # fmt: skip


def _arguments(found: Mapping[str, Any]) -> list[Any]:
    given = found.get("args")
    return given if isinstance(given, list) else [given or ""]


def _time_us(result: Mapping[str, Any], side: str) -> float | None:
    """Return the median of the iterations where they were timed one by one."""
    figures = result.get(side)
    if not isinstance(figures, dict):
        return None
    return _number(figures.get("p50_us")) or _number(figures.get("time"))


def _number(value: object) -> float | None:
    found = number(value)
    return found if found is not None and found > 0 else None


nccl_tests_json = Reader(title="nccl-tests JSON", claims=_claims, read=_read)

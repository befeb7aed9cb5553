"""What the maker of a device states: rows of ``rated.yaml`` by model."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import re2

from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.table import rows
from weft.inventory.values import Value, typed
from weft.units import parse_rate


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return the rated value of the model of the entity, or None where it is not listed."""
    del value
    found = known.inventory.nearest(entity, told["model"])
    device = _device(str(found.value)) if found else None
    text = device.get(row.attribute) if device else None
    if device is None or text is None:
        return None
    limit = parse_rate(text) if str(text).endswith("b/s") else typed(row.attribute, str(text))
    if limit is None:
        return None
    return Expected(
        value=limit, source="rated", basis=f"rated value of {device['name']}",
        tolerance=told.get("tolerance"), severity=told.get("severity", ""),
    )  # fmt: skip


def rate_of_adapter(port: Entity, known: Known) -> float | None:
    """Return the rate that the adapter of a port is made for, if its model is known."""
    found = known.inventory.nearest(port, "adapter.model")
    device = _device(str(found.value)) if found else None
    return parse_rate(device["port.rate"]) if device and "port.rate" in device else None


@cache
def _device(model: str) -> Mapping[str, Any] | None:
    return next((row for row in _devices() if re2.search(row["match"], model)), None)


@cache
def _devices() -> tuple[Mapping[str, Any], ...]:
    return tuple(rows("weft.expectations", "rated.yaml"))

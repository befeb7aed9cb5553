"""Limits that physics or a standard sets, written in the row itself."""

from typing import Any

from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity, kind
from weft.inventory.values import Value


def _growth(entity: Entity, name: str, known: Known) -> float | None:
    from weft.expectations.compare import growth  # noqa: PLC0415 - it imports this module

    return growth(entity, name, known.inventory)


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return the limit; a counter read once has another one than its growth."""
    del value
    counter = kind(row.kind).attributes[row.name].type == "counter"
    twice = counter and _growth(entity, row.name, known) is not None
    limit = told.get("growth") if counter and twice else told.get("value")
    if limit is None:
        return None
    wanted = tuple(limit) if isinstance(limit, list) else limit
    return Expected(
        value=wanted, source="standard", basis=told["basis"], severity=told.get("severity", "")
    )

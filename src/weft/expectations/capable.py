"""What the entity can do: another attribute of it, or ``kind.attribute`` of its container."""

from typing import Any

from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.values import Value


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return the value of the attribute that the row names, if it was read.

    ``line`` of the row asks for its line as evidence too: it is of another file.
    """
    del row, value
    path = told["attribute"]
    found = (
        known.inventory.nearest(entity, path)
        if "." in path
        else known.inventory.reading(entity, path)
    )
    if found is None:
        return None
    lines = (found.evidence,) if told.get("line") else ()
    return Expected(value=found.value, source="capable", basis=told["basis"], evidence=lines)

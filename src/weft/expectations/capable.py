"""What the entity itself says that it can do: another attribute of it."""

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
    """Return the value of the attribute that the row names, if it was read."""
    del row, value
    found = known.inventory.reading(entity, told["attribute"])
    if found is None:
        return None
    return Expected(value=found.value, source="capable", basis=told["basis"])

"""Observed against expected: the inventory in, deviations out."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import re2

from weft.expectations import (
    capable,
    configured,
    declared,
    modelled,
    peers,
    rated,
    standard,
)
from weft.expectations.expectation import Deviation, Expectation, Expected, expectations
from weft.expectations.known import Known
from weft.inventory.entity import Entity, kind
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Inventory, sample_name
from weft.inventory.values import Value

Source = Callable[[Expectation, Entity, Value, Known, Any], Expected | None]
_SOURCES: Mapping[str, Source] = {
    "declared": declared.expected,
    "configured": configured.expected,
    "modelled": modelled.expected,
    "rated": rated.expected,
    "peers": peers.expected,
    "standard": standard.expected,
    "capable": capable.expected,
}


def deviations(known: Known) -> Iterator[Deviation]:
    """Yield what is not as it should be."""
    for row in expectations():
        yield from known.inventory.contained(
            f"the expectation of {row.attribute}", partial(_of_row, row, known)
        )


def _of_row(row: Expectation, known: Known) -> Iterator[Deviation]:
    for entity, found in list(known.inventory.of(row.kind)):
        if row.name in found and applies(row, entity, known.inventory):
            yield from _compared(row, entity, known)


def applies(row: Expectation, entity: Entity, inventory: Inventory) -> bool:
    """Return whether an entity is one that a row is about."""
    return all(_has(path, wanted, entity, inventory) for path, wanted in row.when.items()) and (
        not any(_has(path, wanted, entity, inventory) for path, wanted in row.unless.items())
    )


def _has(path: str, wanted: Any, entity: Entity, inventory: Inventory) -> bool:  # noqa: ANN401
    found = inventory.nearest(entity, path)
    allowed = wanted if isinstance(wanted, list) else [wanted]
    return found is not None and any(_fits(found.value, item) for item in allowed)


def _fits(value: Value, wanted: Any) -> bool:  # noqa: ANN401 - whatever a row says
    """Return whether a value is what is wanted, matches ``~pattern`` or is ``>=limit``."""
    if isinstance(wanted, str) and wanted.startswith(">="):
        return isinstance(value, int | float) and value >= float(wanted[2:])
    if isinstance(wanted, str) and wanted.startswith("~"):
        return bool(re2.search(wanted[1:], str(value)))
    return bool(value == wanted)


def _compared(row: Expectation, entity: Entity, known: Known) -> Iterator[Deviation]:
    """Compare one attribute with the first expectation of it that is known."""
    seen = observed(row, entity, known.inventory)
    wanted = None if seen is None else _expected(row, entity, seen[0], known)
    if seen is None or wanted is None:
        return
    value, evidence = seen
    if differs(row, value, wanted):
        yield Deviation(
            expectation=row, entity=entity, observed=value, expected=wanted,
            severity=wanted.severity or row.severity, evidence=(*evidence, *wanted.evidence),
        )  # fmt: skip


def expected(row: Expectation, entity: Entity, known: Known) -> Expected | None:
    """Return the first expectation of an observed attribute that is known, if any is."""
    seen = observed(row, entity, known.inventory)
    return None if seen is None else _expected(row, entity, seen[0], known)


def _expected(row: Expectation, entity: Entity, value: Value, known: Known) -> Expected | None:
    found = (
        _SOURCES[source](row, entity, value, known, told)
        for source, told in row.sources.items()
    )
    return next((expected for expected in found if expected is not None), None)


def observed(
    row: Expectation, entity: Entity, inventory: Inventory
) -> tuple[Value, tuple[Evidence, ...]] | None:
    """Return the value to compare: of a counter its growth, where it was read twice."""
    readings = inventory.all(entity, row.name)
    if not readings:
        return None
    last = readings[-1]
    if kind(row.kind).attributes[row.name].type == "counter":
        grown = growth(entity, row.name, inventory)
        if grown is not None:
            return grown, tuple(dict.fromkeys((readings[0].evidence, last.evidence)))
    return last.value, (last.evidence,)


def growth(entity: Entity, name: str, inventory: Inventory) -> float | None:
    """Return by how much a counter grew, or None where it was read once.

    A tool that lists errors alone does not list a counter before it grows.
    """
    readings = inventory.all(entity, name)
    if len(readings) > 1:
        return inventory.increase(entity, name)
    first = inventory.samples.get(sample_name(readings[0].evidence.file))
    value, time_s = readings[0].value, readings[0].time_s
    late = (
        first is not None and time_s is not None and time_s > first and readings[0].count == 1
    )
    return value if late and isinstance(value, float) else None


def differs(row: Expectation, value: Value, wanted: Expected) -> bool:
    """Return whether a value is not as expected."""
    tolerance = row.tolerance if wanted.tolerance is None else wanted.tolerance
    limit = wanted.value
    if row.compare == "not":
        refused = limit if isinstance(limit, tuple) else (limit,)
        return any(
            _fits(str(value) if isinstance(text, str) else value, text) for text in refused
        )
    if isinstance(limit, tuple) and isinstance(value, str):
        return value not in limit
    if isinstance(value, int | float) and isinstance(limit, int | float):
        return _is_beyond(row.compare, value, limit, tolerance)
    if isinstance(value, tuple) and isinstance(limit, int | float):
        return len(value) < limit if row.compare == "at_least" else len(value) != limit
    return value != limit


def _is_beyond(compare: str, value: float, limit: float, tolerance: float) -> bool:
    if compare == "at_least":
        return value < limit * (1 - tolerance)
    if compare == "at_most":
        return value > limit * (1 + tolerance)
    return abs(value - limit) > abs(limit) * tolerance

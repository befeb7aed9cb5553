"""What comparable entities of the same input show: the value of a clear majority of them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.values import Value

_GROUP_RATIO: Final = 0.1
_PAIR: Final = 2
_FEWEST: Final = 3
"""So many entities have a majority; of two that differ neither is known to be right."""


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return the value of the majority of the peers, or of the other one of two."""
    values = _groups(row, told, known)[_group(row, told, entity, known)]
    if len(values) == 1:
        return None
    (most, count), *_ = values.most_common(1)
    total = sum(values.values())
    if told and told.get("groups"):
        is_alone = "shared" in told and _is_alone(row, told["shared"], entity, known)
        return None if is_alone else _of_groups(row, values, value)
    share = told.get("share", 0.5) if told else 0.5
    if total >= _FEWEST and count > share * total:
        basis = f"{count} of {total} peers have {_text(row, most)}"
        return Expected(value=most, source="peers", basis=basis)
    if (middle := _agreed(row, values, share)) is not None:
        basis = f"the median of {total} peers is {_text(row, middle)}"
        return Expected(value=middle, source="peers", basis=basis)
    severity = told.get("two", "") if told else ""
    other = _better(row, values, value)
    if other is None or not severity:
        return None
    listed = ", ".join(_text(row, value) for value in values)
    basis = f"its peers differ: {listed}; which is right is not known"
    return Expected(value=other, source="peers", basis=basis, severity=severity)


def _agreed(row: Expectation, values: "Counter[Value]", share: float) -> Value | None:
    """Return the median of measured values if most are as near to it as the row tolerates.

    Measured values are never equal, so no value has a majority; those around the median do.
    """
    numbers = sorted(
        element for element in values.elements() if isinstance(element, int | float)
    )
    if row.compare not in {"at_least", "at_most"} or len(numbers) < _FEWEST:
        return None
    middle = numbers[len(numbers) // 2]
    close = sum(abs(number - middle) <= row.tolerance * abs(middle) for number in numbers)
    return middle if close > share * len(numbers) else None


def _of_groups(row: Expectation, values: "Counter[Value]", mine: Value) -> Expected | None:
    """Return the lowest value of a group above the value, if the value is of no group.

    Ports of a switch come in groups, as uplinks and downlinks. A group has at least two and
    a tenth of all; one that is slower than a group and in none is odd.
    """
    total = sum(values.values())
    if not isinstance(mine, float):
        return _usual(row, values, mine)
    fewest = max(_PAIR, total * _GROUP_RATIO)
    groups = [text for text, count in values.items() if count >= fewest]
    above = [group for group in groups if isinstance(group, float) and group > mine]
    if mine in groups or not above:
        return None
    best = min(above)
    basis = f"{values[best]} of {total} ports have {_text(row, best)}"
    return Expected(value=best, source="peers", basis=basis)


def _usual(row: Expectation, values: "Counter[Value]", mine: Value) -> Expected | None:
    """Return the most frequent text, if the value is the only one of its kind among groups."""
    (most, count), *_ = values.most_common(1)
    if values[mine] > 1 or count < _FEWEST:
        return None
    basis = f"{count} of {sum(values.values())} peers have {_text(row, most)}"
    return Expected(value=most, source="peers", basis=basis)


def _is_alone(row: Expectation, by: str, entity: Entity, known: Known) -> bool:
    """Return whether none of the values of a host (what ``by`` names) is a value of another.

    Such a host stands elsewhere, as in another rack: none of its cables is out of place.
    """
    key = (row.attribute, f"values by {by}")
    if key not in known.kept:
        values: dict[str, set[Value]] = {}
        for item, value in _values(row, known):
            values.setdefault(str(item.field(by)), set()).add(value)
        owners = Counter(value for each in values.values() for value in each)
        known.kept[key] = {name: len(each) > 1 and all(owners[text] == 1 for text in each)
                           for name, each in values.items()}  # fmt: skip
    alone: dict[str, bool] = known.kept[key]
    return alone.get(str(entity.field(by)), False)


def _better(row: Expectation, values: "Counter[Value]", mine: Value) -> Value | None:
    """Return what stands against a value where there is no majority, if the row wants that."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers and row.compare == "at_least":
        return max(numbers)
    if numbers and row.compare == "at_most":
        return min(numbers)
    return next((value for value in values if value != mine), None)


def _groups(row: Expectation, told: Any, known: Known) -> dict[Any, "Counter[Value]"]:  # noqa: ANN401
    key = (row.attribute, f"peers {told.get('same') if told else ''}")
    if key not in known.kept:
        groups: dict[Any, Counter[Value]] = {}
        for entity, value in _values(row, known):
            groups.setdefault(_group(row, told, entity, known), Counter())[value] += 1
        known.kept[key] = groups
    return known.kept[key]  # type: ignore[no-any-return]


def _values(row: Expectation, known: Known) -> Iterator[tuple[Entity, Value]]:
    from weft.expectations.compare import applies, observed  # noqa: PLC0415 - it imports this

    for entity, _ in known.inventory.of(row.kind):
        if applies(row, entity, known.inventory):
            seen = observed(row, entity, known.inventory)
            if seen is not None:
                yield entity, seen[0]


def _group(row: Expectation, told: Any, entity: Entity, known: Known) -> tuple[Any, ...]:  # noqa: ANN401
    """Return what makes entities comparable: equal fields of the key and attributes."""
    same = told.get("same", ()) if told else ()
    parts: list[Any] = [row.kind]
    for item in same:
        if "." in item:
            found = known.inventory.nearest(entity, item)
            parts.append(found.value if found else None)
        else:
            parts.append(entity.field(item))
    return tuple(parts)


def _text(row: Expectation, value: Value) -> str:
    from weft.inventory.shown import shown  # noqa: PLC0415 - only where something differs

    return shown(row.attribute, value)

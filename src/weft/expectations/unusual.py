"""Values of outputs that no reader knows which are unlike those of their peers."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from weft.inventory.entity import Entity
from weft.inventory.inventory import Inventory, Reading
from weft.inventory.values import Value

_FEWEST_PEERS: Final = 3
_USUAL_RATIO: Final = 0.65
"""Of values of an unknown output: so many of them are equal, or none is usual."""
_NEAR_RATIO: Final = 0.1
_FAR_RATIO: Final = 0.25
"""Measured numbers are equal within the first, and different beyond the second."""
_EXACT_RATIO: Final = 0.05
"""Beyond this, a number differs from one that most peers show to the last digit."""


_ORDINARY_RATIO: Final = 1e-3
"""Of what is carried: so few failures are ordinary, as of segments that TCP sends again."""
_COMPARED: Final = frozenset(("word", "number", "setting", "lines"))
_MEASURED: Final = frozenset(("number",))
"""Attributes whose values are near to one another where all is well, not equal."""
Cells = Sequence[tuple[Entity, Reading]]


def unusual_fields(inventory: Inventory) -> None:
    """Note of values of unknown outputs what their peers show, where they are unlike them.

    Peers are the values of one name in one output: of the same item on other hosts, or where
    there are few of those, of other items.
    """
    _count_what_is_absent(inventory)
    columns: dict[tuple[str, str, str], list[tuple[Entity, Reading]]] = {}
    for entity, found in inventory.of("field"):
        for name in sorted(found.keys() & _COMPARED):
            column = (entity.field("output"), entity.field("name"), name)
            columns.setdefault(column, []).append((entity, found[name][-1]))
    for (_, _, name), cells in columns.items():
        for entity, reading, usual in _unlike(cells, name):
            inventory.record(entity, "usual", _plain(usual), reading.evidence)


def ordinary_harm(inventory: Inventory) -> None:
    """Note of counters of harm which are few among what the same output says was carried."""
    carried: dict[tuple[str, str], float] = {}
    harms: list[tuple[Entity, Reading]] = []
    for entity, found in inventory.of("field"):
        if "carried" in found:
            at = (entity.field("host"), entity.field("output"))
            carried[at] = max(carried.get(at, 0.0), _counted(inventory, entity, "carried"))
        if "harm" in found:
            harms.append((entity, found["harm"][-1]))
    for entity, reading in harms:
        most = carried.get((entity.field("host"), entity.field("output")), 0.0)
        few = _counted(inventory, entity, "harm") <= _ORDINARY_RATIO * most
        inventory.record(entity, "ordinary", few, reading.evidence)


def _counted(inventory: Inventory, entity: Entity, name: str) -> float:
    """Return by how much a counter grew, or what it shows where it was read once."""
    grown = inventory.increase(entity, name)
    value = inventory.value(entity, name)
    return grown if grown is not None else value if isinstance(value, float) else 0.0


def _count_what_is_absent(inventory: Inventory) -> None:
    """Record that an output has no line of a kind that the same output of most others has."""
    hosts: dict[str, dict[str, Reading]] = {}
    kinds: dict[tuple[str, str], set[str]] = {}
    for entity, found in inventory.of("field"):
        if "lines" in found:
            output, host = entity.field("output"), entity.field("host")
            hosts.setdefault(output, {})[host] = found["lines"][-1]
            kinds.setdefault((output, entity.field("name")), set()).add(host)
    for (output, name), having in kinds.items():
        if len(having) >= max(_FEWEST_PEERS, _USUAL_RATIO * len(hosts[output])):
            for host in sorted(hosts[output].keys() - having):
                absent = Entity("field", (host, output, "", name))
                inventory.record(absent, "lines", 0.0, hosts[output][host].evidence)


def _unlike(cells: Cells, name: str) -> Iterator[tuple[Entity, Reading, Value]]:
    """Yield the cells that are unlike their peers, with what is usual of those."""
    items: dict[str, list[Value]] = {}
    for entity, reading in cells:
        items.setdefault(entity.field("item"), []).append(reading.value)
    values = [reading.value for _, reading in cells]
    column = _usual(values, name)
    if column is not None and len(items) == len(cells) <= _FEWEST_PEERS:
        column = None  # two of three rows of one table: no rule
    own = _usual_of_each(items, name)
    for entity, reading in cells:
        item = entity.field("item")
        mine = len(items[item]) >= _FEWEST_PEERS
        usual = own[item] if mine else column
        exact = usual is not None and _is_exact(items[item] if mine else values, usual)
        if usual is not None and _is_unlike(reading.value, usual, name, exact=exact):
            yield entity, reading, usual


def _usual_of_each(items: Mapping[str, Sequence[Value]], name: str) -> dict[str, Value | None]:
    """Return what is usual of each item; of none, where those of most items differ freely."""
    own = {item: _usual(values, name) for item, values in items.items()}
    judged = [own[item] for item, values in items.items() if len(values) >= _FEWEST_PEERS]
    agreeing = sum(usual is not None for usual in judged)
    return own if agreeing >= _USUAL_RATIO * len(judged) else dict.fromkeys(own)


def _usual(values: Sequence[Value], name: str) -> Value | None:
    """Return what most of some values are, or are near to, or None."""
    if len(values) < _FEWEST_PEERS:
        return None
    (most, count), *_ = Counter(values).most_common(1)
    numbers = sorted(value for value in values if isinstance(value, float))
    if count < _USUAL_RATIO * len(values) and numbers and name in _MEASURED:
        most = numbers[len(numbers) // 2]
        count = sum(abs(number - most) <= _NEAR_RATIO * abs(most) for number in numbers)
    if count < _USUAL_RATIO * len(values):
        return None
    # Where most are zero one is used and the others are not.
    return None if most == 0 and name in {"number", "setting"} else most


def _is_exact(values: Sequence[Value], usual: Value) -> bool:
    """Return whether the usual value is one that most show to the last digit, as a size."""
    return sum(value == usual for value in values) >= _USUAL_RATIO * len(values)


def _is_unlike(value: Value, usual: Value, name: str, *, exact: bool) -> bool:
    """Return whether a value is another word, or a number that is far from the usual one."""
    if isinstance(value, float) and isinstance(usual, float) and name != "lines":
        far = _EXACT_RATIO if exact else _FAR_RATIO
        return abs(value - usual) > far * abs(usual)
    return value != usual


def _plain(value: Value) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)

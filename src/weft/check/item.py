"""An item of the checklist as a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from weft.inventory.entity import attribute
from weft.inventory.table import rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One way to measure an item."""

    attribute: str = ""
    compare: str = "equal"
    """equal, one_of, at_least, or count (of a list)."""
    value: Any = None
    deviation: bool = False
    """Judge by the expectation tables in place of a value."""
    of: str = ""
    """Last field of the key of the entities that count; empty for all."""
    of_port: bool = False
    """Of interfaces, those alone that belong to a compute port."""
    select: bool = False
    """Entities with another value are not failures: there must be enough with this one."""
    least_bytes: int = 0
    """Of collectives, sizes from here on."""
    events: tuple[str, ...] = ()
    read: str = ""
    """For events: the attribute that shows that their source was read."""
    source: str = ""
    """For events: or part of the name of the file that holds them."""

    @property
    def measured(self) -> str:
        """Return the attribute that must have been read."""
        return self.attribute or self.read


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the checklist."""

    name: str
    title: str
    group: str
    needs: str
    tests: tuple[Test, ...]
    measure: str
    gate: bool = False
    fabrics: tuple[str, ...] = ()
    hosts: int = 1
    """Hosts that are needed to compare anything."""


@cache
def items() -> tuple[Item, ...]:
    """Return every item of the table."""
    return tuple(_item(row) for row in rows("weft.check", "items.yaml"))


def _item(row: Mapping[str, Any]) -> Item:
    told = dict(row)
    tests = tuple(_test(item) for item in told.pop("any"))
    fabrics = tuple(told.pop("fabrics", ()))
    return Item(name=told.pop("item"), tests=tests, fabrics=fabrics, **told)


def _test(row: Mapping[str, Any]) -> Test:
    told = dict(row)
    test = Test(events=tuple(told.pop("event", ())), value=told.pop("is", None), **told)
    if test.measured:
        attribute(test.measured)
    return test

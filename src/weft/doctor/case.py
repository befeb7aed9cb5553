"""What the inference works on: the inventory, its deviations, and which clues are met where."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Final

from weft import plugins
from weft.doctor.cause import Clue
from weft.doctor.configurations import configured
from weft.errors import UnknownName
from weft.expectations.expectation import Deviation
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Event, Inventory, Reading
from weft.inventory.values import Value
from weft.readers.matcher import pattern

_MOST_GPUS: Final = 16
"""Of one host."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A clue that is met: of which entity, and on which lines."""

    clue: Clue
    entity: Entity
    evidence: tuple[Evidence, ...]
    text: str = ""
    fix: str = ""
    """What to change, where a rule of weft lint says it."""
    detail: str = ""
    """What differs, or what was logged, in a few words."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What the message of an event names."""


@dataclass(slots=True)
class Case:
    """Everything that a diagnosis is made from."""

    known: Known
    deviations: Mapping[str, list[Deviation]]
    events: Mapping[str, list[Event]]

    @property
    def inventory(self) -> Inventory:
        """Return what was observed."""
        return self.known.inventory

    def hits(self, clue: Clue) -> Iterator[Hit]:
        """Yield where a clue is met."""
        if clue.event:
            yield from self._events(clue)
        elif clue.deviation:
            for deviation in self.deviations.get(clue.deviation, ()):
                yield Hit(
                    clue,
                    deviation.entity,
                    deviation.evidence,
                    deviation.text,
                    detail=deviation.short,
                )
        elif clue.predicate:
            yield from predicate(clue.predicate)(clue, self)
        else:
            yield from self._attributes(clue)

    def _events(self, clue: Clue) -> Iterator[Hit]:
        for event in self.events.get(clue.event, ()):
            if event.count >= clue.least and all(
                _matches(pattern, event.fields.get(name, ""))
                for name, pattern in (clue.where or {}).items()
            ):
                text, fix = configured(event)
                if fix:
                    fix = f"{text}: {fix}"
                said = text or event.fields.get("said", "")
                lines = tuple(event.evidence)
                yield Hit(clue, event.entity, lines, text, fix, said, event.fields)

    def _attributes(self, clue: Clue) -> Iterator[Hit]:
        kind, _, name = clue.attribute.partition(".")
        for entity, found in self.inventory.of_both(kind):
            if clue.of and not _matches(clue.of, entity.key[-1]):
                continue
            for reading in reversed(found.get(name, ())):
                if not clue.values or _is_one(reading.value, clue.values):
                    said = reading.value if isinstance(reading.value, str) else ""
                    yield Hit(clue, entity, (reading.evidence,), detail=said)
                    break


def _is_one(value: Any, wanted: tuple[Any, ...]) -> bool:  # noqa: ANN401 - any value
    if isinstance(value, str):
        return any(isinstance(item, str) and _matches(item, value) for item in wanted)
    return any(item == value and isinstance(item, bool) == isinstance(value, bool)
               for item in wanted)  # fmt: skip


def _matches(wanted: str, text: str) -> bool:
    return bool(pattern(wanted).search(text))


@cache
def predicate(name: str) -> Callable[[Clue, Case], Iterator[Hit]]:
    """Return a predicate by name; UnknownName where there is none."""
    from weft.doctor import predicates  # noqa: PLC0415 - predicates need this module

    for module in plugins.names(predicates):
        found = getattr(import_module(f"{predicates.__name__}.{module}"), name, None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    raise UnknownName(f"no predicate is called {name!r}")


def last(found: Mapping[str, Sequence[Reading]], name: str) -> Value | None:
    """Return the last value of an attribute among those of an entity, if there is one."""
    known = found.get(name)
    return known[-1].value if known else None


def spans_hosts(found: Mapping[str, Sequence[Reading]]) -> bool:
    """Return whether the job of a process runs on several hosts, by its nodes or its ranks."""
    nodes, ranks = last(found, "nodes"), last(found, "ranks")
    if isinstance(nodes, float):
        return nodes > 1
    return isinstance(ranks, float) and ranks > _MOST_GPUS

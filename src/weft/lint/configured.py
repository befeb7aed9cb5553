"""Settings as values of entities of the inventory, by the rows of ``configured.yaml``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from weft.inventory.entity import Entity, attribute, kind
from weft.inventory.table import rows
from weft.inventory.values import Value, typed
from weft.lint import facts as vocabulary
from weft.lint.facts import Fact
from weft.readers.rows import FACTORS


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Which entity a kind of fact is about, and which attributes it sets."""

    of: type[Fact]
    entity: str
    key: Mapping[str, str]
    when: Mapping[str, str]
    sets: Mapping[str, tuple[str, float]]
    """Field of the fact, and the factor to the unit of the inventory, by attribute."""
    values: Mapping[str, str]
    each: str

    def holds(self, fact: Fact) -> bool:
        """Return whether the row is about a fact."""
        return all(
            getattr(getattr(fact, name), "name", getattr(fact, name)) == wanted
            for name, wanted in self.when.items()
        )

    def entities(self, fact: Fact, host: str) -> Iterator[Entity]:
        """Yield the entities of a fact; ``host`` is where its file was copied from.

        A port without a name, or that is in a variable of a shell, stands for all ports.
        """
        for item in (getattr(fact, self.each) if self.each else ()) or ("",):
            key = []
            for name in kind(self.entity).key:
                said = self.key.get(name, "")
                own = item if said and said == self.each else _filled(said, fact)
                own = "" if own.startswith("$") else own
                key.append(own or (host if name in {"host", "switch"} else ""))
            yield Entity(self.entity, tuple(key))

    def settings(self, fact: Fact) -> Iterator[tuple[str, Value]]:
        """Yield the attributes that a fact sets, with their values."""
        for name, (field, factor) in self.sets.items():
            value = self._value(getattr(fact, field), f"{self.entity}.{name}", factor)
            if value is not None:
                yield name, value

    def _value(self, said: Any, path: str, factor: float) -> Value | None:  # noqa: ANN401 - any field
        if said is None or said in ("", ()):
            return None
        if isinstance(said, bool):
            said = "yes" if said else "no"
        text = " ".join(said) if isinstance(said, tuple) else str(said)
        return None if "$" in text else typed(path, self.values.get(text, text), factor)


def _filled(template: str, fact: Fact) -> str:
    if "{" in template:
        return template.format(fact)
    return str(getattr(fact, template)) if template else ""


def row_of(fact: Fact) -> Row | None:
    """Return the row that is about a fact, if there is one."""
    return next((row for row in _rows().get(type(fact), ()) if row.holds(fact)), None)


@cache
def _rows() -> Mapping[type[Fact], list[Row]]:
    found: dict[type[Fact], list[Row]] = {}
    for told in rows("weft.lint", "configured.yaml"):
        row = _row(told)
        found.setdefault(row.of, []).append(row)
    return found


def _row(told: Mapping[str, Any]) -> Row:
    sets = {str(name).partition(" "): field for name, field in told.get("sets", {}).items()}
    for name, _, _ in sets:
        attribute(f"{told['entity']}.{name}")
    return Row(
        of=getattr(vocabulary, told["of"]),
        entity=told["entity"],
        key=told["key"],
        when=told.get("when", {}),
        sets={name: (field, FACTORS.get(unit, 1.0)) for (name, _, unit), field in sets.items()},
        values=told.get("values", {}),
        each=told.get("each", ""),
    )

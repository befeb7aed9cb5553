"""What an inventory holds values of: hosts, ports, GPUs, ranks, switches, and their attributes.

The kinds, their keys and their attributes are rows of ``entities.yaml``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from weft.inventory.table import rows

_UNKNOWN: Final = "?"
INPUT: Final = "input"
"""The kind of the one entity that stands for everything that was read."""


class Entity(NamedTuple):
    """One thing of a cluster: its kind and the values of its key, outermost first."""

    kind: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        """Return the entity as a report names it.

        >>> str(Entity("port", ("node7", "mlx5_0", "1")))
        'port mlx5_0/1 on node7'
        """
        return name(self)

    @property
    def fields(self) -> dict[str, str]:
        """Return the key as a mapping from field to value."""
        return dict(zip(kind(self.kind).key, self.key, strict=True))

    def field(self, wanted: str) -> str:
        """Return one field of the key, or an empty text where the kind has no such field."""
        return self.fields.get(wanted, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """What can be known of a kind of entity; numbers are in the unit that is named here."""

    name: str
    about: str
    type: str = "text"
    """text, number, flag, counter (a number that only grows) or list (of texts)."""
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of entity."""

    name: str
    key: tuple[str, ...]
    about: str
    shown: str
    """How a report names one, with the fields of the key in braces."""
    attributes: Mapping[str, Attribute]
    defaults: Mapping[str, str]
    """Fields of the key that need not be known, and what stands for each: another field."""


@cache
def kinds() -> Mapping[str, Kind]:
    """Return every kind of entity by name."""
    table = rows("weft.inventory", "entities.yaml")
    return {str(row["kind"]): _kind(row) for row in table}


def kind(wanted: str) -> Kind:
    """Return one kind of entity."""
    return kinds()[wanted]


def attribute(path: str) -> Attribute:
    """Return an attribute from its path, as ``port.rate``."""
    owner, _, wanted = path.partition(".")
    return kind(owner).attributes[wanted]


def _kind(row: Mapping[str, object]) -> Kind:
    listed = row.get("attributes") or {}
    assert isinstance(listed, dict)
    key = row["key"]
    assert isinstance(key, list)
    return Kind(
        name=str(row["kind"]),
        key=tuple(key),
        about=str(row["about"]),
        shown=str(row["shown"]),
        attributes={item: Attribute(name=item, **told) for item, told in listed.items()},
        defaults=dict(row.get("defaults") or {}),  # type: ignore[call-overload]
    )


def name(entity: Entity) -> str:
    """Return an entity as a report names it; the host is left out where it is not known.

    >>> name(Entity("port", ("", "mlx5_0", "1")))
    'port mlx5_0/1'
    """
    if entity.kind == INPUT:
        return "the input"
    known = {name: said or _UNKNOWN for name, said in entity.fields.items()}
    shown = kind(entity.kind).shown.format(**known)
    for join in (" on ", " of ", " in "):
        shown = shown.removesuffix(join + _UNKNOWN)
    return shown.replace(f"{_UNKNOWN}/", "").replace(_UNKNOWN, "(not named)")


def within(entity: Entity) -> Iterator[Entity]:
    """Yield the entity and those that contain it, the innermost first, then the input."""
    yield entity
    for length in range(len(entity.key) - 1, 0, -1):
        field_names = kind(entity.kind).key[:length]
        outer = _by_key().get(field_names)
        if outer is not None:
            yield Entity(outer, entity.key[:length])
    yield Entity(INPUT, ())


@cache
def _by_key() -> Mapping[tuple[str, ...], str]:
    return {kind.key: kind.name for kind in reversed(list(kinds().values())) if kind.key}

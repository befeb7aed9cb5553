"""Facts from parts of configurations: trees of documents, sections of command lines."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol, TypeVar, get_type_hints

from weft.lint.document import Tree
from weft.lint.facts import Fact
from weft.lint.sections import Section, numbers
from weft.lint.text import Place

F = TypeVar("F", bound=Fact)
Part = Tree | Section


class Placed(Protocol):
    """A part of a file."""

    @property
    def at(self) -> Place:
        """Where it stands."""


def fact(kind: type[F], of: Placed, /, **fields: Any) -> F:  # noqa: ANN401 - fields of any kind
    """Return a fact that stands where a part does.

    A field that is given as a part is read as the type of the field says: a number, a text, a
    list of either. A field whose part is absent keeps its default.
    """
    reads = _reads(kind)
    given = {}
    for name, value in fields.items():
        if isinstance(value, Part):
            if value:
                given[name] = reads[name](value)
        elif value is not None:
            given[name] = value
    return kind(at=of.at, **given)


@cache
def _reads(kind: type[Fact]) -> Mapping[str, Callable[[Part], Any]]:
    """Return what reads each field of a kind of facts."""
    return {
        name: next(read for wanted, read in _READS if wanted in str(type_))
        for name, type_ in get_type_hints(kind).items()
    }


_READS: tuple[tuple[str, Callable[[Part], Any]], ...] = (
    ("tuple[int", lambda part: tuple(numbers(part.string()))),
    ("bool", lambda part: part.true()),
    ("int", lambda part: part.number()),
    ("float", lambda part: part.number()),
    ("", lambda part: part.string()),
)
"""By a word of the type of a field; the first that is there."""

"""What all parts of a spec share: frozen, and no key that weft does not know."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """One mapping of a spec file."""

    model_config = ConfigDict(
        allow_inf_nan=False,
        extra="forbid",
        frozen=True,
        strict=True,  # "8" is text and true is no number: said, not guessed
        use_attribute_docstrings=True,  # they reach the JSON Schema and the messages
    )

    def with_(self, **changes: Any) -> Self:  # noqa: ANN401 - any field of the part
        """Return a copy with some fields changed; values are inside numbers, not text."""
        unknown = changes.keys() - type(self).model_fields.keys()
        assert not unknown, f"{type(self).__name__} has no {sorted(unknown)}"
        return self.model_copy(update=changes)


class Keyed(Part):
    """A part with mappings of plain values, hashed by their items: a key of caches."""

    def __hash__(self) -> int:
        """Hash by value, so that a whole cluster can be a key of a cache."""
        values = (value for _, value in self)
        return hash(
            tuple(tuple(sorted(v.items())) if isinstance(v, dict) else v for v in values)
        )

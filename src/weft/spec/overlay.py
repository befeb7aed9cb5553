"""The user's own measurements, laid over the model: ratios to what it predicts.

`weft calibrate` writes them as a TOML file; every verb takes the file and every result names
it. A ratio of 1 changes nothing. A time ratio above 1 is slower than predicted.
"""

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from weft.errors import SpecError, Unreadable
from weft.spec.base import Part

LARGEST: Final = 100.0
Factor = Annotated[float, Field(gt=0, le=LARGEST)]
ANY: Final = "any"
"""What stands in for an operation or algorithm that was not measured."""


class CollectiveRatios(Part):
    """Measured over predicted time of one class of collectives."""

    fixed_ratio: Factor = 1.0
    """Of what does not grow with the size: start and steps."""
    volume_ratio: Factor = 1.0
    """Of what does: the inverse of a bandwidth ratio."""
    low_ratio: Factor = 0.9
    """Lower end of the 80 % band of what is left over."""
    high_ratio: Factor = 1.1
    """Upper end of the 80 % band of what is left over."""
    rows: Annotated[int, Field(ge=0)] = 0
    """Measured sizes that these come from."""
    ranks: list[int] = Field(default_factory=list)
    """Numbers of ranks that were measured; none: not recorded."""

    def covers(self, ranks: int) -> bool:
        """Tell whether a number of ranks was measured."""
        return not self.ranks or ranks in self.ranks


class Overlay(Part):
    """Measurements of one cluster, as ratios to the prediction for it."""

    name: str = "overlay"
    """What results call it."""
    fabric: str = ""
    """Fabric that was measured: what crosses another one stays as predicted."""
    collectives: dict[str, CollectiveRatios] = Field(default_factory=dict)
    """By reach, operation and algorithm: across.all_reduce.ring; inside is one domain."""
    matrix_ratio: dict[str, Factor] = Field(default_factory=dict)
    """Matrix products, by precision: FLOP/s over those of a healthy GPU of the kind."""
    attention_ratio: Factor = 1.0
    """The same for fused attention."""
    memory_ratio: Factor = 1.0
    """The same for memory bandwidth."""
    sources: dict[str, str] = Field(default_factory=dict)
    """Files that the ratios come from, and the SHA-256 of each."""

    @property
    def sha256(self) -> str:
        """Digest of everything in it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def __hash__(self) -> int:
        """Hash by value, so that a whole cluster can be a key of a cache."""
        return hash(self.sha256)

    def collective(self, *, across: bool, operation: str, algorithm: str) -> CollectiveRatios:
        """Return the ratios of a class: its own, those of its reach, or none (all 1).

        >>> slow = CollectiveRatios(volume_ratio=1.5)
        >>> overlay = Overlay(collectives={"across.any.any": slow})
        >>> overlay.collective(across=True, operation="all_reduce", algorithm="ring") == slow
        True
        >>> overlay.collective(across=False, operation="x", algorithm="y").volume_ratio
        1.0
        """
        reach = "across" if across else "inside"
        for name in (f"{operation}.{algorithm}", f"{operation}.{ANY}", f"{ANY}.{ANY}"):
            if f"{reach}.{name}" in self.collectives:
                return self.collectives[f"{reach}.{name}"]
        return UNCHANGED

    def measured(self, *, across: bool, operation: str, ranks: int) -> bool:
        """Tell whether a collective was measured with a number of ranks."""
        reach = "across" if across else "inside"
        return any(
            ratios.covers(ranks)
            for name, ratios in self.collectives.items()
            if name.startswith(f"{reach}.{operation}.")
        )

    def matrix(self, precision: str) -> float:
        """Return the ratio of a precision; of the nearest one measured where it was not."""
        if precision in self.matrix_ratio or not self.matrix_ratio:
            return self.matrix_ratio.get(precision, 1.0)
        ordered = sorted(self.matrix_ratio.values())
        return ordered[len(ordered) // 2]


UNCHANGED: Final = CollectiveRatios()


def load_overlay(path: Path) -> Overlay:
    """Read an overlay that `weft calibrate` wrote."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}; weft calibrate writes one") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: not TOML: {error}") from error
    if not table:
        raise SpecError(f"{path}: holds no ratio; weft calibrate writes one with --save")
    try:
        return Overlay(**table)
    except (ValidationError, TypeError) as error:
        raise SpecError(f"{path}: not an overlay of weft: {_first(error)}") from error


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    found = error.errors()[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']} (got {found['input']!r})"


def as_toml(overlay: Overlay, remark: str = "") -> str:
    """Write an overlay as TOML text that loads to the same overlay."""
    lines = [f"# {line}".rstrip() for line in remark.splitlines()]
    lines += _table("", overlay.model_dump(mode="json"))
    return "\n".join(lines) + "\n"


def _table(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    if name:
        yield f"\n[{name}]"
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    yield from (f"{_key(k)} = {_value(v)}" for k, v in table.items() if k not in inner)
    for key, value in inner.items():
        if value:
            yield from _table(f"{name}.{_key(key)}" if name else _key(key), value)


def _key(key: str) -> str:
    plain = key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return key if plain else _value(key)


def _value(value: object) -> str:
    if not isinstance(value, str):
        return repr(value)
    marks = {"\\": "\\\\", '"': '\\"'}
    return (
        '"'
        + "".join(marks.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in value)
        + '"'
    )

"""What was understood of a file: its facts by kind, and its lines that nobody read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path

from weft.observe.bundle import observe
from weft.observe.facts.base import Fact, Process
from weft.observe.facts.reading import FileRead


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact in words: its kind, what it says, and the line that says so."""

    kind: str
    file: str
    line: int
    says: Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Facts of some files, and how much of each file was read."""

    files: tuple[FileRead, ...]
    facts: tuple[Statement, ...]


def explain(*paths: Path) -> Explanation:
    """Read files, folders or archives and say what was understood of them."""
    seen = observe(*paths)
    return Explanation(seen.files, tuple(statement(fact) for fact in seen.facts))


def statement(fact: Fact) -> Statement:
    """Return a fact in words, without what its line did not say."""
    says: dict[str, str | int | float | bool] = {}
    kind = type(fact)
    for one in fields(kind):  # type: ignore[arg-type]  # every fact is a dataclass
        if one.name != "evidence":
            says |= _said(one.name, getattr(fact, one.name))
    return Statement(kind.__name__, fact.evidence.file, fact.evidence.line, says)


def _said(name: str, value: object) -> dict[str, str | int | float | bool]:
    if isinstance(value, Process):
        parts = {one.name: getattr(value, one.name) for one in fields(value)}
        return {key: part for key, part in parts.items() if part not in {None, ""}}
    if value is None or value in ("", (), "unknown"):
        return {}
    if isinstance(value, Enum):
        return {name: str(value.value)}
    if isinstance(value, str | int | float):
        return {name: value}
    if isinstance(value, tuple):
        return {name: " ".join(map(_part, value))}
    return {name: f"{getattr(value, 'time_s', value)}"}


def _part(value: object) -> str:
    """Return one of several values as text: pairs as ``name=value``, parts by their names."""
    if isinstance(value, tuple):
        return "=".join(map(str, value))
    if is_dataclass(value) and not isinstance(value, type):
        said = ((one.name, getattr(value, one.name)) for one in fields(value))
        return " ".join(f"{name}={part}" for name, part in said if part not in {None, ""})
    return str(value)

"""What is wrong with a spec, said so that its writer can put it right."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from weft.errors import SpecError

Path = tuple[str, ...]
"""Keys from the top of a spec to one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that cannot be right: at which key, which value, what is allowed."""

    path: Path
    message: str
    value: object = None
    has_value: bool = True
    place: str = ""
    """Where it was written, when the path does not say."""

    def under(self, *keys: str) -> "Problem":
        """Return the problem as one of a larger spec, below some keys."""
        return replace(self, path=(*keys, *self.path))

    def show(self, place: str) -> str:
        """Return one line: place, key, value, what is allowed and what to do."""
        parts = [self.place or place, ".".join(self.path)]
        if self.has_value:
            parts.append(f"value {shorten(self.value)}")
        return ": ".join([part for part in parts if part] + [self.message])


def shorten(value: object, limit: int = 60) -> str:
    """Return a value as it may be quoted in a message.

    >>> shorten({"a": 1}), shorten("roce")
    ('a mapping', "'roce'")
    """
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."


FEW: Final = 15


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a hint with the nearest names, and all of them when they are few.

    >>> nearest("infinband", ["infiniband", "roce"])
    "did you mean 'infiniband'? There are: infiniband, roce"
    """
    names = sorted(known)
    holding = [known for known in names if str(name) and str(name) in known]
    close = get_close_matches(str(name), names, n=3, cutoff=0.5)
    near = list(dict.fromkeys(holding + close))[:3]
    guess = f"did you mean {' or '.join(repr(n) for n in near)}?"
    if len(names) > FEW:
        return guess if near else f"nothing of {len(names)} known names is similar"
    everything = f"here are: {', '.join(names)}" if names else "here are none"
    return f"{guess} T{everything}" if near else f"t{everything}"


def raise_all(lines: Iterable[str]) -> None:
    """Raise one error with every line in it, if there is any."""
    found = list(dict.fromkeys(lines))
    if found:
        raise SpecError("\n".join(found))


def place_of(path: Path, marks: Mapping[Path, str]) -> str:
    """Return where a key was written, or the nearest key above it that was written."""
    for end in range(len(path), -1, -1):
        if path[:end] in marks:
            return marks[path[:end]]
    return ""


def get_at(data: Any, path: Path) -> Any:  # noqa: ANN401 - whatever YAML held
    """Return the value at a path of plain mappings and lists, or none."""
    for key in path:
        if isinstance(data, list) and key.isdigit() and int(key) < len(data):
            data = data[int(key)]
            continue
        if not isinstance(data, Mapping) or key not in data:
            return None
        data = data[key]
    return data

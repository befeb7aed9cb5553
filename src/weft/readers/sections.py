"""A JSON document that no row knows, as sections of lines: a heading, then names and values.

Each member of a list, and of an object whose members are objects of the same make, is a
section of its own, called by its name, so that it can be compared with the others. Objects of
the API of Kubernetes are left out: rows know what they show, whatever their kind.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Final

_NAMES: Final = (
    "name", "id", "host", "hostname", "node", "device", "dev", "port", "interface", "ifname",
    "gpu", "index", "slot", "label", "unit", "rank",
)  # fmt: skip
_ALIKE_RATIO: Final = 0.5
Members = list[tuple[str, Mapping[str, Any]]]


def sections(value: Any, title: str = "", at: int = 0) -> Iterator[tuple[int, str]]:  # noqa: ANN401 - any JSON
    """Yield lines of text, each with the identity of the object that it is of."""
    if isinstance(value, list):
        value = {"item": value}
    if not isinstance(value, Mapping) or {"apiVersion", "kind"} <= value.keys():
        return
    title = title or _label(value)
    apart: list[tuple[str, Members]] = []
    listed = list(_flat(value, "", apart))
    if title:
        yield at, f"{title}:"
    indent = "  " if title else ""
    for name, said in listed:
        if said != title.rpartition(" ")[2]:  # its label is in the title
            yield id(value), f"{indent}{name}: {said}"
    for name, members in apart:
        for label, member in members:
            inner = " ".join(part for part in (title, name, label) if part)
            yield from sections(member, inner, id(member))


def _flat(
    value: Mapping[str, Any], before: str, apart: list[tuple[str, Members]]
) -> Iterator[tuple[str, str]]:
    """Yield the values of an object with their names; its members apart are collected."""
    for key, inner in value.items():
        name = f"{before} {key}".strip()
        members = _members(inner)
        if members:
            apart.append((name, members))
        elif isinstance(inner, Mapping):
            yield from _flat(inner, name, apart)
        elif isinstance(inner, list):
            yield name, " ".join(str(item) for item in inner)
        else:
            yield name, _text(inner)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _members(value: object) -> Members:
    """Return the objects of a list, or of an object whose members are alike, by name."""
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, Mapping)]
        return list(zip(_labels(objects), objects, strict=True))
    if not isinstance(value, Mapping) or len(value) < 2:  # noqa: PLR2004 - one has no peer
        return []
    inner = [item for item in value.values() if isinstance(item, Mapping) and item]
    if len(inner) < len(value) or not _are_alike(inner):
        return []
    return [(str(key), item) for key, item in value.items()]


def _are_alike(objects: list[Mapping[str, Any]]) -> bool:
    """Return whether objects share most of their keys with the first."""
    first = objects[0].keys()
    return all(
        len(first & obj.keys()) >= _ALIKE_RATIO * len(first | obj.keys()) for obj in objects
    )


def _label(value: Mapping[str, Any]) -> str:
    """Return what an object says that it is, with the kind of name that it is."""
    found = next((name for name in _NAMES if isinstance(value.get(name), str | int)), "")
    return f"{found} {value[found]}" if found else ""


def _labels(objects: list[Mapping[str, Any]]) -> list[str]:
    """Return a name for each object: what it says of itself where all differ, or a number."""
    plain = [{str(key).lower(): value for key, value in obj.items()} for obj in objects]
    for name in _NAMES:
        said = [str(row[name]) for row in plain if isinstance(row.get(name), str | int)]
        if len(said) == len(objects) == len(set(said)):
            return [text if not text.isdecimal() else f"{name} {text}" for text in said]
    for name in plain[0] if plain else ():
        words = [row[name] for row in plain if isinstance(row.get(name), str)]
        if len(words) == len(objects) == len(set(words)):
            return words
    return [str(number) for number, _ in zip(count(), objects)]

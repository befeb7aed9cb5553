"""Kubernetes manifests as text, in the part of YAML that YAML 1.1 and 1.2 read alike.

Kubernetes reads YAML 1.1, where off, no, 1_000 and 12:30 are no text. So a scalar stands plain
only where no version of YAML could take it for anything but text; all else is quoted, with
what is not printable escaped. No value can end its line and begin another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

Value = str | int | bool | Sequence["Value"] | Mapping[str, "Value"]
Manifest = Mapping[str, Value]

_PLAIN: Final = re.compile(r"[A-Za-z/](?:[A-Za-z0-9_./:@+-]*[A-Za-z0-9_/])?")
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Text to a person, and a boolean or nothing to YAML 1.1."""
_BLOCK: Final = re.compile(r"[!-~][ -~]*\n(?:(?:[ -~]*\n)*[ -~]*[!-~][ -~]*\n)?")
"""Whole lines, each printable, that a literal block holds as it stands."""
_ESCAPED: Final = re.compile(r'[^ -~]|["\\]')
_WIDTH: Final = 94
_LAST_OF_TWO: Final = 0xFF
_LAST_OF_FOUR: Final = 0xFFFF


def text(manifests: Iterable[Manifest], head: Iterable[str]) -> str:
    r"""Return manifests as one file of documents under a head of comments.

    >>> print(text([{"kind": "Pod", "args": ["off", "a\nb: c"]}], ["why"]), end="")
    # why
    ---
    kind: Pod
    args:
    - "off"
    - "a\nb: c"
    """
    lines = [f"# {line}" for one in head for line in wrap(one, _WIDTH, break_on_hyphens=False)]
    for manifest in manifests:
        lines += ["---", *_mapping(manifest)]
    return "\n".join(lines) + "\n"


def _mapping(mapping: Mapping[str, Value]) -> Iterator[str]:
    for key, value in mapping.items():
        name = f"{_scalar(key)}:"
        if isinstance(value, str) and _BLOCK.fullmatch(value):
            yield f"{name} |"
            yield from (f"  {line}" if line else "" for line in value.splitlines())
        elif isinstance(value, Mapping) and value:
            yield name
            yield from (f"  {line}" if line else "" for line in _mapping(value))
        elif isinstance(value, Sequence) and not isinstance(value, str) and value:
            yield name
            yield from _sequence(value)
        else:
            yield f"{name} {_scalar(value)}"


def _sequence(values: Sequence[Value]) -> Iterator[str]:
    for value in values:
        yield from _item(value)


def _item(value: Value) -> Iterator[str]:
    if isinstance(value, str) and _BLOCK.fullmatch(value):
        yield "- |"
        yield from (f"  {line}" if line else "" for line in value.splitlines())
        return
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence) or not value:
        yield f"- {_scalar(value)}"
        return
    inner = _mapping(value) if isinstance(value, Mapping) else _sequence(value)
    for number, line in enumerate(inner):
        yield (f"  {line}" if number else f"- {line}") if line else ""


def _scalar(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else f'"{_ESCAPED.sub(_escape, value)}"'
    return "{}" if isinstance(value, Mapping) else "[]"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in {'"', "\\"}:
        return f"\\{character}"
    if character == "\n":
        return r"\n"
    code = ord(character)
    if code <= _LAST_OF_TWO:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR else f"\\U{code:08x}"

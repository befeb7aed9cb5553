"""Text that a row of a table reads, written from its pattern and texts of its groups.

The simplest text is taken: what may be absent is absent, of several spellings the first that
has the wanted group.
"""

import re
from collections.abc import Iterator, Mapping
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_OF_CATEGORY = {
    c.CATEGORY_DIGIT: "7", c.CATEGORY_SPACE: " ", c.CATEGORY_WORD: "a",
    c.CATEGORY_NOT_SPACE: "a", c.CATEGORY_NOT_DIGIT: "a", c.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
_ANY = "a7 -:/.\"'=<>[]()_#|,"


def written(pattern: str, groups: Mapping[str, str]) -> str:
    """Return a text that a pattern matches, with the texts of some of its named groups."""
    tree = parser.parse(pattern)
    names = {number: name for name, number in tree.state.groupdict.items()}
    text = "".join(_parts(tree, names, groups))
    assert re.search(pattern, text), (pattern, text)
    return text


def within(pattern: str, group: str) -> str:
    """Return the pattern of a named group of a pattern."""
    start = pattern.index(f"(?P<{group}>") + len(f"(?P<{group}>")
    depth, at = 1, start
    while depth:
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            at = pattern.index("]", at + 2)
        else:
            depth += {"(": 1, ")": -1}.get(pattern[at], 0)
        at += 1
    return pattern[start : at - 1]


def _parts(tree: Any, names: Mapping[int, str], groups: Mapping[str, str]) -> Iterator[str]:
    for kind, told in tree:
        yield from _PARTS.get(kind, _nothing)(told, names, groups)


def _nothing(*_: Any) -> Iterator[str]:
    yield from ()


def _repeated(told: Any, names: Mapping[int, str], groups: Mapping[str, str]) -> Iterator[str]:
    least, _, inner = told
    for _ in range(least or int(_holds(inner, names, groups))):
        yield from _parts(inner, names, groups)


def _group(told: Any, names: Mapping[int, str], groups: Mapping[str, str]) -> Iterator[str]:
    name = names.get(told[0] or 0, "")
    yield from [groups[name]] if name in groups else _parts(told[-1], names, groups)


def _one_of(told: Any, names: Mapping[int, str], groups: Mapping[str, str]) -> Iterator[str]:
    best = next((one for one in told[1] if _holds(one, names, groups)), told[1][0])
    yield from _parts(best, names, groups)


_PARTS = {
    c.LITERAL: lambda told, *_: iter(chr(told)),
    c.ANY: lambda *_: iter("a"),
    c.NOT_LITERAL: lambda told, *_: iter(next(one for one in _ANY if ord(one) != told)),
    c.IN: lambda told, *_: iter(_member(told)),
    c.MAX_REPEAT: _repeated,
    c.MIN_REPEAT: _repeated,
    c.SUBPATTERN: _group,
    c.BRANCH: _one_of,
}


def _holds(tree: Any, names: Mapping[int, str], groups: Mapping[str, str]) -> bool:
    """Return whether one of the given groups stands within a part of a pattern."""
    for kind, told in tree:
        if kind is c.SUBPATTERN:
            if names.get(told[0] or 0, "") in groups or _holds(told[-1], names, groups):
                return True
        elif kind is c.BRANCH:
            if any(_holds(one, names, groups) for one in told[1]):
                return True
        elif kind in {c.MAX_REPEAT, c.MIN_REPEAT} and _holds(told[2], names, groups):
            return True
    return False


def _member(listed: Any) -> str:
    """Return a character of a class of characters."""
    kind, told = listed[0]
    if kind is c.NEGATE:
        pattern = re.compile(f"[^{''.join(map(_class, listed[1:]))}]")
        return next(one for one in _ANY if pattern.match(one))
    if kind is c.RANGE:
        return chr(told[0])
    return _OF_CATEGORY[told] if kind is c.CATEGORY else chr(told)


def _class(told: Any) -> str:
    kind, value = told
    if kind is c.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if kind is c.CATEGORY:
        return {c.CATEGORY_DIGIT: r"\d", c.CATEGORY_SPACE: r"\s", c.CATEGORY_WORD: r"\w"}[value]
    return re.escape(chr(value))

"""A backtracking matcher that counts its steps, and lines made to be slow for an expression.

The steps of Python's own engine cannot be counted. This one goes the same way through the same
parsed expression, so what grows here grows there.
"""

import re
import re._constants as op  # the parsed form of an expression, the same since 3.11
import re._parser as sre
from collections.abc import Callable, Iterator

MOST_STEPS = 400_000
_FAILS = "\x01"


class TooManyStepsError(Exception):
    """The matcher was given up."""


class Matcher:
    """Matches one text; ``steps`` counts."""

    def __init__(self, pattern: re.Pattern, text: str) -> None:
        self.tree = sre.parse(pattern.pattern, pattern.flags)
        self.ignores_case = bool(pattern.flags & re.IGNORECASE)
        self.text, self.steps = text, 0

    def match(self) -> bool:
        """Match at the beginning."""
        return self._items(list(self.tree), 0, 0, lambda _: True)

    def _items(self, items: list, index: int, at: int, then: Callable[[int], bool]) -> bool:
        if index == len(items):
            return then(at)
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooManyStepsError
        name, value = items[index]
        return self._one(name, value, at, lambda end: self._items(items, index + 1, end, then))

    def _one(  # noqa: PLR0911 - a node is one of nine sorts
        self, name, value, at: int, then: Callable[[int], bool]
    ) -> bool:
        if name is op.BRANCH:
            return any(self._items(list(way), 0, at, then) for way in value[1])
        if name is op.SUBPATTERN:
            return self._items(list(value[3]), 0, at, then)
        if name in {op.MAX_REPEAT, op.MIN_REPEAT}:
            return self._repeat(value, 0, at, then, greedy=name is op.MAX_REPEAT)
        if name in {op.POSSESSIVE_REPEAT, op.ATOMIC_GROUP}:
            end = self._whole(name, value, at)
            return end is not None and then(end)
        if name in {op.ASSERT, op.ASSERT_NOT}:
            way, items = value
            begin = at if way > 0 else at - items.getwidth()[0]
            holds = begin >= 0 and self._items(list(items), 0, begin, lambda _: True)
            return holds == (name is op.ASSERT) and then(at)
        if name is op.AT:
            return self._place(value, at) and then(at)
        return at < len(self.text) and self._char(name, value, self.text[at]) and then(at + 1)

    def _repeat(self, value, done: int, at: int, then, *, greedy: bool) -> bool:
        least, most, body = value

        def again() -> bool:
            return done < most and self._items(
                list(body), 0, at,
                lambda end: (end != at or done < least)
                and self._repeat(value, done + 1, end, then, greedy=greedy),
            )  # fmt: skip

        def leave() -> bool:
            return done >= least and then(at)

        return (again() or leave()) if greedy else (leave() or again())

    def _whole(self, name, value, at: int) -> int | None:
        """Return the end of what is matched once and never tried again."""
        ends: list[int] = []

        def note(end: int) -> bool:
            ends.append(end)
            return True

        if name is op.ATOMIC_GROUP:
            return ends[0] if self._items(list(value), 0, at, note) else None
        least, most, body = value
        done = 0
        while done < most and self._items(list(body), 0, at, note) and ends[-1] != at:
            at, done = ends[-1], done + 1
        return at if done >= least else None

    def _place(self, where, at: int) -> bool:
        text, end = self.text, len(self.text)
        before = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
        after = at < end and (text[at].isalnum() or text[at] == "_")
        return {
            op.AT_BEGINNING: at == 0, op.AT_BEGINNING_STRING: at == 0,
            op.AT_END: at == end, op.AT_END_STRING: at == end,
            op.AT_BOUNDARY: before != after, op.AT_NON_BOUNDARY: before == after,
        }[where]  # fmt: skip

    def _char(self, name, value, char: str) -> bool:
        if self.ignores_case and char.isalpha():
            return any(one_of(name, value, c) for c in (char.lower(), char.upper()))
        return one_of(name, value, char)


def one_of(name, value, char: str) -> bool:
    """Tell whether a node takes a character."""
    if name is op.ANY:
        return char != "\n"
    if name is op.LITERAL:
        return ord(char) == value
    if name is op.NOT_LITERAL:
        return ord(char) != value
    if name is op.IN:
        negated = value[0][0] is op.NEGATE
        return any(one_of(*part, char) for part in value[negated:]) != negated
    if name is op.RANGE:
        return value[0] <= ord(char) <= value[1]
    kind = str(value).removeprefix("CATEGORY_")
    word = char.isalnum() or char == "_"
    truth = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": word}
    return not truth[kind[4:]] if kind.startswith("NOT_") else truth[kind]


def slow_lines(pattern: re.Pattern, length: int) -> Iterator[str]:
    """Yield lines of which one part repeats as often as it may, and that then fail."""
    tree = list(sre.parse(pattern.pattern, pattern.flags))
    for target in range(_repeats(tree)):
        unrolled: list[str] = []
        text, _ = _sample(tree, 0, target, length, unrolled)
        before = text.partition(unrolled[0])[0] if unrolled and unrolled[0] else text
        yield from (stem + _FAILS for stem in (text, before + "".join(unrolled[:1])))
    for piece in ("a", "1", " ", " 1", "a ", "1:", "a.", "a=1,"):
        yield piece * (length // len(piece)) + _FAILS


def _repeats(items) -> int:
    return sum(
        (name in _REPEATS) + sum(_repeats(inner) for inner in _inner(name, value))
        for name, value in items
    )


_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}


def _inner(name, value) -> list:
    if name in _REPEATS:
        return [value[2]]
    if name is op.BRANCH:
        return list(value[1])
    return [value[3]] if name is op.SUBPATTERN else [value] if name is op.ATOMIC_GROUP else []


def _sample(
    items, first: int, target: int, length: int, unrolled: list[str]
) -> tuple[str, int]:
    """Return a text that fits, with the repeat of that number unrolled, and the next number."""
    text = ""
    for name, value in items:
        if name in _REPEATS:
            mine, first = first, first + 1
            body, after = _sample(value[2], first, target, length, unrolled)
            holds = first <= target < after
            most = min(int(value[1]), length // max(len(body), 1))
            text += body * (most if mine == target else max(value[0], holds))
            if mine == target:
                unrolled.append(body * most)
            first = after
        elif name is op.BRANCH:
            ways = []
            for way in value[1]:
                ways.append((first, *_sample(way, first, target, length, unrolled)))
                first = ways[-1][2]
            chosen = [one for one in ways if one[0] <= target < one[2]] or ways
            text += chosen[0][1]
        elif name in {op.SUBPATTERN, op.ATOMIC_GROUP}:
            part, first = _sample(_inner(name, value)[0], first, target, length, unrolled)
            text += part
        elif name in {op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY}:
            tried = (*"1a A.-:,=/", *map(chr, range(33, 127)))
            text += (
                chr(value)
                if name is op.LITERAL
                else next((c for c in tried if one_of(name, value, c)), "a")
            )
    return text, first

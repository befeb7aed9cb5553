"""Commands in shell text: words, assignments, where output goes. Nothing is ever run."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from weft.lint.names import names
from weft.lint.text import Place

LONGEST: Final = 20_000
_ASSIGNMENT: Final = re2.compile(r"(?s)([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_OPERATORS: Final = frozenset(";&|()")
_PREFIXES: Final = frozenset(names("programs.prefixes"))
"""Words that may stand before a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command."""

    at: Place
    assignments: tuple[tuple[str, str], ...]
    """``A=B`` before its name; of no command, where it has no words."""
    words: tuple[str, ...]
    target: str = ""
    """Where its output goes."""
    exported: bool = False
    """Whether its assignments reach what is started later."""

    @property
    def name(self) -> str:
        """The program without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    def option(self, *names: str) -> str | None:
        """Return the value of an option: ``--name value`` or ``--name=value``; last wins."""
        return next(iter(reversed(self.options(*names))), None)

    def options(self, *names: str) -> list[str]:
        """Return every value of an option that may be repeated."""
        return _values(self.words, names)

    def has(self, *names: str) -> bool:
        """Return whether one of the words stands there."""
        return any(word in names for word in self.words)


def value_of(words: Sequence[str], *names: str) -> str:
    """Return the value of an option, the last one given; empty where it is absent.

    >>> value_of(("torchrun", "--nnodes", "2", "--nnodes=4"), "--nnodes")
    '4'
    """
    return next(iter(reversed(_values(words, names))), "")


def _values(words: Sequence[str], names: Sequence[str]) -> list[str]:
    found = []
    for number, word in enumerate(words):
        head, equals, value = word.partition("=")
        if head in names and (equals or number + 1 < len(words)):
            found.append(value if equals else words[number + 1])
    return found


def commands(lines: Iterator[tuple[int, str]], at: Callable[[int], Place]) -> Iterator[Command]:
    """Yield the commands of numbered lines; lines that end in a backslash are joined."""
    held, first = "", 0
    for number, line in lines:
        first = first or number
        stripped = line.rstrip()
        if stripped.endswith("\\") and len(held) < LONGEST:
            held += stripped[:-1] + " "
            continue
        yield from _commands(held + line, at(first))
        held, first = "", 0
    if held:
        yield from _commands(held, at(first))


def commands_in(text: str, at: Place) -> Iterator[Command]:
    """Yield the commands of a text that stands at one place as a whole."""
    return commands(enumerate(text.splitlines(), 1), lambda _: at)


def _commands(line: str, at: Place) -> Iterator[Command]:
    text = line.strip()
    if not text or text.startswith("#"):
        return
    tokens = _tokens(text[:LONGEST])
    part: list[str] = []
    for token in [*tokens, ";"]:
        if token and set(token) <= _OPERATORS:
            command = _command(part, at)
            if command is not None:
                yield command
            part = []
        else:
            part.append(token)


def _tokens(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[str] = []
    try:
        for token in lexer:
            if token.startswith("#"):
                break
            found.append(token)
    except ValueError:  # an open quote: what came before it still stands
        return found or text.split()
    return found


def _command(part: list[str], at: Place) -> Command | None:
    words, target = _without_targets(part)
    while words and words[0] in _PREFIXES:
        words = words[1:]
    assignments = []
    exported = words[:1] in (["export"], ["setenv"], ["ENV"])
    if words and words[0] in {"export", "declare", "typeset", "env", "ENV", "set", "setenv"}:
        rest = [word for word in words[1:] if not word.startswith("-")]
        if words[0] == "setenv" and len(rest) > 1:
            rest = [f"{rest[0]}={rest[1]}"]
        while rest and _ASSIGNMENT.fullmatch(rest[0]):
            name, value = _split(rest.pop(0))
            assignments.append((name, value))
        words = rest if words[0] == "env" else []
    while words and _ASSIGNMENT.fullmatch(words[0]):
        assignments.append(_split(words.pop(0)))
    if not assignments and not words:
        return None
    return Command(
        at=at,
        assignments=tuple(assignments),
        words=tuple(words),
        target=target,
        exported=exported,
    )


def _split(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _without_targets(part: list[str]) -> tuple[list[str], str]:
    words: list[str] = []
    target = ""
    skip = False
    for number, token in enumerate(part):
        if skip:
            skip = False
        elif token and set(token) <= {"<", ">"}:
            skip = True
            if ">" in token and number + 1 < len(part):
                target = part[number + 1]
        else:
            words.append(token)
    return words, target

"""Which files are configurations, by their names and texts; ``weft.lint`` reads them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, Protocol

import re2

from weft.inventory.table import rows
from weft.readers.matcher import Matcher, pattern

FRONT_BYTES: Final = 16 << 10
"""What a configuration is recognised by stands within so many bytes."""
Claim = Callable[[str, str, str], tuple[str, ...]]
"""What reads a configuration: its file, host and text in, the names of its formats out."""
_OUTPUT: Final = re2.compile(r"(?i)\.(?:log|out|err|txt)(?:\.\d+)?$|(?:^|/)[^/]*\bshow[^/]*$")
_Row = Mapping[str, Any]
_SHELLS: Final = (".sh", ".bash", ".sbatch", ".slurm", ".env", ".profile", ".bashrc")


class Text(Protocol):
    """A file as tests look at it."""

    @property
    def name(self) -> str:
        """The name of the file with its folders."""

    @property
    def head(self) -> str:
        """Enough of the text to see what it is."""

    @property
    def content(self) -> str:
        """All of the text."""

    def has(self, pattern: str, within: str) -> bool:
        """Return whether a pattern occurs ``within`` the head or the content."""


@dataclass(frozen=True)
class _Front:
    """A file of which the front alone is known: all patterns are searched at once."""

    name: str
    data: bytes

    @cached_property
    def head(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def content(self) -> str:
        return self.head

    @cached_property
    def found(self) -> frozenset[str]:
        """Return the patterns of the table that occur in the front."""
        patterns, matcher = _patterns()
        return frozenset(patterns[number] for number in matcher.match(self.data))

    def has(self, pattern: str, within: str) -> bool:
        del within  # nothing else is known of it
        return pattern in self.found


def may_be_configuration(file: str, front: bytes) -> bool:
    """Return whether a file is worth a look by the readers of configurations.

    >>> may_be_configuration("etc/nccl.conf", b""), may_be_configuration("nccl.log", b"NCCL")
    (True, False)
    """
    text = _Front(file, front[:FRONT_BYTES])
    by_name, by_pattern = _unprinted()
    found = (row for pattern in text.found for row in by_pattern.get(pattern, ()))
    return any(_holds(row, text) for row in (*by_name, *found))


def is_claimed(reader: str, text: Text, *, printed: bool) -> bool:
    """Return whether a file is one for a reader, as far as its row in the table says.

    Without ``printed`` what programs print too is none.
    """
    return any(_holds(row, text) for row in _table()[reader] if printed or "printed" not in row)


def _holds(row: _Row, text: Text) -> bool:
    return all(_TESTS[name](text, told) for name, told in row.items() if name in _TESTS)


@cache
def _unprinted() -> tuple[Sequence[_Row], Mapping[str, Sequence[_Row]]]:
    """Return the rows, each once, that need no pattern in the text, then others by theirs."""
    by_name: list[_Row] = []
    by_pattern: dict[str, list[_Row]] = {}
    for row in (row for each in _table().values() for row in each if "printed" not in row):
        needed = next((row[name] for name in ("head", "content") if name in row), None)
        rows = by_name if needed is None else by_pattern.setdefault(needed, [])
        if row not in rows:
            rows.append(row)
    return by_name, by_pattern


def is_output(file: str) -> bool:
    """Return whether a name is one of what programs print, so that other lines count too.

    >>> is_output("leaf1/show_running-config"), is_output("leaf1/config_db.json")
    (True, False)
    """
    return _OUTPUT.search(file) is not None


def holds_state(readers: Iterable[str]) -> bool:
    """Return whether documents of some readers hold what is, beside what is set."""
    return any("state" in row for reader in readers for row in _table().get(reader, ()))


def is_shell(text: Text) -> bool:
    """Return whether a file is a script, or a list of settings that a shell reads."""
    first = text.head.partition("\n")[0]
    if first.startswith("#!"):
        return "sh" in first.rpartition("/")[2]
    return text.name.endswith(_SHELLS) or "\n#SBATCH" in text.head


@cache
def _table() -> Mapping[str, Any]:
    table: Any = rows("weft.readers", "configurations.yaml")
    found: Mapping[str, Any] = table
    return found


@cache
def _patterns() -> tuple[Sequence[str], Matcher]:
    """Return every pattern that is searched in texts, and what searches all of them."""
    found = dict.fromkeys(
        row[name]
        for listed in _table().values() for row in listed
        for name in ("head", "content", "lacks") if name in row
    )  # fmt: skip
    return list(found), Matcher(list(found))


def _stem(text: Text) -> str:
    return text.name.rpartition("/")[2]


def _first(text: Text) -> str:
    """Return the first line that sets something."""
    lines = text.head.splitlines()
    return next((line for line in lines if line.strip() and line[0] != "#"), "")


def _begin(text: Text, words: list[str]) -> set[str]:
    """Return those of some words that begin a line."""
    return {line.split(None, 1)[0] for line in text.content.splitlines() if line.split()} & {
        *words
    }


_TESTS: Final[Mapping[str, Callable[[Text, Any], bool]]] = {
    "names": lambda text, names: _stem(text) in names,
    "stem": lambda text, told: pattern(told).fullmatch(_stem(text)) is not None,
    "not_stem": lambda text, told: not pattern(told).fullmatch(_stem(text)),
    "folders": lambda text, folders: (
        text.name.split("/")[-2:-1] in [[folder] for folder in folders]
    ),
    "ends": lambda text, ends: text.name.endswith(tuple(ends)),
    "not_ends": lambda text, ends: not text.name.endswith(tuple(ends)),
    "shell": lambda text, wanted: is_shell(text) is wanted,
    "head": lambda text, pattern: text.has(pattern, "head"),
    "first": lambda text, told: pattern(told).fullmatch(_first(text)) is not None,
    "content": lambda text, pattern: text.has(pattern, "content"),
    "lacks": lambda text, pattern: not text.has(pattern, "content"),
    "two_of": lambda text, words: len(_begin(text, words)) > 1,
}

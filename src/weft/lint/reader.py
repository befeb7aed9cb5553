"""What a reader is: it says which files are its own, and which facts are in them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import re2

from weft import plugins
from weft.lint import readers
from weft.lint.document import Tree, read_json, read_yaml
from weft.lint.facts import Fact, Flaw
from weft.lint.flaws import flaw
from weft.lint.shell import Command, commands
from weft.lint.text import Place, Text
from weft.readers.configurations import is_shell
from weft.readers.matcher import pattern
from weft.readers.rendered import PLACEHOLDER
from weft.readers.untrusted import Malformed, is_yaml_object

_PLACEHOLDER: Final = re2.compile(rf"{PLACEHOLDER}[A-Z0-9_]+")
JSON_ENDS: Final = (".json",)
YAML_ENDS: Final = (".yaml", ".yml")


@dataclass(frozen=True, eq=False)
class File:
    """A file with its documents, read when a reader first asks for them."""

    text: Text

    @property
    def name(self) -> str:
        """The name as the user gave it."""
        return self.text.name

    @property
    def content(self) -> str:
        """All of the text."""
        return self.text.content

    def has(self, wanted: str, within: str) -> bool:
        """Return whether a pattern occurs ``within`` the head or the content."""
        return pattern(wanted).search(getattr(self, within)) is not None

    @cached_property
    def head(self) -> str:
        """Enough of the text to see what it is."""
        return self.text.content[:20_000]

    @property
    def flaw(self) -> Flaw | None:
        """What is wrong with the document, where it is broken."""
        failure = self._outcome
        if isinstance(failure, Malformed):
            return flaw(
                Place(self.text, failure.line, failure.column),
                "document",
                message=failure.message,
            )
        return None

    def placeholders(self) -> Iterator[Flaw]:
        """Yield the placeholders of ``weft render`` that are left, all of a file as one."""
        first = self.text.content.find(PLACEHOLDER)
        if first >= 0:
            words = sorted({*_PLACEHOLDER.findall(self.text.content, first)})
            yield flaw(
                self.at(self.text.content.count("\n", 0, first) + 1),
                "placeholder",
                what=", ".join(words),
            )

    @property
    def documents(self) -> list[Tree]:
        """The JSON or YAML documents of the file; none where it is neither or broken."""
        return [] if isinstance(self._outcome, Malformed) else self._outcome

    @cached_property
    def _outcome(self) -> list[Tree] | Malformed:
        try:
            return self._read()
        except Malformed as failure:
            return failure

    def _read(self) -> list[Tree]:
        start = self.head.lstrip("\ufeff \t\r\n")
        if self.name.endswith(JSON_ENDS):
            return [read_json(self.text)]
        if start[:1] == "{" and not self.name.endswith(YAML_ENDS):
            return _perhaps_json(self.text)
        if self.name.endswith(YAML_ENDS) or is_yaml_object(start):
            return _templated(self.text) or read_yaml(self.text)
        return []

    @cached_property
    def commands(self) -> list[Command]:
        """The commands of the file, read as shell text."""
        return list(commands(self.lines(), self.at))

    @property
    def is_shell(self) -> bool:
        """Whether it is a script, or a list of settings that a shell reads."""
        return is_shell(self)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers."""
        return enumerate(self.text.lines, start=1)

    def at(self, line: int, column: int = 1) -> Place:
        """Return the place of a line."""
        return Place(self.text, line, column)


def _perhaps_json(text: Text) -> list[Tree]:
    try:
        return [read_json(text)]
    except Malformed:
        return []


def _templated(text: Text) -> list[Tree]:
    """Leave templates (Helm, Jinja) alone: they are not YAML yet."""
    if "{{" not in text.content and "{%" not in text.content:
        return []
    try:
        return read_yaml(text)
    except Malformed:
        return [Tree({}, text, lambda _: (1, 1))]


def of_device(device: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts just read, as those of a device."""
    for fact in facts:
        object.__setattr__(fact, "device", device)  # nobody else holds them yet
        yield fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One format."""

    title: str
    read: Callable[[File], Iterable[Fact]]
    claims: Callable[[File], bool] = lambda _: True
    """What its row in ``weft/readers/configurations.yaml`` cannot say of its files."""


@cache
def all_readers() -> dict[str, Reader]:
    """Return every reader by name: of files of code, and of rows of ``formats.yaml``."""
    from weft.lint.lines import line_readers  # noqa: PLC0415 - it makes readers of its rows

    files = {name: plugins.load(readers, name, Reader) for name in plugins.names(readers)}
    return dict(sorted((files | dict(line_readers())).items()))

"""Formats with one setting a line, as rows of ``formats.yaml``."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, get_type_hints

import re2

from weft.inventory import table
from weft.lint import facts
from weft.lint.names import names
from weft.lint.reader import File, Reader

Row = Mapping[str, Any]


@cache
def line_readers() -> Mapping[str, Reader]:
    """Return the readers of the table by name."""
    return {
        row["reader"]: Reader(
            title=row["title"], claims=partial(_claims, row), read=partial(_read, row)
        )
        for row in table.rows("weft.lint", "formats.yaml")
    }


@cache
def _pattern(text: str) -> Any:  # noqa: ANN401 - a pattern of re2
    return re2.compile(text)


def _claims(row: Row, file: File) -> bool:
    return any(
        all(_TESTS[name](file, wanted) for name, wanted in claim.items())
        for claim in row["claims"]
    )


def _first(file: File) -> str:
    """Return the first line that sets something."""
    return next((row for _, row in file.lines() if row.strip() and row[0] != "#"), "")


def _first_words(file: File) -> set[str]:
    return {line.split(None, 1)[0] for _, line in file.lines() if line.split()}


_TESTS: Final[Mapping[str, Callable[[File, Any], bool]]] = {
    "names": lambda file, stems: file.text.stem in stems,
    "stem": lambda file, pattern: _pattern(pattern).fullmatch(file.text.stem) is not None,
    "not_stem": lambda file, pattern: not _pattern(pattern).fullmatch(file.text.stem),
    "two_of": lambda file, key: len(_first_words(file).intersection(names(key))) > 1,
    "folders": lambda file, folders: file.text.folder in folders,
    "ends": lambda file, ends: file.name.endswith(tuple(ends)),
    "not_ends": lambda file, ends: not file.name.endswith(tuple(ends)),
    "head": lambda file, pattern: _pattern(pattern).search(file.head) is not None,
    "first": lambda file, pattern: _pattern(pattern).fullmatch(_first(file)) is not None,
    "content": lambda file, pattern: _pattern(pattern).search(file.text.content) is not None,
    "lacks": lambda file, pattern: _pattern(pattern).search(file.text.content) is None,
}


def _read(row: Row, file: File) -> Iterator[facts.Fact]:
    comment, skipped = row.get("comment"), row.get("skip", "#")
    for number, line in file.lines():
        text = line.partition(comment)[0] if comment else line
        if text.strip() and text.lstrip()[0] not in skipped:
            yield from _facts(row, file, number, text)


def _facts(row: Row, file: File, number: int, text: str) -> Iterator[facts.Fact]:
    for one in row["rows"]:
        match = _pattern(one["pattern"]).fullmatch(text)
        if match:
            for made in one["facts"]:
                yield _fact(row, made, file, number, match.groups())
            return
    broken = row.get("broken")
    if broken:
        message = broken["message"].format(columns=text.count("\t") + 1)
        at = file.at(number)
        yield facts.Flaw(at=at, rule="broken_line", message=message, fix=broken["fix"])


def _fact(row: Row, made: Row, file: File, number: int, groups: tuple[str, ...]) -> facts.Fact:
    types = _types(made["of"])
    values: dict[str, Any] = {}
    for field, template in made.items():
        if field != "of":
            value = template.format(*(group or "" for group in groups), file=file.name)
            value = value.replace(*row.get("replace", {}).get(field, ("", "")))
            values[field] = _CONVERTED.get(types[field], str)(value)
    kind: type[facts.Fact] = getattr(facts, made["of"])
    return kind(at=file.at(number), **values)


@cache
def _types(kind: str) -> Mapping[str, Any]:
    return get_type_hints(getattr(facts, kind))


_CONVERTED: Final[Mapping[Any, Callable[[str], Any]]] = {
    int: int,
    facts.Side: lambda name: facts.Side[name],
    tuple[str, ...]: lambda text: (text.lower(),),
}
"""By the type of a field; GUIDs, the only tuples, compare in small letters."""

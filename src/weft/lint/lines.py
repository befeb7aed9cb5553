"""Formats with one setting a line, as rows of ``formats.yaml``."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, get_type_hints

from weft.inventory import table
from weft.lint import facts
from weft.lint.reader import File, Reader
from weft.lint.text import Place
from weft.readers.matcher import pattern

Row = Mapping[str, Any]
Value = Callable[[tuple[str, ...], File], Any]
"""What gives the value of a field, from the groups of a line."""


@cache
def line_readers() -> Mapping[str, Reader]:
    """Return the readers of the table by name."""
    return {
        row["reader"]: Reader(title=row["title"], read=partial(_read, row))
        for row in table.rows("weft.lint", "formats.yaml")
    }


def _read(row: Row, file: File) -> Iterator[facts.Fact]:
    comment, skipped = row.get("comment"), row.get("skip", "#")
    made = [(pattern(item["pattern"]), _makers(row, item)) for item in row["rows"]]
    for number, line in file.lines():
        text = line.partition(comment)[0] if comment else line
        if not text.strip() or text.lstrip()[0] in skipped:
            continue
        for matcher, makers in made:
            match = matcher.fullmatch(text)
            if match:
                groups = tuple(group or "" for group in match.groups())
                for kind, fields in makers:
                    values = {name: value(groups, file) for name, value in fields}
                    yield kind(at=file.at(number), **values)
                break
        else:
            yield from _broken(row, file.at(number), text)


def _broken(row: Row, at: Place, text: str) -> Iterator[facts.Flaw]:
    if "broken" in row:
        message = row["broken"]["message"].format(columns=text.count("\t") + 1)
        yield facts.Flaw(at=at, rule="broken_line", message=message, fix=row["broken"]["fix"])


def _makers(row: Row, one: Row) -> list[tuple[Any, list[tuple[str, Value]]]]:
    """Return the kinds of facts that a line sets, with what gives each field its value."""
    found = []
    for made in one["facts"]:
        kind, names = made["of"], [name for name in made if name != "of"]
        fields = [(name, _value(row, kind, name, made[name])) for name in names]
        found.append((getattr(facts, kind), fields))
    return found


def _value(row: Row, kind: str, name: str, template: str) -> Value:
    convert = _CONVERTED.get(_types(kind)[name], str)
    old, new = row.get("replace", {}).get(name, ("", ""))
    place = template[1:-1]
    if "{" not in template:
        constant = convert(template)
        return lambda _, __: constant
    if place.isdecimal():
        return lambda groups, _: convert(groups[int(place)].replace(old, new))
    return lambda groups, file: convert(template.format(*groups, file=file.name))


@cache
def _types(kind: str) -> Mapping[str, Any]:
    return get_type_hints(getattr(facts, kind))


_CONVERTED: Final[Mapping[Any, Callable[[str], Any]]] = {
    int: int,
    facts.Side: lambda name: facts.Side[name],
    tuple[str, ...]: lambda text: (text.lower(),),
}
"""By the type of a field; GUIDs, the only tuples, compare in small letters."""

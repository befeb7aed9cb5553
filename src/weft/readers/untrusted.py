"""Documents of strangers: opened, bounded and parsed in one place, for every verb.

Whatever a path is and whatever a document holds, each function returns within a bounded time
and memory, or raises: ``Unreadable`` for what is no file, ``Malformed`` with the line and the
column for what is no document. Nothing here follows a recursion that the input controls:
a YAML library that does ends the whole process.
"""

import json
import os
import re
import select
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol
from xml.parsers import expat

from weft.errors import Unreadable

DEEPEST: Final = 200
"""Mappings and lists within one another; no configuration and no tool needs 20."""
MOST_NODES: Final = 500_000
"""Values of one YAML document, those that aliases repeat included."""
PATIENCE_S: Final = 10.0
"""How long a pipe may give nothing."""
_KINDS: Final = {
    stat.S_ISDIR: "a folder",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}
Pairs = Callable[[list[tuple[str, Any]]], dict[str, Any]]
Lines = dict[int, int]
"""The line on which an object of a document begins, by the identity of the object."""
_FRONT: Final = 4096
"""Characters in which an object in YAML shows what it is, behind comments."""
_BRACES: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\{|\n')


class Malformed(ValueError):  # noqa: N818 - reads better at the call site
    """Text that is not what its name promises, with the place."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        """Keep the message and its place, both from 1."""
        super().__init__(message)
        self.message, self.line, self.column = message, line, column


class Bytes(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""


@contextmanager
def opened(path: Path) -> Iterator[Bytes]:
    """Open a file or a pipe; raise OSError where there is neither, Unreadable for a device.

    A pipe is read as long as it gives something every ``PATIENCE_S`` seconds.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                yield stream
        elif stat.S_ISFIFO(mode):
            yield _Pipe(descriptor, path)
        else:
            kind = next((name for is_it, name in _KINDS.items() if is_it(mode)), "no file")
            raise Unreadable(f"{path}: cannot be read: it is {kind}; name a file or an archive")
    finally:
        os.close(descriptor)


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """Return a file of at most so many bytes, and one more of a longer one."""
    with opened(path) as stream:
        parts, left = [], most_bytes + 1
        while left > 0 and (part := stream.read(left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def printable(name: str) -> str:
    r"""Return a name of a file as reports show it: valid UTF-8, without control characters.

    >>> printable("a\x1b[31m\n")
    'a?[31m?'
    """
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join("?" if sign < " " or "\x7f" <= sign <= "\x9f" else sign for sign in text)


_COLLECTIONS: Final = (dict, list)
_UNCOUNTED: Final = re.compile(r'"[ \t\r\n]+:|\\\\')
"""Keys that ``":`` does not count: a space before the colon, a backslash before the quote."""


class _Pipe:
    """What another process writes, which may never come."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor, self._path = descriptor, path

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end; raise Unreadable where nothing comes."""
        ready, _, _ = select.select([self._descriptor], [], [], PATIENCE_S)
        if not ready:
            raise Unreadable(
                f"{self._path}: cannot be read: it is a pipe that gave nothing for "
                f"{PATIENCE_S:.0f} s; start its writer first, or name a file"
            )
        return os.read(self._descriptor, min(size, 1 << 20))


def json_value(text: str | bytes, *, unique_keys: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return the value of one JSON document; ``NaN`` and ``Infinity`` are null.

    Raises Malformed, also for a document nested deeper than ``DEEPEST``, for an integer of
    thousands of digits, and with ``unique_keys`` for an object that has a key twice.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    value = _json(text, None)
    keys = _number_of_keys(value)
    # Most documents write ": after each key and nowhere else, and need no second look.
    if unique_keys and (text.count('":') != keys or _UNCOUNTED.search(text)):
        _json(text, lambda pairs: _unique(text, pairs))
    return value


def _unique(text: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        key = next(key for key, count in counts.items() if count > 1)
        lines = [
            number for number, line in enumerate(text.split("\n"), 1) if f'"{key}"' in line
        ]
        at = lines[min(1, len(lines) - 1)] if lines else 1
        raise Malformed(f"the key {key!r} stands twice in one object", at)
    return found


def _json(text: str, pairs: Pairs | None) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text, object_pairs_hook=pairs, parse_constant=lambda _: None)
    except Malformed:
        raise
    except json.JSONDecodeError as failure:
        raise Malformed(failure.msg, failure.lineno, failure.colno) from failure
    except RecursionError as failure:
        raise Malformed("nested too deeply") from failure
    except ValueError as failure:  # an integer that Python refuses to convert
        raise Malformed("an integer of more digits than any number needs") from failure


def _number_of_keys(value: object) -> int:
    """Return how many keys the mappings have; raise Malformed where they are nested too deeply.

    Goes level by level, without recursion.
    """
    level, keys = [value] if isinstance(value, _COLLECTIONS) else [], 0
    for _ in range(DEEPEST + 2):
        if not level:
            return keys
        mappings = [row for row in level if isinstance(row, dict)]
        lists = [row for row in level if isinstance(row, list)]
        keys += sum(map(len, mappings))
        inside = chain(
            chain.from_iterable(mapping.values() for mapping in mappings),
            chain.from_iterable(lists),
        )
        level = [below for below in inside if isinstance(below, _COLLECTIONS)]
    raise Malformed("nested too deeply")


def json_lines(text: str, value: object) -> Lines:
    """Return where the objects of a JSON document begin, if it has more than one line.

    The objects of a document, outermost first, are its opening braces in their order.
    """
    line, braces = 1, []
    for found in _BRACES.finditer(text):
        line += found[0] == "\n"
        if found[0] == "{":
            braces.append(line)
    if line == 1:
        return {}
    objects, waiting = [], [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            objects.append(id(one))
            waiting.extend(reversed(one.values()))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
    return dict(zip(objects, braces, strict=False))


def xml_value(text: str) -> tuple[Any, Lines]:
    """Return an XML document as JSON would hold it, and where its elements begin.

    An element is an object of its attributes and children, of several of one name a list; one
    that has only text is that text. Raises Malformed, also for a document that declares
    entities or is nested deeper than ``DEEPEST``.
    """
    parser, lines = expat.ParserCreate(), Lines()
    above: list[tuple[dict[str, Any], list[str]]] = [({}, [])]

    def start(_name: str, attributes: dict[str, str]) -> None:
        if len(above) > DEEPEST:
            raise Malformed("nested too deeply", parser.CurrentLineNumber)
        above.append((dict(attributes), []))
        lines[id(above[-1][0])] = parser.CurrentLineNumber

    def end(name: str) -> None:
        own, words = above.pop()
        value: Any = own or "".join(words).strip()
        outer = above[-1][0]
        if name in outer:
            known = outer[name]
            outer[name] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            outer[name] = value

    def keep(said: str) -> None:
        above[-1][1].append(said)

    def refuse(*_: object) -> None:
        raise Malformed("declares entities", parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = keep
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)  # noqa: FBT003 - the last part
    except expat.ExpatError as failure:
        raise Malformed(expat.ErrorString(failure.code), failure.lineno) from failure
    return above[0][0], lines


def is_yaml_object(text: str) -> bool:
    r"""Return whether a text begins as an object of the API of Kubernetes in YAML.

    >>> is_yaml_object("---\napiVersion: v1\nkind: Pod"), is_yaml_object("kind of: cable")
    (True, False)
    """
    lines = text[:_FRONT].removeprefix("\ufeff").splitlines()
    first = next((line for line in lines if line.strip() and line[:1] not in "#-"), "")
    return first.startswith(("apiVersion:", "kind:"))


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One document: plain values, scalars as they are written (``no`` stays ``no``)."""

    value: Any
    lines: Lines = field(default_factory=dict)
    places: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    """Line and column of each path of keys."""


@lru_cache(maxsize=1)
def yaml_documents(text: str) -> tuple[YamlDocument, ...]:
    """Return the documents of a YAML text, for several readers that ask in a row.

    Raises Malformed, also for a mapping that has a key twice; depth and size are known before
    the library builds anything.
    """
    import yaml  # noqa: PLC0415 - 20 ms that not every command needs

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml.parse(text, Loader=loader))
        nodes = [item for item in yaml.compose_all(text, Loader=loader) if item is not None]
    except yaml.MarkedYAMLError as failure:
        mark = failure.problem_mark or failure.context_mark
        message = failure.problem or failure.context or "is no YAML"
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise Malformed(message, line, column) from failure
    except yaml.YAMLError as failure:
        raise Malformed(str(failure).partition("\n")[0]) from failure
    return tuple(_YamlReading().document(node) for node in nodes)


@dataclass(slots=True)
class _YamlReading:
    """Turns the nodes of the library into plain values and notes where each stands."""

    lines: Lines = field(default_factory=dict)
    places: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    def document(self, node: Any) -> YamlDocument:  # noqa: ANN401 - a node of the YAML library
        return YamlDocument(self._plain(node, ()), self.lines, self.places)

    def _plain(self, node: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - plain values
        self.count += 1
        mark = node.start_mark
        if self.count > MOST_NODES or len(path) > DEEPEST:
            raise Malformed("holds more than a configuration can", mark.line + 1)
        self.places.setdefault(path, (mark.line + 1, mark.column + 1))
        if node.id == "mapping":
            found = self._mapping(node, path)
            self.lines[id(found)] = mark.line + 1
            return found
        if node.id == "sequence":
            return [self._plain(item, (*path, str(i))) for i, item in enumerate(node.value)]
        if node.tag.endswith(":null") and node.value in {"", "~", "null"}:
            return None
        return node.value

    def _mapping(self, node: Any, path: tuple[str, ...]) -> dict[str, Any]:  # noqa: ANN401
        found: dict[str, Any] = {}
        for key, value in node.value:
            name = key.value if key.id == "scalar" else str(key.value)
            mark = key.start_mark
            if name in found and name != "<<":
                raise Malformed(
                    f"the key {name!r} stands twice in one mapping; the last one wins",
                    mark.line + 1,
                    mark.column + 1,
                )
            self.places.setdefault((*path, name), (mark.line + 1, mark.column + 1))
            below = self._plain(value, (*path, name))
            if name == "<<" and isinstance(below, dict):
                found = below | found
            else:
                found[name] = below
        return found


def _check_events(events: Iterator[Any]) -> None:
    import yaml  # noqa: PLC0415 - as above

    depth = 0
    for count, event in enumerate(events):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise Malformed("nested too deeply", event.start_mark.line + 1)
        if count > 2 * MOST_NODES:  # a collection has a start and an end
            raise Malformed("holds more values than a configuration", event.start_mark.line + 1)

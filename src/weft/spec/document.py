"""YAML text in, plain values with the place of every key out.

YAML 1.2, so that ``no`` and ``12:30`` are text. Size, depth and number of values are bounded:
a spec is small, and a file that is not one must not stop the program.
"""

import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path as File
from typing import Any, Final

from weft.errors import SpecError, Unreadable
from weft.readers.untrusted import Malformed, json_value, read_bytes
from weft.spec.problems import Path, Problem, place_of

LARGEST_BYTES: Final = 1 << 17
"""Of a YAML file: the largest that is read within a few seconds, whatever it holds."""
LARGEST_JSON_BYTES: Final = 1 << 24
"""Of a result that weft wrote: localise keeps every test between hosts."""
MOST_VALUES: Final = 20_000
DEEPEST: Final = 50
_CONTROL: Final = frozenset(map(chr, range(32))) - {"\t", "\n", "\r"} | {"\x7f"}
_TAG: Final = "tag:yaml.org,2002:"


@dataclass(slots=True, kw_only=True)
class Tree:
    """Plain values, and where each of them (and each key) was written."""

    data: Any
    marks: dict[Path, str] = field(default_factory=dict)
    keys: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    folder: File | None = None
    """Folder of the file, for paths written in it."""

    def below(self, *keys: str) -> "Tree":
        """Return the tree under some keys, with its marks."""
        data = self.data
        for key in keys:
            data = data.get(key) if isinstance(data, Mapping) else None
        marks = _inside(self.marks, keys)
        marks.setdefault((), place_of(keys, self.marks))
        return replace(self, data=data, marks=marks, keys=_inside(self.keys, keys))

    def alone(self, *keys: str) -> "Tree":
        """Return the tree under some keys, without the problems that are known."""
        return replace(self.below(*keys), problems=[])

    def under(self, other: "Tree") -> "Tree":
        """Return this tree with another laid over it, mapping by mapping."""
        hidden = set(paths_of(other.data)) - {()}
        return Tree(
            data=merge(self.data, other.data),
            marks={**{p: m for p, m in self.marks.items() if p not in hidden}, **other.marks},
            keys={**{p: m for p, m in self.keys.items() if p not in hidden}, **other.keys},
            problems=self.problems + other.problems,
            folder=other.folder,
        )

    def lines(self, problems: list[Problem] | None = None) -> list[str]:
        """Return the message of every problem, with its place."""
        found = self.problems if problems is None else problems
        return [p.show(self.place(p)) for p in found]

    def place(self, problem: Problem) -> str:
        """Return where the value was written, or its key when the value is not the matter."""
        key = None if problem.has_value else self.keys.get(problem.path)
        return key or place_of(problem.path, self.marks)


def _inside(marks: Mapping[Path, str], keys: Path) -> dict[Path, str]:
    size = len(keys)
    return {path[size:]: mark for path, mark in marks.items() if path[:size] == keys}


def paths_of(data: object, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every value of nested mappings, the top first.

    >>> list(paths_of({"a": {"b": 1}}))
    [(), ('a',), ('a', 'b')]
    """
    yield path
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from paths_of(value, (*path, str(key)))


def merge(base: object, over: object) -> object:
    """Return ``base`` with ``over`` laid on it; mappings join, anything else replaces.

    >>> merge({"a": 1, "b": {"c": 2}}, {"b": {"d": 3}})
    {'a': 1, 'b': {'c': 2, 'd': 3}}
    """
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    joined = dict(base)
    for key, value in over.items():
        joined[key] = merge(base[key], value) if key in base else value
    return joined


def is_file(path: File) -> bool:
    """Return whether a file is there; a name that cannot be one is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or a zero byte in it
        return False


def read_text(path: str | File, largest_bytes: int = LARGEST_BYTES) -> str:
    """Read a file of bounded size; ``-`` is standard input."""
    if str(path) == "-":
        return _standard_input()
    try:
        raw = read_bytes(File(path), largest_bytes)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unreadable(f"{path}: cannot be read: {reason}; check the path") from error
    except ValueError as error:  # a zero byte in the path
        raise Unreadable(f"{str(path)!r}: cannot be read: {error}") from error
    return _decode(raw, str(path), largest_bytes)


def read_json(path: File, largest_bytes: int = LARGEST_JSON_BYTES) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON file; raise Unreadable, or SpecError with the place."""
    try:
        return json_value(read_text(path, largest_bytes))
    except Malformed as error:
        place = f"{path}:{error.line}:{error.column}"
        raise SpecError(f"{place}: is not JSON: {error}") from error


@cache
def _standard_input() -> str:
    return _decode(sys.stdin.buffer.read(LARGEST_BYTES + 1), "standard input", LARGEST_BYTES)


def _decode(raw: bytes, name: str, largest_bytes: int) -> str:
    if len(raw) > largest_bytes:
        raise SpecError(
            f"{name}: is larger than {largest_bytes} bytes; a spec is a few kilobytes: "
            "is this the right file?"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SpecError(f"{name}:{line}:1: is not UTF-8 text; save it as UTF-8") from error


def read_documents(text: str, name: str, folder: File | None = None) -> list[Tree]:
    """Read every YAML document of a text; ``name`` is what messages call it."""
    trees = []
    for node in _compose(text, name):
        tree = Tree(data=None, folder=folder)
        try:
            tree.data = _Reader(name=name, tree=tree).read(node, ())
        except RecursionError as error:
            raise SpecError(f"{name}: an anchor holds itself; write the values out") from error
        trees.append(tree)
    return trees


def read_value(text: str, name: str) -> Tree:
    """Read the value of ``--set key=value``; every mark is the option itself."""
    try:
        documents = read_documents(text, name)
    except SpecError as error:
        raise SpecError(f"{name}: the value is not YAML; quote it as text") from error
    tree = documents[0] if documents else Tree(data=None)
    tree.marks = dict.fromkeys(tree.marks, name)
    tree.keys = dict.fromkeys(tree.keys, name)
    return tree


def _compose(text: str, name: str) -> list[Any]:
    from ruamel.yaml import YAML  # noqa: PLC0415 - 15 ms that not every command needs
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = DEEPEST
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nodes = list(yaml.compose_all(io.StringIO(text)))
    except (YAMLError, RecursionError, ValueError, AssertionError) as error:
        raise SpecError(_bad_yaml(error, name)) from error
    return [node for node in nodes if node is not None]


def _bad_yaml(error: Exception, name: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
    what = getattr(error, "problem", None) or next(iter(str(error).splitlines()), "unreadable")
    return f"{place}: is not YAML: {what}; check indentation, colons and quotes there"


@dataclass(slots=True, kw_only=True)
class _Reader:
    name: str
    tree: Tree
    values: int = 0

    def read(self, node: Any, path: Path) -> Any:  # noqa: ANN401 - a YAML node of any kind
        """Return a node as plain values; remember where it and what it holds were written."""
        self.values += 1
        if self.values > MOST_VALUES or len(path) > DEEPEST:
            raise SpecError(
                f"{self._place(node)}: the document has more than {MOST_VALUES} values "
                f"(or {DEEPEST} levels) once anchors are followed; a spec has a few hundred"
            )
        self.tree.marks.setdefault(path, self._place(node))
        read = {"mapping": self._mapping, "sequence": self._sequence}.get(node.id, self._scalar)
        return read(node, path)

    def _place(self, node: Any) -> str:  # noqa: ANN401
        mark = node.start_mark
        return f"{self.name}:{mark.line + 1}:{mark.column + 1}"

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:  # noqa: ANN401
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value) if key_node.id == "scalar" else "?"
            here = (*path, key)
            if str(key_node.tag) == f"{_TAG}merge":
                merged.update(self._merged(value_node, path))
            elif key in found:
                self._duplicate(key_node, here)
            else:
                self.tree.keys[here] = self._place(key_node)
                found[key] = self.read(value_node, here)
        return {**merged, **found}

    def _merged(self, node: Any, path: Path) -> dict[str, Any]:  # noqa: ANN401
        parts = node.value if node.id == "sequence" else [node]
        read = [self.read(part, path) for part in reversed(parts)]
        return {k: v for part in read if isinstance(part, dict) for k, v in part.items()}

    def _duplicate(self, key_node: Any, path: Path) -> None:  # noqa: ANN401
        message = f"is written twice (first at {self.tree.keys[path]}); keep one"
        place = self._place(key_node)
        problem = Problem(path=path, message=message, has_value=False, place=place)
        self.tree.problems.append(problem)

    def _sequence(self, node: Any, path: Path) -> list[Any]:  # noqa: ANN401
        return [self.read(item, (*path, str(i))) for i, item in enumerate(node.value)]

    def _scalar(self, node: Any, _path: Path) -> Any:  # noqa: ANN401
        text = node.value
        if not _CONTROL.isdisjoint(text):
            raise SpecError(f"{self._place(node)}: the value holds a control character")
        convert = _SCALARS.get(str(node.tag).removeprefix(_TAG))
        try:
            return convert(text) if convert else text
        except ValueError:
            return text


def _integer(text: str) -> int:
    plain = text.replace("_", "")
    return int(plain, 0) if plain.lower().lstrip("+-")[:2] in {"0x", "0o", "0b"} else int(plain)


def _number(text: str) -> float:
    return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: Final[Mapping[str, Callable[[str], object]]] = {
    "int": _integer,
    "float": _number,
    "bool": lambda text: text.lower() == "true",
    "null": lambda _text: None,
}

"""``kubectl describe``: objects with the names and places that their API gives what they hold.

An object of a kind that kubectl does not know is printed as its API has it, in title case; of a
kind that it knows, what it prints is taken as the status. What stands below a value is of the
state that the value is: ``Reason: x`` below ``State: Waiting`` is ``state/waiting/reason``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import re2

from weft.readers import tree
from weft.readers.line import Line
from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe

_NAME: Final = re2.compile(r"^Name: {2,}\S")
_PAIR: Final = re2.compile(r"^(?P<name>[^\s:][^:]*):(?: +(?P<value>\S.*?))?$")
_GAPS: Final = re2.compile(r"\s{2,}|\t")
_RULE: Final = re2.compile(r"^-[- ]+$")
_TELLING: Final[Mapping[str, str]] = {
    "containers": "Pod",
    "node": "Pod",
    "qoSClass": "Pod",
    "capacity": "Node",
    "allocatable": "Node",
    "unschedulable": "Node",
    "desiredNumberOfNodesScheduled": "DaemonSet",
    "strategyType": "Deployment",
    "podsStatuses": "Job",
}
"""What only one kind prints, for kinds whose output does not name them."""
_OF_OBJECT: Final[tuple[str, ...]] = ("apiVersion", "kind", "spec")


@dataclass(slots=True)
class _Section:
    """What stands below a line: one object, or several of the same names."""

    indent: int
    line: int
    value: str = ""
    members: list[dict[str, Any]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    """Of its columns, where it is a table."""

    def add(self, name: str, inner: "_Section") -> None:
        """Add a member; a name that is there already begins the next object of a list."""
        if not self.members or name in self.members[-1]:
            self.members.append({})
        self.members[-1][name] = inner

    def plain(self, places: dict[int, int]) -> Any:  # noqa: ANN401 - as JSON would hold it
        """Return what it holds as JSON would; note the lines of objects."""
        found = []
        for member in self.members:
            lines = [item.line for item in member.values() if isinstance(item, _Section)]
            plain = {
                name: item.plain(places) if isinstance(item, _Section) else item
                for name, item in member.items()
            }
            places[id(plain)] = member.get("", 0) or min(lines, default=self.line)
            plain.pop("", None)
            found.append(plain)
        if not found:
            return self.value
        inner = found[0] if len(found) == 1 and not self.titles else found
        return {_camel(self.value): inner} if self.value else inner


def _read(lines: Lines, scribe: Scribe) -> None:
    for own in _objects(lines):
        places: dict[int, int] = {}
        found = _sections(own).plain(places)
        if isinstance(found, dict):
            value = _as_api(found)
            places[id(value)] = own[0].number
            tree.read(value, places, scribe)


def _objects(lines: Lines) -> Iterator[Lines]:
    """Yield the lines of each object."""
    starts = [at for at, line in enumerate(lines) if at and _NAME.search(line.text)]
    for start, end in zip([0, *starts], [*starts, len(lines)], strict=True):
        yield lines[start:end]


def _sections(lines: Lines) -> _Section:
    above = [_Section(-1, lines[0].number)]
    for line in lines:
        text = line.text.strip()
        indent = len(line.text) - len(line.text.lstrip())
        while indent <= above[-1].indent:
            above.pop()
        outer = above[-1]
        if outer.titles:
            _row(outer, text, line)
        elif pair := _PAIR.search(text):
            inner = _Section(indent, line.number, str(pair["value"] or ""))
            outer.add(_camel(str(pair["name"])), inner)
            above.append(inner)
        elif not outer.members and len(titles := _GAPS.split(text)) > 1:
            outer.titles = [_camel(str(title)) for title in titles]
    return above[0]


def _row(section: _Section, text: str, line: Line) -> None:
    """Add a row of a table; its last column may be empty."""
    cells = [str(part) for part in _GAPS.split(text, len(section.titles) - 1)]
    if not _RULE.search(text):
        row = dict(zip(section.titles, cells, strict=False))
        section.members.append({**row, "": line.number})


def _as_api(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object as its API has it."""
    status = found.pop("status", {})
    known = {name: found.pop(name) for name in _OF_OBJECT if name in found}
    names = {name: found[name] for name in ("name", "namespace") if name in found}
    kind = next((kind for name, kind in _TELLING.items() if name in found), "")
    inner = status if isinstance(status, dict) else {"phase": status}
    named = {"kind": kind} if kind else {}
    return {**named, **known, "metadata": names, "status": {**found, **inner}}


def _camel(name: str) -> str:
    """Return a title as the name of the API.

    >>> _camel("API Version"), _camel("Last State"), _camel("nvidia.com/gpu")
    ('apiVersion', 'lastState', 'nvidia.com/gpu')
    """
    first, *rest = name.split(" ")
    first = first.lower() if first.isupper() else first[:1].lower() + first[1:]
    return first + "".join(text[:1].upper() + text[1:] for text in rest)


kubectl_describe = Parser(
    "kubectl_describe",
    opens=(
        r"^Name: {5,}[a-z0-9][a-z0-9.-]*$",
        r"^(?:Capacity|Allocatable|Allocated resources|Conditions|Containers):$",
    ),
    reads=_read,
    keeps=(r"^\s", r"^[A-Z][A-Za-z -]*:(?: |$)", r"^$"),
)

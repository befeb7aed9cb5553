"""Text that objects of Kubernetes hold: files of a ConfigMap, variables and scripts of pods.

Of what is a program or a manual only the variables it sets are taken: messages in it are
printed when something happens, and nothing has happened. Logs, topologies and outputs are read
whole. Every line keeps the number that it has in the document around it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.observe.moments import stamp

Numbered = Sequence[tuple[str, int]]
"""Lines, each with its number in the file."""
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_WHOLE = (".log", ".txt", ".out", ".xml")
_TOPOLOGY = re.compile(r"\s*(?:<\?xml|<system\b)")
_NCCL = re.compile(r"\b(?:NCCL|RCCL) (?:INFO|WARN)\b")
_NAME = re.compile(r"[A-Z][A-Z0-9]{1,20}_\w{1,80}")
_SETS = re.compile(
    r"\s*(?:export |declare -x |-x |-?-env |- )?\"?[A-Z][A-Z0-9]{1,20}_\w{1,80}=|"
    r"\s*(?:exec )?(?:mpirun|mpiexec|srun)\s"
)
"""Lines of a program that set variables."""
_MOST_TEXTS = 10_000
_MOST_DEEP = 20
_SAMPLE_LINES = 40


def texts(value: object, lines: Numbered) -> list[list[tuple[str, int]]]:
    """Return the texts that a document holds, if it is one of Kubernetes."""
    if not isinstance(value, dict) or "apiVersion" not in value or "kind" not in value:
        return []
    places = _Places(lines)
    items = value.get("items")
    found: list[list[tuple[str, int]]] = []
    for one in items if isinstance(items, list) else [value]:
        if isinstance(one, dict):
            found.extend(_of_object(one, places))
        if len(found) >= _MOST_TEXTS:
            break
    return [text for text in found if text][:_MOST_TEXTS]


def _of_object(value: Mapping[str, Any], places: "_Places") -> Iterator[list[tuple[str, int]]]:
    data, spec = value.get("data"), value.get("spec")
    if isinstance(data, dict):
        yield from _of_data(data, places)
    containers = list(_containers(spec, 0))
    for one in containers:
        yield from _of_container(one, places)
    applied = _applied(value)
    if applied and not containers and not isinstance(data, dict):
        yield [(applied.strip(), places.key(_APPLIED))]


def _applied(value: Mapping[str, Any]) -> str:
    """Return what an object was made from, where its own text was cut away."""
    noted = value.get("metadata")
    noted = noted.get("annotations") if isinstance(noted, dict) else None
    text = noted.get(_APPLIED) if isinstance(noted, dict) else None
    return text if isinstance(text, str) else ""


def _of_data(data: Mapping[str, Any], places: "_Places") -> Iterator[list[tuple[str, int]]]:
    for key, text in data.items():
        if not isinstance(text, str):
            continue
        at = places.key(str(key))
        if "\n" not in text.strip() and _NAME.fullmatch(str(key)):
            yield [(f"{key}={text}", at)]
        else:
            yield _worth(places.numbered(text, at), whole=_is_read_whole(str(key), text))


def _containers(value: object, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield the containers of a pod, or of the template of one, however deep."""
    if isinstance(value, dict) and depth < _MOST_DEEP:
        for key, inner in value.items():
            if key in {"containers", "initContainers"} and isinstance(inner, list):
                yield from (one for one in inner if isinstance(one, dict))
            else:
                yield from _containers(inner, depth + 1)
    elif isinstance(value, list) and depth < _MOST_DEEP:
        for one in value:
            yield from _containers(one, depth + 1)


def _of_container(
    value: Mapping[str, Any], places: "_Places"
) -> Iterator[list[tuple[str, int]]]:
    variables = value.get("env")
    for one in variables if isinstance(variables, list) else ():
        name, text = (one.get("name"), one.get("value")) if isinstance(one, dict) else ("", "")
        if isinstance(name, str) and isinstance(text, str) and _NAME.fullmatch(name):
            yield [(f"{name}={text}", places.line(f"name: {name}"))]
    for key in ("command", "args"):
        words = value.get(key)
        for one in words if isinstance(words, list) else ():
            if isinstance(one, str) and "\n" in one:
                yield _worth(places.numbered(one, places.key(key)), whole=False)


def _is_read_whole(key: str, text: str) -> bool:
    """Return whether a file of a ConfigMap is an output, and no program or manual."""
    if text.startswith("#!"):
        return False
    if key.endswith(_WHOLE) or _TOPOLOGY.match(text):
        return True
    head = [line for line in text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES] if line.strip()]
    log = sum(stamp(line) is not None or _NCCL.search(line) is not None for line in head)
    return log > len(head) / 2


def _worth(lines: Sequence[tuple[str, int]], *, whole: bool) -> list[tuple[str, int]]:
    return [one for one in lines if whole or _SETS.match(one[0])]


@dataclass(slots=True)
class _Places:
    """Where the lines of a document stand in its file; each is sought below the last found."""

    lines: Numbered
    _of_lines: dict[str, list[int]] = field(default_factory=dict)
    _of_keys: dict[str, list[int]] = field(default_factory=dict)
    _at: int = 0

    def __post_init__(self) -> None:
        """Index the lines, without their indents and quotes."""
        for place, (text, _) in enumerate(self.lines):
            bare = _bare(text)
            self._of_lines.setdefault(bare, []).append(place)
            if ":" in bare:
                self._of_keys.setdefault(bare.partition(":")[0], []).append(place)

    def key(self, name: str) -> int:
        """Return the number of the line that a key stands in."""
        return self._found(self._of_keys.get(name, ()))

    def line(self, text: str) -> int:
        """Return the number of a line."""
        return self._found(self._of_lines.get(_bare(text), ()))

    def numbered(self, text: str, key_at: int) -> list[tuple[str, int]]:
        """Return a text's lines with their numbers; those of the key where they are folded."""
        given: list[tuple[str, int]] = []
        for line in text.splitlines():
            after = self._at + 1
            if after < len(self.lines) and self.lines[after][0].strip() == line.strip():
                self._at = after
                given.append((line, self.lines[after][1]))
            elif not line.strip():
                given.append((line, key_at))
            else:
                given.append((line, self._further(line, key_at)))
        return given

    def _further(self, line: str, key_at: int) -> int:
        """Return the number of a line that does not stand right below the one before."""
        found = self._of_lines.get(_bare(line), [])
        place = bisect_left(found, self._at + 1)
        if place == len(found):
            return key_at
        self._at = found[place]
        return self.lines[self._at][1]

    def _found(self, places: Sequence[int]) -> int:
        place = bisect_left(places, self._at)
        if place < len(places):
            self._at = places[place]
        return self.lines[self._at][1] if self.lines else 0


def _bare(line: str) -> str:
    """Return a line of YAML or JSON without what differs between them.

    >>> _bare('  - name: "NCCL_DEBUG"') == _bare('"name": "NCCL_DEBUG",')
    True
    """
    return line.strip().lstrip("- ").replace('"', "").rstrip(",")

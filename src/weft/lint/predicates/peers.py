"""A predicate on switches of one role."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import re2

from weft.lint.facts import Fact, Neighbor, Port
from weft.lint.rule import Device, Found, problem
from weft.lint.text import Place, Text

_FEWEST: Final = 3
_MOST_ALIKE: Final = 8
"""A switch that lacks more is another kind of switch: told once."""
_DIGITS: Final = re2.compile(r"[0-9]+")
_NUMBERS: Final = str.maketrans("0123456789", "##########")
_ADDRESS: Final = re2.compile(r"(?i)\b(?:[0-9a-f]{0,4}:){2,}[0-9a-f:.]*")
_PORT: Final = "PORT"
_COMMENTS: Final = ("!", "#", "//")
_CLOSERS: Final = frozenset("{}[](),;")
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """The statements of one switch, each under those that it stands below."""

    switch: Device
    text: Text
    lines: dict[Path, int]
    """Statement -> line, from 1. Ports are one word; what stands below one has no numbers."""
    shapes: frozenset[Path]
    """Statements without any number."""

    def fact(self, line: int) -> Fact:
        """Return a line as something that the switch sets."""
        return Fact(at=Place(self.text, line=line), device=self.switch.name)


def switch_unlike_peers(fleet: list[Device]) -> Found:
    roles: dict[tuple[str, str], list[tuple[Device, Text]]] = defaultdict(list)
    for switch in fleet:
        for text in switch.texts:
            roles[_masked(switch.name), text.stem].append((switch, text))
    for peers in roles.values():
        if len(peers) >= _FEWEST and _is_one_odd([text for _, text in peers]):
            yield from _compared([_written(switch, text) for switch, text in peers])


class _Masks(dict[str, str]):
    """Masked lines by line, each masked once: most lines are those of many switches."""

    def __missing__(self, line: str) -> str:
        """Return the line without its numbers."""
        self[line] = found = _masked(line)
        return found


def _is_one_odd(texts: Sequence[Text]) -> bool:
    """Return whether a line may be one that all but one have: most often there is none."""
    masks, lines = _Masks(), Counter[str]()
    forms = set[frozenset[tuple[str, int]]]()
    for text in texts:
        lines.update(set(text.lines))
        forms.add(frozenset(Counter(map(masks.__getitem__, text.lines)).items()))
        if len(forms) > 1:
            return True
    most_odd = _most_odd(texts)
    return any(0 < len(texts) - count <= most_odd for count in lines.values())


def _most_odd(peers: Sequence[object]) -> int:
    return max(1, len(peers) // 10)


def _written(switch: Device, text: Text) -> _Written:
    lines = dict(_statements(_without_ports(switch, text)))
    return _Written(switch, text, lines, frozenset(map(_shape, lines)))


def _without_ports(switch: Device, text: Text) -> str:
    """Return the text with every list of ports as one word."""
    names = {port.name for port in switch.of(Port)} | {
        neighbor.peer for neighbor in switch.of(Neighbor)
    }
    named = (name for name in names if name[:1].isalpha() and name[-1:].isdigit())
    kinds = {_DIGITS.sub("[0-9]+", re2.escape(text)) for text in named}
    if not kinds:
        return text.content
    port = rf"\b(?:{'|'.join(sorted(kinds, key=len, reverse=True))})\b"
    return str(re2.sub(rf"{port}(?:[,-] ?{port})*", _PORT, text.content))


def _statements(content: str) -> Iterator[tuple[Path, int]]:
    """Yield each statement under those that it is indented below, with its line."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(content.split("\n"), 1):
        words = line.strip().rstrip(" ,{[;")
        if not words or words.startswith(_COMMENTS) or set(words) <= _CLOSERS:
            continue
        indent = len(line) - len(line.lstrip())
        while above and above[-1][0] >= indent:
            above.pop()
        of_port = any(_PORT in text for _, text in above)
        above.append((indent, _masked(words) if of_port else words))
        yield tuple(text for _, text in above), number


def _shape(path: Path) -> Path:
    return tuple(map(_masked, path))


def _masked(words: str) -> str:
    """Return a statement with ``#`` for every number and address.

    >>> _masked("router-id 100.64.0.17"), _masked("local fe80::a1/64")
    ('router-id #.#.#.#', 'local #/#')
    """
    if words.count(":") > 1:
        words = _ADDRESS.sub("#", words)
    masked = words.translate(_NUMBERS)
    while "##" in masked:
        masked = masked.replace("##", "#")
    return masked


def _compared(peers: Sequence[_Written]) -> Found:
    """Yield what one of the switches lacks of what the others have."""
    most_odd = _most_odd(peers)
    lines = Counter(path for peer in peers for path in peer.lines)
    shapes = Counter(shape for peer in peers for shape in peer.shapes)
    usual = {path for path, count in lines.items() if 0 < len(peers) - count <= most_odd}
    forms = {shape for shape, count in shapes.items() if 0 < len(peers) - count <= most_odd}
    for peer in peers:
        lacks = [path for path in usual if path not in peer.lines]
        known = {_shape(path) for path in lacks}
        lacks += [
            next(path for other in peers for path in other.lines if _shape(path) == shape)
            for shape in forms - known
            if shape not in peer.shapes
        ]
        below = set(lacks)
        topmost = [path for path in lacks if not _is_below(path, below)]
        yield from _told(peer, peers, topmost)


def _is_below(path: Path, lacks: set[Path]) -> bool:
    return any(path[:length] in lacks for length in range(1, len(path)))


def _told(one: _Written, peers: Sequence[_Written], lacks: Sequence[Path]) -> Found:
    others = len(peers) - 1
    if len(lacks) > _MOST_ALIKE:
        other = next(other for other in peers if other is not one).switch.name
        yield problem("other_kind", one.fact(1), lacks=lacks, others=others, value=other)
        return
    for path in sorted(lacks):
        shown = next(other for other in peers if path in other.lines)
        here, theirs = one.fact(one.lines.get(path[:-1], 1)), shown.fact(shown.lines[path])
        yield problem("lacks", here, theirs, value=path[-1])

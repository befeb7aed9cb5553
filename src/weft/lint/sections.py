"""Configurations of switches and routers as sections by their indentation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from weft.lint.document import whole
from weft.lint.facts import Fact, Flaw
from weft.lint.flaws import flaw
from weft.lint.reader import File, of_device
from weft.lint.text import Place, Text

DEEPEST = 12


@dataclass(slots=True)
class Section:
    """One line and the lines indented below it."""

    text: Text
    line: int
    column: int
    words: tuple[str, ...]
    parts: list["Section"] = field(default_factory=list)

    @property
    def at(self) -> Place:
        """Where the line stands."""
        return Place(self.text, self.line, self.column)

    def starts(self, *words: str) -> bool:
        """Return whether the line begins with some words."""
        return self.words[: len(words)] == words

    def find(self, *words: str) -> Iterator["Section"]:
        """Yield the lines below that begin with some words."""
        return (part for part in self.parts if part.starts(*words))

    def first(self, *words: str) -> "Section | None":
        """Return the first line below that begins with some words."""
        return next(self.find(*words), None)

    def after(self, word: str) -> str:
        """Return the word that follows another; empty where there is none."""
        if word in self.words[:-1]:
            return self.words[self.words.index(word) + 1]
        return ""

    def word(self, place: int) -> str:
        """Return the word at a place; empty where the line is shorter."""
        return self.words[place] if place < len(self.words) else ""

    @property
    def last(self) -> str:
        """The last word of the line."""
        return self.words[-1]

    def string(self) -> str:
        """Return the value of the line: its last word."""
        return self.words[-1]

    def number(self) -> int | None:
        """Return the value of the line as a whole number where it is one."""
        return whole(self.words[-1])

    def true(self) -> bool:
        """Return whether the line switches something on."""
        return self.words[-1] == "on"

    def has(self, *words: str) -> bool:
        """Return whether a line below begins with some words."""
        return self.first(*words) is not None


def sections(file: File, comment: str = "!#") -> list[Section]:
    """Return the lines of a file, those that are indented below the one above them."""
    top: list[Section] = []
    open_: list[tuple[int, Section]] = []
    for number, line in file.lines():
        text = line.strip()
        if not text or text[0] in comment:
            continue
        depth = len(line) - len(line.lstrip())
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        one = Section(file.text, number, depth + 1, tuple(text.split()))
        (open_[-1][1].parts if open_ and len(open_) < DEEPEST else top).append(one)
        open_.append((depth, one))
    return top


def by_hostname(file: File, read: Callable[[list[Section]], Iterator[Fact]]) -> Iterator[Fact]:
    """Yield what is read from the sections of a file, as facts of the device that it names."""
    top = sections(file)
    name = next(
        (section.last for section in top if section.starts("hostname")), file.text.folder
    )
    return of_device(name, read(top))


def vrf_of(one: Section) -> str:
    """Return the table of routes that an interface is in; empty: the default one."""
    row = one.first("vrf") or one.first("ip", "vrf")
    return "" if row is None or row.last == "default" else row.last


def switched(address: Section, name: str) -> Flaw:
    """Return what is wrong with an address on a port that is not routed."""
    return flaw(address.at, "switched_port", name=name)


def numbers(text: str) -> list[int]:
    """Return the numbers of ``1,3,5-7``; nothing where it is no such list.

    >>> numbers("3,5-7"), numbers("all")
    ([3, 5, 6, 7], [])
    """
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            return []
        found.extend(range(int(first), min(int(last or first), int(first) + 4096) + 1))
    return found


def speed_gbit(text: str) -> float | None:
    """Read the rate of ``400g-4``, ``100gfull``, ``400G`` or ``400000`` (in Mb/s).

    >>> speed_gbit("400g-4"), speed_gbit("400000"), speed_gbit("auto")
    (400.0, 400.0, None)
    """
    digits = ""
    for letter in text:
        if not letter.isdecimal():
            break
        digits += letter
    if not digits:
        return None
    rest = text[len(digits) :].lower()
    if rest.startswith("g"):
        return float(digits)
    return float(digits) / 1000 if not rest else None

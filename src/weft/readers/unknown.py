"""What lines that no reader knows show all the same: states that are bad, values by name.

An output of an unknown tool is a table (a header, then rows as wide), or lines ``name: value``
below their heading. Its words and numbers are kept as fields; whether one is unlike its peers
is decided where all files are read. Of an output that a reader knows only words for something
bad, and switches that are on or off, are kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import re2

from weft.inventory.values import number
from weft.readers.line import Line
from weft.readers.rows import bare
from weft.readers.scribe import Scribe

MOST_LINES: Final = 2_000
"""Lines of one file that are kept for this."""
MOST_FIELDS: Final = 60_000
"""Fields of the whole input; beyond, only bad states are kept."""
_FEWEST_ROWS: Final = 3
_FEWEST_CELLS: Final = 2
_LONGEST: Final = 400
_LONGEST_CELL: Final = 60
_RARE: Final = 1 / 3
_BAD_WORDS: Final = (
    r"failed|failing|failure|fail|error(?:ed|s)?|err|faulty?|faulted|degraded|"
    r"unhealthy|not healthy|bad|critical|crit|crash(?:ed)?|dead|corrupt(?:ed)?|broken|lost|"
    r"mismatch(?:ed)?|unreachable|not (?:ready|responding|reachable|running|ok|synced|in sync)|"
    r"not ?ok|nok|notready|stalled|hung|stuck|timed?[- ]?out|expired|fatal|panic|emergency|"
    r"unsynchroni[sz]ed|out of sync|disconnected|overheated?|quarantined|fenced|rejected|"
    r"refused|denied|invalid|missing|err-?disabled|aborted|inconsistent|flapping|poor"
)
_SOFT_WORDS: Final = (
    r"down|inactive|offline|off|disabled|no|false|stopped|polling|idle|link ?down|"
    r"unknown|notpresent|not present|lower ?layer ?down|suspended|blocked|init(?:ializing)?"
)
BAD: Final = re2.compile(
    rf"(?i)^\W*(?:[1-9]\d* (?:of \d+ )?|[A-Za-z]\w*[ _-])?(?:{_BAD_WORDS})\b"
)
"""Words that say that a thing is bad, whatever it is."""
_SOFT: Final = re2.compile(rf"(?i)^(?:{_SOFT_WORDS})\b")
"""Words that say so only where the peers are otherwise."""
_EMPTY: Final = re2.compile(
    r"(?i)^\W*(?:$|(?:n/?a|none|null|skip(?:ped)?|not (?:run|applicable))\b)"
)
"""What stands where there is no value."""
_SWITCHES: Final = frozenset(("on", "off", "yes", "no", "true", "false", "enabled", "disabled"))
_WORTH: Final = re2.compile(
    rf"(?i)\b(?:{_BAD_WORDS}|{_SOFT_WORDS}|{'|'.join(sorted(_SWITCHES))})\b".encode()
)
"""What must be in the rest of an output that a reader knows for it to be looked at."""
_HARM: Final = re2.compile(
    r"(?i)(?:^|[_ .-])(?:\w*errors?|err|errs|failures?|faults?|drops?|dropped|discard(?:s|ed)?|"
    r"timeouts?|mismatch(?:es)?|uncorrectable|retransmi\w+|lost|losses|corrupt\w*|crc|flaps?|"
    r"overruns?|violations?|failed|dead|unhealthy|degraded)(?:[_ .-](?:count|total|cnt|counter|"
    r"events?|\w?bytes|packets|pkts))?$"
)
"""Names of counters of what should not happen."""
_PAIR: Final = re2.compile(
    r"^(?P<indent>[\s>*|+-]*)\"?(?P<name>[A-Za-z][\w ()/.,%#&+-]{0,59}?)\"?\s*(?:\.{2,}|:|=)\s*"
    r"(?P<value>[^\s{\[(].*?)[\s,]*$"
)
_HEADING: Final = re2.compile(
    r"^[\s>*|+#=\"\[-]*(?P<name>[A-Za-z][\w ()/.,:#&+'-]{0,79}?)[\s:=\"\]{\[]*$"
)
_NAMES: Final = re2.compile(
    r"(?i)^(?:name|id|host(?:name)?|node|device|dev|port|interface|gpu|index|slot|label|unit)$"
)
"""Names of values that tell which thing the values beside them are of."""
_PROMPT: Final = re2.compile(r"^(?:[\w@.:~/-]*[$#>] )(?P<command>[A-Za-z][\w ./=@:-]{1,80})$")
_CELL: Final = "cell of a matrix"
_RULE: Final = re2.compile(r"^[\s|+=_-]+$")
_GAPS: Final = re2.compile(r"\s{2,}|\t")
_WORDS: Final = re2.compile(r"\S+")
_STAMP: Final = re2.compile(r"^\W*(?:[A-Z][a-z]{2} +\d+ )?\d[\d:.T-]{5,}")


@dataclass(slots=True)
class Table:
    """Lines that are as wide as a header above them."""

    titles: tuple[str, ...]
    rows: list[tuple[Line, tuple[str, ...]]] = field(default_factory=list)


@dataclass(slots=True)
class Unknown:
    """The lines of one file that no reader knows."""

    lines: list[Line] = field(default_factory=list)

    def keep(self, number_of_line: int, raw: bytes) -> None:
        """Keep a line as long as there are few."""
        if len(self.lines) < MOST_LINES and len(raw) < _LONGEST:
            self.lines.append(Line(number_of_line, raw.decode("utf-8", "replace"), raw))

    def read(self, output: str, scribe: Scribe, *, alone: bool) -> int:
        """Record what the lines show; ``alone``: no reader knows anything of their file.

        Returns how many lines showed something.
        """
        whole = b"\n".join(line.raw for line in self.lines)
        if not alone and not _WORTH.search(whole):
            return 0
        seen = _Seen(scribe, output, alone=alone)
        waiting: list[Line] = []
        for line in self.lines:
            prompt = _PROMPT.search(line.text)
            if prompt or (waiting and line.number > waiting[-1].number + 1):
                seen.read(waiting)
                waiting = []
            if prompt:
                seen.output = str(prompt["command"])
            elif line.text.strip():
                waiting.append(line)
        seen.read(waiting)
        return seen.count


@dataclass(slots=True)
class _Seen:
    """One output of a file being read."""

    scribe: Scribe
    output: str
    alone: bool
    count: int = 0
    headings: list[tuple[float, str]] = field(default_factory=list)

    def read(self, lines: Sequence[Line]) -> None:
        """Read lines that stand together: tables where they are, else names and values."""
        rest = list(lines)
        while rest:
            matrix = matrix_of(rest)
            table = matrix or (table_of(rest) if len(rest) >= _FEWEST_ROWS else None)
            if table is None:
                self._pair(rest.pop(0))
                continue
            (self._matrix if matrix else self._table)(table)
            last = table.rows[-1][0].number
            rest = [one for one in rest if one.number > last]

    def _table(self, table: Table) -> None:
        for place, title in enumerate(table.titles[1:], 1):
            column = [cells[place] for _, cells in table.rows]
            soft = sum(bool(_SOFT.search(one)) for one in column)
            rare = 0 < soft <= _RARE * len(column)
            for (line, cells), said in zip(table.rows, column, strict=True):
                bad = is_bad(said) or (rare and bool(_SOFT.search(said)))
                self._field(cells[0], title, said, line, bad=bad)

    def _matrix(self, table: Table) -> None:
        """Record the cells of a matrix; what a part has to itself has no peers."""
        for line, cells in table.rows:
            for title, said in zip(table.titles[1:], cells[1:], strict=True):
                if title != cells[0] or len(table.rows) == 1:
                    item = f"{cells[0]} to {title}"
                    self._field(item, self._heading() or _CELL, said, line, bad=False)

    def _pair(self, line: Line) -> None:
        found = _PAIR.search(line.text)
        if found is None or _STAMP.search(line.text):
            heading = _HEADING.search(line.text)
            if heading:
                self._enter(len(line.text) - len(line.text.lstrip()), str(heading["name"]))
            return
        indent = len(str(found["indent"]))
        name, said = str(found["name"]).strip(), str(found["value"]).strip().strip('"')
        if _NAMES.search(name):
            self._enter(indent - 0.5, said)
            return
        self._enter(indent, "")
        self._field(self._heading(), name, said, line, bad=is_bad(said))

    def _enter(self, indent: float, name: str) -> None:
        """Leave headings that stand no further left than a line; enter one if it is one."""
        self.headings = [one for one in self.headings if one[0] < indent]
        if name:
            self.headings.append((indent, name))

    def _heading(self) -> str:
        return " ".join(name for _, name in self.headings)[:_LONGEST_CELL]

    def _field(self, item: str, name: str, said: str, line: Line, *, bad: bool) -> None:
        """Record one value of an output."""
        value = bare(said)
        is_number = number(value) is not None
        if _EMPTY.search(said) or len(said) > _LONGEST_CELL:
            return
        known = self.scribe.inventory.fields < MOST_FIELDS
        path = self._path(name, value, bad=bad, is_number=is_number)
        if not path or not (known or path == "field.state"):
            return
        self.scribe.inventory.fields += 1
        self.count += 1
        self.scribe.said(
            path, value if is_number else said, line,
            {"output": self.output, "item": item or "", "name": name},
        )  # fmt: skip

    def _path(self, name: str, value: str, *, bad: bool, is_number: bool) -> str:
        if bad:
            return "field.state"
        if is_number:
            harm = self.alone and _HARM.search(name)
            return "field.harm" if harm else "field.number" if self.alone else ""
        return "field.word" if self.alone or value.lower() in _SWITCHES else ""


def is_harmless(text: str) -> bool:
    """Return whether a line names something bad and gives it no or one harmless word.

    >>> is_harmless("Correctable Error : 0"), is_harmless("Fatal: cannot open the device")
    (True, False)
    """
    found = _PAIR.search(text)
    if found is None or _STAMP.search(text):
        return False
    said = str(found["value"]).strip()
    return " " not in said and not is_bad(said) and not number(said)


def is_bad(said: str) -> bool:
    """Return whether a word says that a thing is bad.

    >>> is_bad("FAILED"), is_bad("degraded (2 of 4)"), is_bad("3 errors")
    (True, True, True)
    >>> is_bad("ok"), is_bad("error-free"), is_bad("0 errors")
    (False, False, False)
    """
    return bool(BAD.search(said)) and not said.lower().startswith(("error-", "error free"))


def table_of(lines: Sequence[Line]) -> Table | None:
    """Return the table that begins with the first of some lines, if one does."""
    barred = "|" in lines[0].text
    for split in (_bars,) if barred else (_gaps, _aligned, _commas):
        table = _table(lines, split)
        if table and (split is not _aligned or _is_aligned(lines[0], table)):
            return table
    return None


def matrix_of(lines: Sequence[Line]) -> Table | None:
    """Return the matrix that begins with the first of some lines: parts by number both ways."""
    titles = tuple(lines[0].text.replace("D\\D", "").split())
    if len(titles) < _FEWEST_ROWS or titles != tuple(map(str, range(len(titles)))):
        return None
    matrix = Table(("item", *titles))
    for line in lines[1:]:
        cells = tuple(line.text.split())
        if len(cells) != len(titles) + 1 or cells[0] != str(len(matrix.rows)):
            break
        matrix.rows.append((line, cells))
    return matrix if matrix.rows else None


def _table(lines: Sequence[Line], split: Callable[[str], tuple[str, ...]]) -> Table | None:
    """Return the table that lines make when they are split so, if they make one.

    Where the first column has no title, its cells name parts of the parts above them.
    """
    titles, part = split(lines[0].text), ""
    nested = split is _gaps and lines[0].text[:1] == " "
    table = Table(("item", *titles) if nested else titles)
    for line in lines[1:] if _is_header(table.titles) else ():
        cells = split(line.text)
        if _RULE.search(line.text):
            continue
        if nested and cells:
            below = line.text[:1] == " "
            part = part if below else cells[0]
            if len(cells) == 1:
                continue
            more = [""] * (len(table.titles) - len(cells))
            cells = (f"{part} {cells[0]}".strip() if below else part, *cells[1:], *more)
        if len(cells) != len(table.titles) or not cells[0]:
            break
        table.rows.append((line, cells))
    ruled = nested and len(lines) > 1 and _RULE.search(lines[1].text)
    return table if len(table.rows) >= (1 if ruled else _FEWEST_ROWS) else None


def _is_header(titles: Sequence[str]) -> bool:
    """Return whether cells can be titles: several, all different, none a number."""
    return (
        len(titles) >= _FEWEST_CELLS
        and len(set(titles)) == len(titles)
        and all(one and len(one) < _LONGEST_CELL for one in titles)
        and not any(number(one) is not None or one.endswith((":", "=")) for one in titles)
    )


def _bars(text: str) -> tuple[str, ...]:
    return (
        tuple(one.strip() for one in text.strip().strip("|").split("|")) if "|" in text else ()
    )


def _gaps(text: str) -> tuple[str, ...]:
    return tuple(str(one) for one in _GAPS.split(text.strip()))


def _aligned(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _commas(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",")) if "," in text else ()


def _is_aligned(header: Line, table: Table) -> bool:
    """Return whether every cell begins or ends where its title does: words of a log do not."""
    return all(
        all(abs(one[0] - other[0]) <= 1 or abs(one[1] - other[1]) <= 1
            for one, other in zip(_spans(header.text), _spans(line.text), strict=False))
        for line, _ in table.rows
    )  # fmt: skip


def _spans(text: str) -> Iterator[Any]:
    return (found.span() for found in _WORDS.finditer(text))

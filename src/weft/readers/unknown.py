"""What lines that no reader knows show all the same: states that are bad, values by name.

An output of an unknown tool is a table (a header, then rows as wide), or lines ``name: value``
below their heading. Its words and numbers are kept as fields; whether one is unlike its peers
is decided where all files are read. Of an output that a reader knows only words for something
bad, and switches that are on or off, are kept.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import re2

from weft.inventory.entity import kinds
from weft.inventory.values import number
from weft.readers.layouts import series
from weft.readers.limits import beyond, out_of_range
from weft.readers.line import Line
from weft.readers.rows import bare
from weft.readers.scribe import Scribe
from weft.readers.text_tables import Table, matrix_of, table_of

MOST_LINES: Final = 2_000
"""Lines of one file that are kept for this."""
MOST_FIELDS: Final = 60_000
"""Fields of the whole input; beyond, only bad states are kept."""
MOST_SHAPES: Final = 200_000
"""Kinds of lines of the whole input that are counted."""
_LONGEST: Final = 400
_LONGEST_CELL: Final = 60
_RARE: Final = 1 / 3
_BAD_WORDS: Final = (
    r"failed|failing|failure|fail|error(?:ed|s)?|err|faulty?|faulted|degraded|"
    r"unhealthy|not healthy|bad|critical|crit|crash(?:ed)?|dead|corrupt(?:ed)?|broken|lost|"
    r"mismatch(?:ed)?|unreachable|loss of \w+|(?:power|signal|input|ac) loss|"
    r"not[ _-](?:ready|responding|reachable|running|ok|synced|in sync)|not ?ok|"
    r"nok|notready|stalled|hung|stuck|timed?[-_ ]?out|expired|fatal|panic|emergency|"
    r"unsynchroni[sz]ed|out of sync|disconnected|overheated?|quarantined|fenced|rejected|"
    r"refused|denied|invalid|missing|err-?disabled|aborted|inconsistent|flapping|poor"
)
_SOFT_WORDS: Final = (
    r"down|inactive|offline|off|disabled|no|false|stopped|polling|link ?down|"
    r"unknown|notpresent|not present|lower ?layer ?down|suspended|blocked|init(?:ializing)?"
)
BAD: Final = re2.compile(
    rf"(?i)^\W*(?:[1-9]\d* (?:of \d+ )?|[A-Za-z]\w*[ _-])?(?:{_BAD_WORDS})\b"
)
"""Words that say that a thing is bad, whatever it is."""
_SOFT: Final = re2.compile(rf"(?i)^(?:{_SOFT_WORDS})\b")
"""Words that say so only where the peers are otherwise."""
_LIMITED: Final = re2.compile(
    rb"(?i)[^.]\.\.-?\d|(?:\b|_)(?:max|high|upper|crit|slowdown|low|min)"
)
"""What must be in it for its values to have limits beside them."""
_PART: Final = re2.compile(r"^(?P<have>\d{1,4}) ?(?:/|of) ?(?P<all>\d{1,4})$")
_WHOLE: Final = re2.compile(
    r"(?i)(?:^|[ _.-])(?:ready|up|active|online|available|healthy|joined|connected|running|"
    r"in sync)$"
)
"""Names of parts that should all be there."""
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
    r"overruns?|retrans|violations?|failed|dead|unhealthy|degraded)"
    r"(?:[_ .-](?:count|total|cnt|counter|events?|\w?bytes|packets|pkts))?$"
)
"""Names of counters of what should not happen."""
_PAIR: Final = re2.compile(
    r"^(?P<indent>[\s>*|+-]*)\"?(?P<name>[A-Za-z][\w ()\[\]/.,%#&+-]{0,59}?)\"?\s*"
    r"(?:\.{2,}|:|=)\s*"
    r"(?P<value>[^\s{\[(].*?)[\s,]*$"
)
_COUNT: Final = re2.compile(r"^\s*(?P<value>\d+) (?P<name>[A-Za-z][\w ,()/-]{2,79})$")
"""A count before what it counts, as kernels print their statistics."""
_CARRIED: Final = re2.compile(
    r"(?i)(?:^|[_ .-]|[a-z])(?:packets?|pkts|bytes|octets|segments|segs|frames|messages?|msgs|"
    r"datagrams|requests|reqs|calls|delivers|receives|(?:code)?words|cells|"
    r"hits?|miss(?:es|ed)?|faults|interrupts|switches|forks|opens|resets|wakes?|polls?|events)"
    r"(?:[_ .-](?:received|sent|delivered|out|in|rx|tx|phy|total|paged in))?(?: out)?$"
)
"""Names of counters since the start: they differ from host to host where all is well."""
_SENTENCE: Final = re2.compile(r"(?i)\b(?:fail(?:ed)? to|unable to|cannot|could not|can't) ")
_LABELLED: Final = re2.compile(r"^[A-Za-z]+ ?\[?\d+\]?$")
"""What a pair behind it is of, as ``GPU[3]``."""
_HEADING: Final = re2.compile(
    r"^[\s>*|+#=\"\[-]*(?P<name>[A-Za-z][\w ()/.,:#&+'-]{0,79}?)[\s:=\"\]{\[]*$"
)
_FIRST: Final = re2.compile(r"^\s*(?P<name>[A-Za-z][\w./-]*):? ")
"""The first word of a line, which names what the indented lines below it are of."""
_SETTINGS: Final = re2.compile(r"([A-Za-z][\w.-]*)=([^\s,;=()]+)")
_FEWEST_SETTINGS: Final = 2
_FEWEST_HOSTS: Final = 3
_LONGEST_SHAPE: Final = 200
_STATES: Final = re2.compile(r"(?i)(?:^|[ _-])(?:state|status|health|condition|result)$")
"""Names of values that are states."""
_NUMBERS: Final = re2.compile(r"[0-9a-fA-F]*[0-9][0-9a-fA-F.:/]*")
_MEASURED: Final = re2.compile(
    r"^(?P<number>[+-]?\d[\d.]*(?:[eE][+-]?\d+)?) ?(?P<unit>[A-Za-z%°][A-Za-z/%°]*)?$"
)
"""A number with its unit."""
_LABEL: Final = re2.compile(r"^(?P<label>[A-Za-z][\w.-]*): ")
_PROCESSES: Final = re2.compile(r"(?i)^(?:pid|user|uid)$")
"""The first title of a table whose rows are of different kinds."""
_NAMES: Final = re2.compile(
    r"(?i)^(?:name|id|host(?:name)?|node|device|dev|port|interface|gpu|index|slot|label|unit)$"
)
"""Names of values that tell which thing the values beside them are of."""
_PROMPT: Final = re2.compile(r"^(?:[\w@.:~/-]*[$#>] )(?P<command>[A-Za-z][\w ./=@:-]{1,80})$")
_CELL: Final = "cell of a matrix"
_STAMP: Final = re2.compile(
    r"^\W*(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR)\b|^\s*\S - |"
    r"^\W*(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(?:[A-Z][a-z]{2} +\d+ )?"
    r"(?:\d{1,10}[:.T-][\d:.T-]{3,}|\d{9,}\.\d)"
)
"""What begins a line of a log, which is no name with a value."""
_BAD_PATHS: Final = frozenset(("field.state", "field.status"))


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
        if not (alone or _WORTH.search(whole) or _LIMITED.search(whole)):
            return 0
        seen = _Seen(scribe, output, alone=alone)
        seen.labels = _labels(self.lines) if alone else frozenset()
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
    labels: frozenset[str] = frozenset()
    """Hosts that a parallel shell wrote before their lines."""
    host: str = ""
    """The one whose lines are being read, where there are labels."""
    numbers: dict[str, list[tuple[str, float, Line]]] = field(default_factory=dict)
    """Numbers of each thing, for limits that are printed beside them."""

    def read(self, lines: Sequence[Line]) -> None:
        """Read lines that stand together, those of each host by themselves."""
        if not self.labels:
            self._read(lines)
            return
        for label in sorted(self.labels):
            self.host = label
            own = [_after(line, label) for line in lines if line.text.startswith(f"{label}:")]
            self._read(own)
            for place, line in enumerate(own, 1):
                self._field("", f"line {place}", line.text[:_LONGEST_CELL], line, bad=False)

    def _read(self, lines: Sequence[Line]) -> None:
        """Read tables where they are, else names and values."""
        if self.alone:
            self._shapes(lines)
        rest, self.numbers = list(lines), {}
        while rest:
            matrix = matrix_of(rest)
            table = matrix or table_of(rest)
            if table is None:
                self._pair(rest.pop(0), rest[:1])
                continue
            (self._matrix if matrix else self._table)(table)
            last = table.rows[-1][0].number
            rest = [line for line in rest if line.number > last]
        self._limits()

    def _limits(self) -> None:
        """Record what is beyond a limit of the same thing."""
        for item, values in self.numbers.items():
            over = dict(beyond([(name, value) for name, value, _ in values]))
            for name, value, line in values:
                if name in over:
                    said = f"{value:.12g} ({over.pop(name)})"
                    self.scribe.said("field.beyond", said, line, self._key(item, name))

    def _table(self, table: Table) -> None:
        items = table.items()
        first = 0 if table.is_single else 1
        if not table.is_single:
            self._attributes(table)
        for place, title in enumerate(table.titles[first:], first):
            column = [cells[place] for _, cells in table.rows]
            soft = sum(bool(_SOFT.search(text)) for text in column)
            rare = 0 < soft <= _RARE * len(column)
            for (line, _), item, said in zip(table.rows, items, column, strict=True):
                bad = is_bad(said) or (rare and bool(_SOFT.search(said)))
                if not bad and _PROCESSES.search(table.titles[0]):
                    continue
                self._field(item, title, said, line, bad=bad)
        for left, right in table.agreeing():
            for (line, cells), item in zip(table.rows, items, strict=True):
                if cells[left] and cells[right] and cells[left] != cells[right]:
                    key = self._key(item, table.titles[right])
                    self.scribe.said("field.shown", cells[right], line, key)
                    self.scribe.said("field.beside", cells[left], line, key)

    def _attributes(self, table: Table) -> None:
        """Record columns that have the names of attributes, below the name of their kind."""
        titles = [title.lower() for title in table.titles]
        known = kinds().get(titles[0])
        for place, title in enumerate(titles):
            told = known.attributes.get(title) if known else None
            if known and told and (told.type != "number" or not told.unit):
                for line, cells in table.rows:
                    key = {known.key[-1]: cells[0]}
                    self.scribe.said(f"{known.name}.{title}", cells[place], line, key)

    def _matrix(self, table: Table) -> None:
        """Record the cells of a matrix; what a part has to itself has no peers."""
        for line, cells in table.rows:
            for title, said in zip(table.titles[1:], cells[1:], strict=True):
                if title != cells[0] or len(table.rows) == 1:
                    item = f"{cells[0]} to {title}"
                    self._field(item, self._heading() or _CELL, said, line, bad=False)

    def _pair(self, line: Line, after: Sequence[Line]) -> None:
        """Record a line ``name: value`` or of several ``name=value``, or enter a heading."""
        settings = _SETTINGS.findall(line.text)
        if len(settings) >= _FEWEST_SETTINGS and not _STAMP.search(line.text):
            self._settings(settings, line)
            return
        count = _COUNT.search(line.text)
        if count:
            self._statistic(str(count["name"]).strip(), str(count["value"]), line)
            return
        found = _PAIR.search(line.text)
        indent = len(line.text) - len(line.text.lstrip())
        if found is None or _STAMP.search(line.text):
            inside = any(len(line.text) - len(line.text.lstrip()) > indent for line in after)
            heading = _HEADING.search(line.text) or (inside and _FIRST.search(line.text))
            if heading:
                self._enter(indent, str(heading["name"]))
            return
        indent = len(str(found["indent"]))
        name, said = str(found["name"]).strip(), str(found["value"]).strip().strip('"')
        if _NAMES.search(name):
            self._enter(indent - 0.5, said)
            return
        self._enter(indent, "")
        inner = _PAIR.search(said) if _LABELLED.search(name) else None
        if inner:
            self._field(name, str(inner["name"]), str(inner["value"]), line, bad=False)
            return
        down = bool(_STATES.search(name)) and bool(_SOFT.search(said))
        bad = is_bad(said) or (down and self.alone)
        self._field(self._item(), self._name(name), said, line, bad=bad)

    def _statistic(self, name: str, value: str, line: Line) -> None:
        """Record a count before its name: of harm, or of what differs from host to host."""
        inventory = self.scribe.inventory
        if self.alone and inventory.fields < MOST_FIELDS:
            inventory.fields += 1
            self.count += 1
            path = "field.harm" if _HARM.search(name) else "field.carried"
            self.scribe.said(path, value, line, self._key(self._item(), self._name(name)))

    def _settings(self, settings: Sequence[tuple[str, str]], line: Line) -> None:
        """Record values ``name=value``, of the word before them or of the heading above."""
        lead = line.text[: line.text.index(f"{settings[0][0]}=")].split()
        item = lead[0].rstrip(":") if lead else self._item()
        for name, said in settings:
            is_counted = _HARM.search(name) and number(said) is not None
            if not is_counted:  # it may be an option or a count: nothing tells
                self._field(item, self._name(name), said, line, bad=is_bad(said))

    def _enter(self, indent: float, name: str) -> None:
        """Leave headings that stand no further left than a line; enter one if it is one."""
        self.headings = [heading for heading in self.headings if heading[0] < indent]
        if name:
            self.headings.append((indent, name))

    def _heading(self) -> str:
        return " ".join(name for _, name in self.headings)[:_LONGEST_CELL]

    def _item(self) -> str:
        """Return what a value is of: the outermost heading above it."""
        return self.headings[0][1][:_LONGEST_CELL] if self.headings else ""

    def _name(self, name: str) -> str:
        """Return the name of a value, with the headings that stand between it and its item."""
        return " ".join((*(inner for _, inner in self.headings[1:]), name))[-_LONGEST_CELL:]

    def _shapes(self, lines: Sequence[Line]) -> None:
        """Record how many lines are the same but for their numbers: as many as on the peers."""
        last = {_shape(line.text): line for line in lines}
        shapes = Counter(_shape(line.text) for line in lines)
        room = max(0, MOST_SHAPES - self.scribe.inventory.shapes)
        self.scribe.inventory.shapes += len(shapes)
        for shape, count in islice(shapes.items(), room):
            worded = any(letter.isalpha() for letter in shape)
            if worded and len(shape) < _LONGEST_SHAPE and not _STAMP.search(last[shape].text):
                key = self._key(last[shape].text.strip(), f"lines as {shape}")
                self.scribe.said("field.lines", str(count), last[shape], key)

    def _key(self, item: str, name: str) -> Mapping[str, str]:
        host = {"host": self.host} if self.host else {}
        return {**host, "output": self.output, "item": item, "name": name}

    def _field(self, item: str, name: str, said: str, line: Line, *, bad: bool) -> None:
        """Record one value of an output; of a name with a number in it, the rest is shared."""
        shared = _NUMBERS.sub("#", name)
        if shared != name and len(shared) > 1:
            item, name = f"{item} {name}".strip(), shared
        if out_of_range(said):
            self.scribe.said("field.beyond", said, line, self._key(item, name))
            return
        measured = _MEASURED.search(said)
        if measured and (value := number(measured["number"])) is not None:
            self.numbers.setdefault(item, []).append((name, value, line))
        part = _PART.search(said)
        if part and int(part["have"]) < int(part["all"]) and _WHOLE.search(name):
            self.scribe.said("field.part", said, line, self._key(item, name))
            return
        if measured and measured["unit"]:
            name = f"{name} ({measured['unit']})"
        text = measured["number"] if measured else bare(said)
        is_number = number(text) is not None
        if _EMPTY.search(said) or len(said) > _LONGEST_CELL:
            return
        known = self.scribe.inventory.fields < MOST_FIELDS
        path = self._path(name, text, item, bad=bad, is_number=is_number)
        if not path or not (known or path in _BAD_PATHS):
            return
        self.scribe.inventory.fields += 1
        self.count += 1
        self.scribe.said(path, text if is_number else said, line, self._key(item, name))

    def _path(self, name: str, value: str, item: str, *, bad: bool, is_number: bool) -> str:
        if bad:
            return "field.status" if _STATES.search(name) and is_bad(value) else "field.state"
        if is_number and self.alone:
            if _HARM.search(name):
                return "field.harm"
            counts = _CARRIED.search(name) or _CARRIED.search(item)
            return "field.carried" if counts else "field.number"
        if is_number:
            return ""
        return "field.word" if self.alone or value.lower() in _SWITCHES else ""


def spare(scribe: Scribe, item: str, name: str, said: str, line: Line) -> None:
    """Record a value of an output that a reader knows, but not this part of it.

    Its peers tell whether it is a setting; what measures something differs from row to row.
    """
    inventory = scribe.inventory
    if _EMPTY.search(said) or len(said) > _LONGEST_CELL or inventory.fields > MOST_FIELDS:
        return
    value = bare(said)
    path = "field.setting" if number(value) is not None else "field.word"
    if path == "field.setting" and _CARRIED.search(name):
        return
    if path == "field.word" and value.lower() not in _SWITCHES:
        return  # a name, as a rule
    inventory.fields += 1
    output = series(scribe.file).rpartition("/")[2]
    key = {"output": output, "item": item, "name": name}
    scribe.said(path, said if path == "field.word" else value, line, key)


def is_count(text: str) -> bool:
    """Return whether a line is one counter: what it means is decided by the others beside it.

    >>> is_count("    38 input message failed"), is_count("  destination unreachable: 15")
    (True, True)
    >>> is_count("Error: 3 of 4 tests failed")
    False
    """
    found = _PAIR.search(text)
    paired = found is not None and not _STAMP.search(text) and str(found["value"]).isdecimal()
    return paired or bool(_COUNT.search(text))


def is_harmless(text: str) -> bool:
    """Return whether a line names something bad and gives it no or one harmless word.

    >>> is_harmless("Correctable Error : 0"), is_harmless("Fatal: cannot open the device")
    (True, False)
    """
    if _COUNT.search(text):
        return True
    found = _PAIR.search(text)
    if found is None or _STAMP.search(text) or _SENTENCE.search(text):
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


def _shape(text: str) -> str:
    """Return a line without its numbers, and without how wide they are."""
    return " ".join(_NUMBERS.sub("#", text).split())


def _labels(lines: Sequence[Line]) -> frozenset[str]:
    """Return the hosts that a parallel shell wrote before every line, as many of each."""
    found = [_LABEL.search(line.text) for line in lines if not _PROMPT.search(line.text)]
    counts = Counter(str(item["label"]) for item in found if item)
    whole = counts and all(found) and len(set(counts.values())) == 1
    return frozenset(counts) if whole and len(counts) >= _FEWEST_HOSTS else frozenset()


def _after(line: Line, label: str) -> Line:
    """Return a line without the host before it."""
    text = line.text[len(label) + 2 :]
    return Line(line.number, text, text.encode())

"""Text that a logging system carries in records of its own: JSON, key=value, CSV.

A record becomes one line: when, who, and what was said, as plain logs write it. Where what was
said has lines of its own they are parted by ``PART``, so that numbers of lines stay true.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from weft.observe.backwards import run_backwards, turned

PART: Final = "\x0b"
"""Parts the lines that one line of a file carries."""
_SAID: Final = (
    "MESSAGE", "log", "message", "msg", "textPayload", "line", "Line", "_raw", "body", "text",
    "event", "content",
)  # fmt: skip
_WHEN: Final = frozenset(
    {"time", "ts", "timestamp", "@timestamp", "date", "datetime", "_time", "asctime", "Time",
     "__REALTIME_TIMESTAMP", "eventTime", "t", "@t"}
)  # fmt: skip
_BESIDE: Final = _WHEN | {
    "stream", "level", "severity", "levelname", "lvl", "_HOSTNAME", "PRIORITY", "logger",
    "fields", "labels", "ingestionTime",
}  # fmt: skip
"""One of these stands in every record of a log, and in few other documents."""
_OTHERS: Final = frozenset({"kind", "apiVersion", "involvedObject", "metadata", "spec"})
_HOSTS: Final = (
    "_HOSTNAME", "hostname", "host", "node", "node_name", "nodeName", "pod_name", "pod",
    "instance", "hostName", "HOSTNAME",
)  # fmt: skip
_WHERE: Final = ("kubernetes", "fields", "labels", "resource", "k8s", "attributes", "host")
"""Objects of a record that may say who wrote it."""
_PAYLOADS: Final = ("jsonPayload", "_source", "result", "record")
_LONGEST_MICRO: Final = 17
_SECONDS: Final = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3), (1e8, 1.0))
"""What a number that is a date counts in, by its size."""
_MOST_BESIDE: Final = 8
_FEWEST_BLANKS: Final = 2
_DEEPEST_BESIDE: Final = 2
_MARKS: Final = tuple(f'"{name}"' for name in (*_SAID, *_PAYLOADS))
_LOGFMT = re.compile(
    r"(?P<before>(?:[\w.@-]{1,40}=(?:\"[^\"]{0,200}\"|[^\s\"]{0,200}) ){1,20})"
    r"(?:msg|message)=(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>\S+))"
)
_LOGFMT_WHEN = re.compile(r"(?:time|ts|t|timestamp)=\"?([^\s\"]{8,40})")
_LOGFMT_WHO = re.compile(r"(?:host|hostname|node|pod|instance)=\"?([\w.-]{1,80})")
_LOGFMT_MARKS = ("msg=", "message=")
_ESCAPED = re.compile(r"\\([ntr\"'\\/])")
_ESCAPES: Final = {"n": PART, "t": "\t", "r": ""}
_FEWEST_ESCAPED = 3
_QUOTED: Final = ("b'", 'b"', '"', "'")
_COLUMN = re.compile(r"[\w .@/()-]{1,60}")
_CSV_SAID: Final = frozenset(
    {*map(str.lower, _SAID), "raw", "log message", "log line", "textpayload", "syslogmessage"}
)
_CSV_WHEN: Final = frozenset({*map(str.lower, _WHEN), "tsns", "timegenerated", "local time"})
_CSV_HOSTS: Final = frozenset({*map(str.lower, _HOSTS), "computer", "source", "machine"})
_MOST_DEEP = 12
_MOST_LINES_OF_A_ROW = 2000
_FEWEST_LINES = 2


def unwrapped(block: str) -> str:
    """Return a block with each record of a log as the line that it carries."""
    if '{"' in block and any(mark in block for mark in _MARKS):
        block = "\n".join(map(_of_json, block.split("\n")))
    if any(mark in block for mark in _LOGFMT_MARKS):
        block = "\n".join(map(_of_pairs, block.split("\n")))
    return block


def _of_json(line: str) -> str:
    r"""Return the text that a line of a log in JSON carries, or the line.

    >>> _of_json(r'{"log":"NCCL INFO x\n","stream":"stdout","time":"2026-01-02T00:00:01Z"}')
    '2026-01-02T00:00:01Z NCCL INFO x'
    """
    if not line.startswith("{") or not any(mark in line for mark in _MARKS):
        return line
    try:
        held = json.loads(line)
    except (ValueError, RecursionError):
        return line
    said = record(held)
    return line if said is None else said


def record(held: object) -> str | None:
    """Return what a record of a log says, or None where a value is no such record."""
    if not isinstance(held, dict) or _OTHERS & held.keys():
        return None
    payload: dict[str, Any] = next(
        (held[name] for name in _PAYLOADS if isinstance(held.get(name), dict)), {}
    )
    whole = {**held, **payload}
    text = next((whole[name] for name in _SAID if isinstance(whole.get(name), str)), None)
    if text is None or not (_BESIDE & whole.keys() or payload):
        return None
    head = [*_when(whole), *_who(whole)]
    beside = islice(_beside(whole, 0), _MOST_BESIDE)
    lines = "\n".join([text.rstrip(), *(one for one in beside if one not in text)])
    return _parted(" ".join([*head, ""]) if head else "", lines)


def _beside(held: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield the sentences that stand beside the message: errors, reasons, details."""
    for name, value in held.items():
        if isinstance(value, str) and value.count(" ") >= _FEWEST_BLANKS and name not in _WHEN:
            yield value.strip()
        elif isinstance(value, dict) and depth < _DEEPEST_BESIDE and name not in _WHERE:
            yield from _beside(value, depth + 1)


def _parted(head: str, text: str) -> str:
    """Return the lines of a text as one line, each with the head."""
    lines = text.rstrip().splitlines()
    return PART.join(f"{head}{one}" for one in lines) or head.rstrip()


def _when(held: Mapping[str, Any]) -> Iterator[str]:
    """Yield when a line was written, as logs write it."""
    for name in _WHEN & held.keys():
        stamp = held[name]
        if isinstance(stamp, str) and not stamp.replace(".", "", 1).isdigit():
            yield stamp[:40]
            return
        if isinstance(stamp, str | int | float) and len(str(stamp)) <= _LONGEST_MICRO + 3:
            yield from _counted(float(stamp))
            return


def _counted(stamp: float) -> Iterator[str]:
    for least, unit_s in _SECONDS:
        if least < stamp < least * 100:
            yield datetime.fromtimestamp(stamp * unit_s, UTC).isoformat()
            return


def _who(held: Mapping[str, Any]) -> Iterator[str]:
    """Yield which host or pod wrote a line, and which program."""
    inner = [held[name] for name in _WHERE if isinstance(held.get(name), dict)]
    for one in (held, *inner):
        named = next((one[name] for name in _HOSTS if isinstance(one.get(name), str)), "")
        if named and " " not in named:
            program = held.get("SYSLOG_IDENTIFIER")
            yield f"{named} {program}:" if isinstance(program, str) else f"{named}:"
            return


def _of_pairs(line: str) -> str:
    """Return the message of a line of keys and values, or the line.

    >>> _of_pairs('time=2026-01-02T00:00:01Z level=info msg="Using network IB"')
    '2026-01-02T00:00:01Z Using network IB'
    """
    found = _LOGFMT.match(line)
    if not found or found.end() < len(line.rstrip()):
        return line
    when = _LOGFMT_WHEN.search(found["before"])
    who = _LOGFMT_WHO.search(found["before"])
    head = (f"{when[1]} " if when else "") + (f"{who[1]}: " if who else "")
    return _parted(head, unescaped(found["quoted"] or found["bare"] or ""))


def unescaped(text: str) -> str:
    r"""Return a text whose ends of lines and tabs were written as two characters.

    >>> unescaped(r"State: Down\n\tRate: 40").split(PART)
    ['State: Down', '\tRate: 40']
    """
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)


def is_escaped(line: str) -> bool:
    """Return whether a line holds several lines whose ends are written out."""
    ends = line.count("\\n")
    if ends < _FEWEST_ESCAPED:
        return ends > 0 and line.lstrip().startswith(_QUOTED)
    return sum(map(bool, map(str.strip, line.split("\\n")))) >= _FEWEST_ESCAPED


class Columns:
    """A table of records as CSV: a heading that names a column of messages, then its rows."""

    def __init__(self, head: str) -> None:
        """Look at the first lines of a text."""
        first, _, second = head.partition("\n")
        comma = next((mark for mark in (",", ";", "\t") if mark in first), ",")
        names = [name.strip().strip("\"'") for name in first.strip().split(comma)]
        lower = [name.lower() for name in names]
        plain = all(map(_COLUMN.fullmatch, names))
        said = [place for place, name in enumerate(lower) if name in _CSV_SAID]
        self.known = plain and bool(said) and (len(names) > 1 or second.startswith('"'))
        self._comma, self._said = comma, said[0] if said else 0
        self._when = next((n for n, name in enumerate(lower) if name in _CSV_WHEN), None)
        self._who = next((n for n, name in enumerate(lower) if name in _CSV_HOSTS), None)

    def rows(self, block: str) -> str:
        """Return the messages of a block of rows, in as many lines as it has."""
        lines = iter(block.split("\n"))
        return "\n".join(one for line in lines for one in self._row(line, lines))

    def _row(self, line: str, rest: Iterator[str]) -> Sequence[str]:
        """Return the message of a row, whose cells may go on in the lines after."""
        held, is_open = [line], line.count('"') % 2 == 1
        for more in islice(rest, _MOST_LINES_OF_A_ROW) if is_open else ():
            held.append(more)
            if more.count('"') % 2:
                break
        said = self._message("\n".join(held)).split("\n")
        last = PART.join(said[len(held) - 1 :])
        return [*said[: len(held) - 1], last, *[""] * (len(held) - len(said))]

    def _message(self, row: str) -> str:
        try:
            cells = next(csv.reader(io.StringIO(row), delimiter=self._comma), [])
        except csv.Error:
            return row
        if len(cells) <= self._said:
            return row
        head = "".join(
            f"{cells[place]}{end}"
            for place, end in ((self._when, " "), (self._who, ": "))
            if place is not None and place < len(cells) and cells[place]
        )
        return "\n".join(f"{head}{one}" for one in cells[self._said].split("\n"))


def unfolded(value: object) -> list[str]:
    r"""Return the lines of text that a document carries: records of a log, outputs.

    >>> unfolded({"events": [{"ts": 1, "message": "Port 1:"}, {"message": "x", "ts": 2}]})
    ['Port 1:', 'x']
    >>> unfolded({"stdout": "CA 'mlx5_0'\n  Port 1:\n", "rc": 0})
    ["CA 'mlx5_0'", '  Port 1:']
    """
    return list(_lines(value, 0))


def _lines(value: object, depth: int) -> Iterator[str]:
    if depth > _MOST_DEEP:
        return
    if isinstance(value, str):
        lines = value.splitlines()
        if len(lines) >= _FEWEST_LINES:
            yield from lines
    elif isinstance(value, list):
        yield from _of_list(value, depth)
    elif isinstance(value, dict):
        said = record(value)
        if said is not None:
            yield from said.split(PART)
        else:
            for one in value.values():
                yield from _lines(one, depth + 1)


def _of_list(values: Sequence[Any], depth: int) -> Iterable[str]:
    if all(isinstance(one, str) for one in values):
        lines = [line for one in values for line in one.splitlines()]
        yield from (lines[place] for place in turned(lines))
    elif all(isinstance(one, list) and [*map(type, one[:2])] == [str, str] for one in values):
        newest_first = [one[0] for one in values] > [one[0] for one in reversed(values)]
        pairs = reversed(values) if newest_first else values
        yield from (one[1] for one in pairs)  # pairs of a stamp and a line
    else:
        records = [list(_lines(one, depth + 1)) for one in values]
        back = run_backwards([one[0] for one in records if one])
        for one in reversed(records) if back else records:
            yield from one

"""What share of the warnings that a program can print has a row in the message tables.

Run `python benchmarks/message_coverage.py TOOL REPOSITORY [TAG ...]` on a clone of the
program's source: each format string of its warnings is filled with values and read as a line
of a log.
With `--missing` the format strings without a row are listed. No text of the source is kept.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weft.readers.engine import engine
from weft.readers.read import OTHERWISE


@dataclass(frozen=True, slots=True)
class Program:
    """How a program prints its warnings: the macro, the files, and what precedes the text."""

    call: str
    paths: tuple[str, ...]
    prefix: str
    unless: str = r"(?!)"
    """Warnings about the arguments of a caller, or only of a debugging build."""


PROGRAMS: Final = {
    "nccl": Program(
        r"\b(?:WARN|ERROR)\(",
        ("src/*.cc", "src/*.h", "src/*.cu"),
        "n1:10:11 [0] transport/file.cc:12 NCCL WARN ",
    ),
    "rccl": Program(
        r"\bWARN\(",
        ("src/*.cc", "src/*.h", "src/*.cpp"),
        "n1:10:11 [0] transport/file.cc:12 NCCL WARN ",
    ),
    "aws-ofi-nccl": Program(
        r"\bNCCL_OFI_WARN\(",
        ("src/*.c", "src/*.cpp", "include/*.h"),
        "n1:10:11 [0] file.cpp:12 NCCL WARN NET/OFI ",
    ),
    "opensm": Program(
        r"\bOSM_LOG(?:_V2)?\([^,;\"]+, ?OSM_LOG_(?:ERROR|SYS),?",
        ("opensm/*.c",),
        "Mar 04 05:06:07 123456 [AB12] 0x01 -> osm_function: ",
    ),
    "ucx": Program(
        r"\bucs_(?:error|fatal)\(",
        ("src/uct/ib/*.c", "src/uct/tcp/*.c", "src/uct/cuda/*.c", "src/ucp/wireup/*.c"),
        "[1700000000.1] [n1:10:0]  file.c:12   UCX  ERROR ",
    ),
}
_LITERAL: Final = re.compile(r'\s*"((?:[^"\\]|\\.)*)"|\s*(PRI\w+)|\s*([A-Z_]{3,})(?=\s*")')
_FIELD: Final = re.compile(
    r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?([diuxXpscfgeEG%])"
)
_VALUES: Final = {"s": "mlx5_0", "c": "a", "p": "0x7f00", "x": "1f", "X": "1F", "%": "%"}


def formats(program: Program, repository: str, tag: str) -> set[str]:
    """Return the format strings of the warnings of one release."""
    pattern = program.call.replace(r"\b", "").replace("(?:", "(")
    command = ["git", "-C", repository, "grep", "-h", "-A4", "-E", pattern, tag, "--"]
    out = subprocess.run(
        [*command, *program.paths], capture_output=True, text=True, check=False
    ).stdout
    return set(_of_source(out, re.compile(program.call)))


def _of_source(text: str, call: re.Pattern[str]) -> Iterator[str]:
    for found in call.finditer(text):
        at, parts = found.end(), []
        while match := _LITERAL.match(text, at):
            literal, number, _ = match.groups()
            parts.append(literal if literal is not None else "u" if number else "")
            at = match.end()
        if parts:
            yield "".join(parts)


def line_of(program: Program, template: str) -> bytes:
    """Return a line of a log with a value in each field."""
    text = _FIELD.sub(lambda found: _VALUES.get(found[1], "7"), template)
    return f"{program.prefix}{text}".replace("\\n", "").replace('\\"', '"').encode()


def is_read(line: bytes) -> bool:
    """Return whether a row of a message table, other than the last resort, matches."""
    rows, _ = engine().matches(line)
    return any(row.tool != OTHERWISE and row.code for row in rows)


def main() -> None:
    """Print the share of each release."""
    missing = "--missing" in sys.argv
    tool, repository, *tags = [one for one in sys.argv[1:] if one != "--missing"]
    program = PROGRAMS[tool]
    for tag in tags or ["HEAD"]:
        known = formats(program, repository, tag)
        unread = sorted(one for one in known if not is_read(line_of(program, one)))
        share = 1 - len(unread) / max(1, len(known))
        print(f"{tool} {tag}: {len(known)} warnings, {share:.0%} have a row")
        if missing:
            print(*unread, sep="\n")


if __name__ == "__main__":
    main()

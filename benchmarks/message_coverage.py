"""What share of the warnings that a program can print has a row in the message tables.

Run `python benchmarks/message_coverage.py TOOL REPOSITORY [TAG ...]` on a clone of the
program's source, or `TOOL FOLDER` on an unpacked one: each format string of its warnings is
filled with values and read as a line of a log.
With `--missing` the format strings without a row are listed. No text of the source is kept.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from weft.readers.engine import OTHERWISE, engine


@dataclass(frozen=True, slots=True)
class Program:
    """How a program prints its warnings: the call, the files, and what precedes the text."""

    call: str
    paths: tuple[str, ...]
    prefix: str
    style: str = "printf"
    unless: str = r"(?!)"
    """Files of the paths that do not matter."""


def _program(told: dict[str, Any]) -> Program:
    return Program(**{**told, "paths": tuple(told["paths"])})


PROGRAMS: Final = {
    name: _program(told)
    for name, told in yaml.safe_load(
        Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    ).items()
}
_LITERAL: Final = re.compile(
    r'\s*\\?\s*(?:[rfbuL]{0,2}"((?:[^"\\]|\\.)*)"|(PRI\w+)|([A-Z_]{3,})(?=\s*"))'
)
_FIELD: Final = re.compile(
    r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?([diuxXpscfgeEGmvqrwt%])"
)
_CODE: Final = re.compile(r"\b((?:rc|ret|err|error|errno)\W{1,3})%l?[di]\b")
"""A code of an error, which is filled with that of a timeout."""
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_VALUES: Final = {
    "s": "mlx5_0", "c": "a", "p": "0x7f00", "x": "1f", "X": "1F", "%": "%",
    "m": "Input/output error",
}  # fmt: skip
_VALUES_OF_WORDS: Final = {"%": "%"}
_MOST_CHARACTERS_OF_CALL: Final = 1500


def texts(program: Program, repository: str, tag: str) -> Iterator[str]:
    """Yield the text of each source file that matters; `*` stands for folders as well."""
    root = Path(repository)
    git = ["git", "-C", repository]
    cloned = (root / ".git").exists() or (root / "HEAD").exists()
    if cloned:
        names = _output([*git, "ls-tree", "-r", "--name-only", tag]).splitlines()
    else:
        names = [str(path.relative_to(root)) for path in sorted(root.rglob("*.*"))]
    wanted = [re.compile(re.escape(path).replace(r"\*", ".*")) for path in program.paths]
    for name in names:
        if any(path.fullmatch(name) for path in wanted) and not re.search(program.unless, name):
            if cloned:
                yield _output([*git, "show", f"{tag}:{name}"])
            else:
                yield (root / name).read_text(encoding="utf-8", errors="replace")


def _output(command: list[str]) -> str:
    shown = subprocess.run(command, capture_output=True, check=True)
    return shown.stdout.decode("utf-8", "replace")


def formats(program: Program, repository: str, tag: str) -> set[str]:
    """Return the format strings of the warnings of one release."""
    call = re.compile(program.call)
    return {
        found
        for text in texts(program, repository, tag)
        for match in call.finditer(text)
        if (found := _format(text[match.end() :][:_MOST_CHARACTERS_OF_CALL], program.style))
    }


def _format(text: str, style: str) -> str:
    """Return the format of a call from what follows its name."""
    call = text[: _end(text)]
    if style != "stream":
        return next((joined for joined, _ in _literals(call)), "")
    parts: list[str] = []
    end = 0
    for joined, (start, stop) in _literals(call):
        if parts and re.search(r"\w", call[end:start]):
            parts.append("7")
        parts.append(_BRACES.sub("7", joined))
        end = stop
    if parts and re.search(r"\w", call[end:]):
        parts.append("7")
    return "".join(parts)


def _end(text: str) -> int:
    """Return where the statement ends: its semicolon, outside of quotes."""
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: "_" * len(found[0]), text)
    stop = re.search(r";|\)\s*\n\s*\w+[ (.]|\n\s*\n", plain)
    return stop.start() if stop else len(text)


def _literals(call: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the texts of a call, neighbours joined, and where each stands."""
    at = 0
    while (first := re.compile(r'[fr]?"').search(call, at)) is not None:
        start = at = first.start()
        parts: list[str] = []
        while match := _LITERAL.match(call, at):
            literal, number, _ = match.groups()
            parts.append(literal if literal is not None else "u" if number else "")
            at = match.end()
        if at == start:
            return
        yield "".join(parts), (start, at)


def line_of(program: Program, template: str) -> bytes:
    """Return a line of a log with a value in each field."""
    template = _CODE.sub(r"\g<1>-110", template)
    words = program.style == "words"
    values = _VALUES_OF_WORDS if words else _VALUES
    text = _FIELD.sub(lambda found: values.get(found[1], "7"), template)
    if words:
        text = _BRACES.sub("7", text)
    text = text.replace("\\n", "").replace('\\"', '"').replace("\n", " ")
    return f"{program.prefix}{text}".encode()


def is_read(line: bytes) -> bool:
    """Return whether a row of a message table, other than the last resort, matches."""
    rows, _ = engine().matches(line)
    return any(row.tool != OTHERWISE and (row.code or row.sets) for row in rows)


def is_shown(line: bytes) -> bool:
    """Return whether any row matches: the doctor shows the line, if only as unexplained."""
    return bool(engine().matches(line)[0])


def main() -> None:
    """Print the share of each release."""
    missing = "--missing" in sys.argv
    tool, repository, *tags = [word for word in sys.argv[1:] if word != "--missing"]
    program = PROGRAMS[tool]
    for tag in tags or ["HEAD"]:
        known = formats(program, repository, tag)
        unread = sorted(text for text in known if not is_read(line_of(program, text)))
        count = max(1, len(known))
        shown = sum(is_shown(line_of(program, text)) for text in known) / count
        share = 1 - len(unread) / count
        print(f"{tool} {tag}: {len(known)} warnings, {share:.0%} have a row, {shown:.0%} shown")
        if missing:
            print(*unread, sep="\n")


if __name__ == "__main__":
    main()

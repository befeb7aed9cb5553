"""How an error reaches the user: words on standard error, an envelope with -o json."""

import json
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import typer

from weft.errors import WeftError

SCHEMA_VERSION: Final = "1"
INTERNAL, INPUT, CANNOT_READ, INTERRUPTED = 1, 2, 3, 130

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Typer bundles its own click or uses the installed one; this is the one that it raises."""

_CATEGORIES: Final = {INTERNAL: "internal", INPUT: "input", CANNOT_READ: "unreadable"}
_SUGGESTIONS: Final = {
    "unknown_name": "use a name that the message lists; `weft catalog` has all devices",
    "spec": "run `weft spec schema cluster` (or job) for the keys and their units",
    "unit": "write every quantity with its unit, as 400Gb/s, 64MiB or 1.5us",
    "infeasible": "use more GPUs, another parallelism, or `parallelism: auto`",
    "unreadable": "check the path and its permissions",
    "internal": "run again with WEFT_DEBUG=1 and report the traceback with the input files",
}
_LONGEST_LINE: Final = 800
_MOST_LINES: Final = 50
_HINTED: Final = frozenset({"usage"})
"""Other messages say themselves what to do; programs get the suggestion with all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One error as the user meets it."""

    code: str
    message: str
    exit_status: int
    command: str = "weft"
    """Whose --help says more about words that were wrong."""

    @property
    def suggestion(self) -> str:
        """What to do next."""
        if self.code == "usage":
            return f"run `{self.command} --help`"
        return _SUGGESTIONS.get(self.code, "run the command with --help")

    def envelope(self) -> dict[str, object]:
        """Return the document that stands for the result with ``-o json``."""
        error = {
            "code": self.code,
            "message": self.message,
            "category": _CATEGORIES.get(self.exit_status, "internal"),
            "transient": False,
            "suggestion": self.suggestion,
        }
        return {
            "schemaVersion": SCHEMA_VERSION,
            "success": False,
            "error": error,
            "messages": [],
        }


def describe(failure: BaseException) -> Failure:
    """Say of any exception what the user did, or that it was our mistake."""
    if isinstance(failure, WeftError):
        lines = [_shortened(line) for line in str(failure).splitlines()[:_MOST_LINES]]
        return Failure(
            code=failure.code, message="\n".join(lines), exit_status=failure.exit_status
        )
    if isinstance(failure, UsageError):
        text = getattr(failure, "format_message", failure.__str__)()
        context = getattr(failure, "ctx", None)
        command = f"weft {' '.join(_verbs(context))}".rstrip()
        return Failure(code="usage", message=text, exit_status=INPUT, command=command)
    if isinstance(failure, OSError):  # of the disk or the network, not of weft
        reason = failure.strerror or str(failure) or type(failure).__name__
        text = reason if failure.filename is None else f"{failure.filename}: {reason}"
        return Failure(code="unreadable", message=text, exit_status=CANNOT_READ)
    text = f"{type(failure).__name__}: {failure}"
    return Failure(code="internal", message=text, exit_status=INTERNAL)


def _shortened(line: str) -> str:
    """Return a line of a message; a value that it quotes may be of any length."""
    if len(line) <= _LONGEST_LINE:
        return line
    half = _LONGEST_LINE // 2
    return f"{line[:half]} ... {line[-half:]}"


def _verbs(context: Any) -> list[str]:  # noqa: ANN401 - click's, or typer's own copy of it
    """Return the words of the command in which the words stopped making sense."""
    found: list[str] = []
    while context is not None and context.parent is not None:
        found.insert(0, str(context.info_name))
        context = context.parent
    return found


def report_failure(failure: BaseException, words: Sequence[str]) -> int:
    """Tell the user, on the right stream and in the form asked for; return the exit code."""
    if isinstance(failure, typer.Exit):
        return failure.exit_code
    if isinstance(failure, typer.Abort | KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(failure, SystemExit):
        return failure.code if isinstance(failure.code, int) else INTERNAL
    told = describe(failure)
    if told.exit_status == INTERNAL and os.environ.get("WEFT_DEBUG"):
        traceback.print_exception(failure)
    from weft.report import escape

    print(escape.lines(_text(told)), file=sys.stderr)
    if wants_json(words):
        print(json.dumps(told.envelope(), indent=2))
    return told.exit_status


def _text(told: Failure) -> str:
    first = f"weft: {told.message}"
    if told.exit_status == INTERNAL:
        return f"{first}\nThis is a defect in weft, not in your input; {told.suggestion}."
    if told.code not in _HINTED:
        return first
    return f"{first}\nHint: {told.suggestion}."


def wants_json(words: Sequence[str]) -> bool:
    """Tell whether the words ask for JSON, even where they cannot be parsed.

    >>> wants_json(["expect", "-o", "json"]), wants_json(["expect", "--output=text"])
    (True, False)
    """
    asked = False
    for place, word in enumerate(words):
        if word in ("-o", "--output"):
            asked = list(words[place + 1 : place + 2]) == ["json"]
        elif word.startswith(("--output=", "-o")):
            asked = word.removeprefix("--output=").removeprefix("-o") == "json"
    return asked

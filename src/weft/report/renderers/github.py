"""GitHub annotations: one workflow command for every finding."""

from typing import TYPE_CHECKING, Final

from weft.report import escape
from weft.report.page import Renderer, Rendering

if TYPE_CHECKING:  # rules take time to load, and every other format does without them
    from weft.lint.lint import Finding, Linted

_COMMANDS: Final = {"error": "error", "warning": "warning", "info": "notice"}


def _render(rendering: Rendering) -> str:
    result: Linted = rendering.result
    return "".join(f"{_line(finding)}\n" for finding in result.findings)


def _line(finding: "Finding") -> str:
    place = finding.at
    where = {"file": place.file, "line": place.line, "col": place.column, "title": finding.rule}
    pairs = ",".join(
        f"{key}={escape.github_property(str(value))}" for key, value in where.items()
    )
    text = escape.github(f"{finding.message}\nTo do: {finding.fix}")
    return f"::{_COMMANDS[finding.severity.value]} {pairs}::{text}"


github = Renderer(title="GitHub annotations", render=_render, kinds=frozenset({"linted"}))

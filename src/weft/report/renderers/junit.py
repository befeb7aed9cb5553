"""JUnit XML: one case for every finding, and one for every file without any."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape, quoteattr

from weft.report.renderer import Renderer, Rendering

if TYPE_CHECKING:  # rules take time to load, and every other format does without them
    from weft.lint.lint import Finding, Linted

_FORBIDDEN: Final = {n: None for n in range(32) if chr(n) not in "\t\n\r"}
"""Characters that XML cannot hold."""


def _render(rendering: Rendering) -> str:
    return "\n".join(_lines(rendering.result)) + "\n"


def _lines(result: "Linted") -> Iterator[str]:
    found = {one.at.file for one in result.findings}
    clean = [file.name for file in result.files if file.name not in found]
    failures = sum(one.severity.value != "info" for one in result.findings)
    tests = len(result.findings) + len(clean)
    counts = f'tests="{tests}" failures="{failures}" errors="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="weft lint" {counts}>'
    yield f'  <testsuite name="weft lint" {counts}>'
    for one in result.findings:
        yield from _case(one)
    for name in clean:
        yield f'    <testcase classname={_attribute(name)} name="no finding"/>'
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(one: "Finding") -> Iterator[str]:
    name = f"{one.rule} at line {one.at.line}"
    yield f"    <testcase classname={_attribute(one.at.file)} name={_attribute(name)}>"
    places = [f"{place.file}:{place.line}: {place.text}" for place in one.evidence]
    text = _text("\n".join([one.message, *places, f"do: {one.fix}", f"see: {one.reference}"]))
    if one.severity.value == "info":
        yield f"      <system-out>{text}</system-out>"
    else:
        head = f'message={_attribute(one.message)} type="{one.severity.value}"'
        yield f"      <failure {head}>{text}</failure>"
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(text.translate(_FORBIDDEN))


def _text(text: str) -> str:
    return escape(text.translate(_FORBIDDEN))


junit = Renderer(title="JUnit XML", render=_render, kinds=frozenset({"linted"}))

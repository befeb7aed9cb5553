"""JUnit XML: one case for every finding, and for every file or item without any."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.report import escape
from weft.report.renderer import Renderer, Rendering

if TYPE_CHECKING:  # rules take time to load, and every other format does without them
    from weft.check.checked import Checked, Checklist
    from weft.lint.lint import Finding, Linted


def _render(rendering: Rendering) -> str:
    lines = _checklist if hasattr(rendering.result, "items") else _lines
    return "\n".join(lines(rendering.result)) + "\n"


def _checklist(result: "Checklist") -> Iterator[str]:
    """Yield one case an item: what was not measured is an error, which no gate lets pass."""
    outcomes = [one.outcome.value for one in result.items]
    failures, errors = outcomes.count("FAIL"), outcomes.count("NOT MEASURED")
    counts = f'tests="{len(outcomes)}" failures="{failures}" errors="{errors}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="weft check" {counts}>'
    yield f'  <testsuite name="weft check" {counts}>'
    for one in result.items:
        yield from _item(one)
    yield "  </testsuite>"
    yield "</testsuites>"


def _item(one: "Checked") -> Iterator[str]:
    group, name = escape.xml_attribute(one.group), escape.xml_attribute(one.item)
    yield f"    <testcase classname={group} name={name}>"
    kind = {"FAIL": "failure", "NOT MEASURED": "error"}.get(one.outcome.value)
    if kind is not None:
        lines = [f"{line.file}:{line.line}: {line.text}" for line in one.evidence]
        text = escape.xml("\n".join([one.title, one.reason, *lines, one.measure]))
        yield f"      <{kind} message={escape.xml_attribute(one.reason)}>{text}</{kind}>"
    yield "    </testcase>"


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
        yield f'    <testcase classname={escape.xml_attribute(name)} name="no finding"/>'
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(one: "Finding") -> Iterator[str]:
    name = escape.xml_attribute(f"{one.rule} at line {one.at.line}")
    yield f"    <testcase classname={escape.xml_attribute(one.at.file)} name={name}>"
    places = [f"{place.file}:{place.line}: {place.text}" for place in one.evidence]
    text = escape.xml(
        "\n".join([one.message, *places, f"do: {one.fix}", f"see: {one.reference}"])
    )
    if one.severity.value == "info":
        yield f"      <system-out>{text}</system-out>"
    else:
        head = f'message={escape.xml_attribute(one.message)} type="{one.severity.value}"'
        yield f"      <failure {head}>{text}</failure>"
    yield "    </testcase>"


junit = Renderer(title="JUnit XML", render=_render, kinds=frozenset({"checklist", "linted"}))

"""JUnit XML: one case for every finding, and for every file or item without any."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.report import escape
from weft.report.page import Renderer, Rendering

if TYPE_CHECKING:  # rules take time to load, and every other format does without them
    from weft.check.checked import Checked, Checklist
    from weft.lint.lint import Finding, Linted


def _render(rendering: Rendering) -> str:
    lines = _checklist if hasattr(rendering.result, "items") else _lines
    return "\n".join(lines(rendering.result)) + "\n"


def _checklist(result: "Checklist") -> Iterator[str]:
    """Yield one case an item: what was not measured is an error, which no gate lets pass."""
    outcomes = [item.outcome.value for item in result.items]
    failures, errors = outcomes.count("FAIL"), outcomes.count("NOT MEASURED")
    counts = f'tests="{len(outcomes)}" failures="{failures}" errors="{errors}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="weft check" {counts}>'
    yield f'  <testsuite name="weft check" {counts}>'
    for item in result.items:
        yield from _item(item)
    yield "  </testsuite>"
    yield "</testsuites>"


def _item(item: "Checked") -> Iterator[str]:
    group, name = escape.xml_attribute(item.group), escape.xml_attribute(item.item)
    yield f"    <testcase classname={group} name={name}>"
    kind = {"FAIL": "failure", "NOT MEASURED": "error"}.get(item.outcome.value)
    if kind is not None:
        lines = [f"{line.file}:{line.line}: {line.text}" for line in item.evidence]
        text = escape.xml("\n".join([item.title, item.reason, *lines, item.measure]))
        yield f"      <{kind} message={escape.xml_attribute(item.reason)}>{text}</{kind}>"
    yield "    </testcase>"


def _lines(result: "Linted") -> Iterator[str]:
    found = {finding.at.file for finding in result.findings}
    clean = [file.name for file in result.files if file.name not in found]
    failures = sum(finding.severity.value != "info" for finding in result.findings)
    tests = len(result.findings) + len(clean)
    counts = f'tests="{tests}" failures="{failures}" errors="0"'
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="weft lint" {counts}>'
    yield f'  <testsuite name="weft lint" {counts}>'
    for finding in result.findings:
        yield from _case(finding)
    for name in clean:
        yield f'    <testcase classname={escape.xml_attribute(name)} name="no finding"/>'
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(finding: "Finding") -> Iterator[str]:
    name = escape.xml_attribute(f"{finding.rule} at line {finding.at.line}")
    yield f"    <testcase classname={escape.xml_attribute(finding.at.file)} name={name}>"
    places = [f"{place.file}:{place.line}: {place.text}" for place in finding.evidence]
    text = escape.xml(
        "\n".join([finding.message, *places, f"do: {finding.fix}", f"see: {finding.reference}"])
    )
    if finding.severity.value == "info":
        yield f"      <system-out>{text}</system-out>"
    else:
        head = (
            f'message={escape.xml_attribute(finding.message)} type="{finding.severity.value}"'
        )
        yield f"      <failure {head}>{text}</failure>"
    yield "    </testcase>"


junit = Renderer(title="JUnit XML", render=_render, kinds=frozenset({"checklist", "linted"}))

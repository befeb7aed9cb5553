"""SARIF 2.1.0: findings as code scanners exchange them."""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from weft.report import escape
from weft.report.page import Renderer, Rendering

if TYPE_CHECKING:  # rules take time to load, and every other format does without them
    from weft.lint.lint import Finding, Linted
    from weft.lint.text import Evidence

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
Json = dict[str, Any]


def _render(rendering: Rendering) -> str:
    result: Linted = rendering.result
    names = sorted({finding.rule for finding in result.findings})
    run = {
        "tool": {
            "driver": {
                "name": "weft lint",
                "semanticVersion": version("weft"),
                "rules": [_rule(name, result) for name in names],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, names) for finding in result.findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return escape.json_text(log)


def _rule(name: str, result: "Linted") -> Json:
    from weft.lint.lint import description  # noqa: PLC0415 - as at the top

    found = next(finding for finding in result.findings if finding.rule == name)
    summary, text = description(name)
    rule: Json = {
        "id": name,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": text},
        "help": {"text": f"{text}\n{found.reference}"},
        "properties": {"tags": [found.layer.value]},
    }
    if found.reference.startswith("https://"):
        rule["helpUri"] = found.reference
    return rule


def _result(finding: "Finding", names: list[str]) -> Json:
    return {
        "ruleId": finding.rule,
        "ruleIndex": names.index(finding.rule),
        "level": _LEVELS[finding.severity.value],
        "message": {"text": f"{finding.message}. To do: {finding.fix}"},
        "locations": [_location(finding.at)],
        "relatedLocations": [
            _location(place) | {"id": number, "message": {"text": place.text or "see also"}}
            for number, place in enumerate(finding.evidence[1:], 1)
        ],
    }


def _location(place: "Evidence") -> Json:
    region: Json = {"startLine": place.line, "startColumn": place.column}
    if place.text:
        region["snippet"] = {"text": place.text}
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(place.file)},
            "region": region,
        }
    }


def _uri(file: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - this format alone needs it

    return quote(file)


sarif = Renderer(title="SARIF 2.1.0", render=_render, kinds=frozenset({"linted"}))

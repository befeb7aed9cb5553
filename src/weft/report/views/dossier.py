"""`weft check --dossier`: whether a cluster is accepted, and on what evidence."""

from collections.abc import Iterator

from weft.check.checked import Outcome
from weft.check.dossier import Dossier
from weft.report.page import Block, Columns, Facts, View, table
from weft.report.views.checklist import checklist
from weft.results import Estimate

_VERDICTS = {
    Outcome.PASS: "accepted", Outcome.FAIL: "not accepted",
    Outcome.UNMEASURED: "not accepted: something was not measured",
}  # fmt: skip


def _title(result: Dossier) -> str:
    verdict = _VERDICTS[result.outcome]
    return f"Acceptance of {result.cluster}: {result.outcome.value} ({verdict})"


def _answer(result: Dossier) -> Iterator[Block]:
    columns = {"section": "section", "outcome": "outcome", "why": "reason"}
    yield table(result.sections, columns, title="Verdict")
    yield Facts(pairs=(("written", result.written),))


def _blocks(result: Dossier) -> Iterator[Block]:
    columns: Columns = {
        "operation": "operation", "size": "size_bytes", "runs": "runs",
        "measured": lambda speed: _range(speed.measured_bytes_per_s),
        "expected": lambda speed: _range(speed.expected_bytes_per_s), "outcome": "outcome",
    }  # fmt: skip
    title = "Bus bandwidth, GB/s: slowest to fastest run, and the band of the model"
    yield table(result.speeds, columns, title=title)
    yield from checklist.page(result.checklist).everything


def _range(rate: Estimate) -> str:
    return f"{rate.value / 1e9:.1f} ({rate.low / 1e9:.1f} to {rate.high / 1e9:.1f})"


dossier = View(
    shows="weft.check.dossier.Dossier", verb="", title=_title, answer=_answer,
    blocks=_blocks, rest="measured against expected, every item of the checklist",
)  # fmt: skip

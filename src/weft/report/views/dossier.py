"""`weft check --dossier`: whether a cluster is accepted, and on what evidence."""

from weft.check.checked import Outcome
from weft.check.dossier import Dossier
from weft.report.numbers import show_size
from weft.report.page import Facts, Page, Table, View
from weft.report.views._provenance import footer
from weft.report.views.checklist import checklist
from weft.results import Estimate

_VERDICTS = {
    Outcome.PASS: "accepted", Outcome.FAIL: "not accepted",
    Outcome.UNMEASURED: "not accepted: something was not measured",
}  # fmt: skip


def _page(result: Dossier) -> Page:
    return Page(
        title=f"Acceptance of {result.cluster}: {result.outcome.value} "
        f"({_VERDICTS[result.outcome]})",
        answer=(
            Table(
                title="Verdict", columns=("section", "outcome", "why"), left=(0, 1, 2),
                rows=tuple(
                    (one.section, one.outcome.value, one.reason) for one in result.sections
                ),
            ),
            Facts(pairs=(("written", result.written),)),
        ),
        blocks=(_speeds(result), *checklist.page(result.checklist).everything),
        rest="measured against expected, every item of the checklist",
        footer=footer(result.provenance),
    )  # fmt: skip


def _speeds(result: Dossier) -> Table:
    return Table(
        title="Bus bandwidth, GB/s: slowest to fastest run, and the band of the model",
        columns=("operation", "size", "runs", "measured", "expected", "outcome"),
        rows=tuple(
            (one.operation, show_size(one.size_bytes), f"{one.runs}",
             _range(one.measured_bytes_per_s), _range(one.expected_bytes_per_s),
             one.outcome.value)
            for one in result.speeds
        ),
        left=(0, 5),
    )  # fmt: skip


def _range(one: Estimate) -> str:
    return f"{one.value / 1e9:.1f} ({one.low / 1e9:.1f} to {one.high / 1e9:.1f})"


dossier = View(shows="weft.check.dossier.Dossier", verb="", page=_page)

"""Write the pages that are made from results.

python docs/generate.py accuracy
"""

import ast
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from weft.accuracy import score
from weft.accuracy.by_system import BySystem
from weft.accuracy.scoreboard import Group, Scoreboard
from weft.doctor.cause import causes
from weft.expectations.expectation import expectations
from weft.generate.target import target_names
from weft.lint.lint import all_rules as all_lint_rules
from weft.lint.lint import description
from weft.lint.reader import all_readers
from weft.lint.rule import Layer
from weft.predict.simulate import simulate
from weft.predict.simulation import Simulation
from weft.readers.column import Columns
from weft.readers.engine import Format, engine
from weft.readers.tree import rows as object_rows
from weft.report.views.scoreboard import outcome_texts
from weft.spec.load import load_scenario
from weft.units import show_time

HERE = Path(__file__).parent
BREAKDOWNS = {
    "collective_from_64MiB": ("collective", "fabric", "gpu", "scale", "size"),
    "collective_below_64MiB": ("collective", "fabric", "gpu", "scale", "size"),
    "training_step": ("family", "gpu", "scale", "assumed"),
}
WORST = 5
COMMON = 6
INTRODUCTION = """\
# How accurate is weft?

This page is made from `weft accuracy`: every published measurement that came with weft is
predicted from what its source states of the system, and compared.

* The error is `predicted / measured - 1`: of bus bandwidth from 64 MiB up, of time below, of
  the step time in training, of the count in topologies.
* **Product families are left out.** A system that a fit has seen is predicted by a fit without
  its whole product family (AWS p5, GCP A3 Ultra, HGX A100 with HDR ...): constants, spreads,
  levels and what counts as measured are all refitted. Another table has the constants as they
  ship.
* **A system counts once.** Figures are medians and means over systems, whatever number of rows
  each has; points of one sweep are not independent. A coverage over 10 to 15 systems has a
  standard error of about 0.10; it is printed beside every coverage.
* Bands are meant to hold 80 % of the measurements of a system never measured; 75 to 88 % is
  the aim.
* Broken systems, complaints and systems of unknown health are apart, and so are collectives
  inside one host and rows that a constant was read from: they do not count in the first tables.
* Priors of constants were set by people who had read many of these sources, so even a left-out
  family is not quite unseen. Measurements kept apart from this repository are the harder test.

Do the same with your own measurements: `weft accuracy --data DIR`, with files of the same
names and columns as in `src/weft/accuracy/data`.
"""


CALIBRATED = """\
What papers report: the model is calibrated on one sweep of a system (`weft calibrate`) and
predicts other sizes of that sweep, the same sizes of other collectives on the same hosts, and
the same collective on other numbers of hosts. Constants are fitted without its family.
"""


def accuracy(result: Scoreboard, reasons: dict[str, list[dict[str, str]]]) -> Iterator[str]:
    """Yield the lines of the page on accuracy."""
    yield INTRODUCTION
    yield "## Aims\n"
    yield from _aims(result)
    yield ""
    yield from _folds(result)
    yield "\n## Every system counted once, product families left out\n"
    yield from _systems(result.by_system)
    yield "\n## Calibrated on one sweep of a system\n"
    yield CALIBRATED
    yield from _systems(result.calibrated)
    yield "\n## By kind, every row counted, product families left out\n"
    yield from _groups(result.groups)
    yield "\n## The same with the constants as they ship\n"
    yield from _groups(result.as_shipped)
    yield "\n## Order of runs of one series\n"
    yield from _trends(result)
    yield "\n## Where it is off, and why\n"
    yield from _reasons(result, reasons)
    for kind, labels in BREAKDOWNS.items():
        for label in labels:
            yield from _parts(result, kind, label)
    yield "\n## Apart\n"
    yield from _apart(result)
    yield "\n## Rows left out\n"
    yield from _left_out(result)


def _groups(groups: Iterable[Group]) -> Iterator[str]:
    head = ("kind", "rows", "sites", "left out", "median", "90th", "bias", "in band", "by site")
    rows = [
        (
            group.kind, str(group.rows), str(group.sites), str(group.left_out),
            *_errors(group), _percent(group.median_abs_error_by_site_ratio),
        )
        for group in groups
    ]  # fmt: skip
    yield from _table(head, rows)


def _errors(group: Group) -> tuple[str, ...]:
    return (
        _percent(group.median_abs_error_ratio),
        _percent(group.p90_abs_error_ratio),
        _percent(group.bias_ratio, sign=True),
        _percent(group.inside_band_ratio),
    )


def _percent(ratio: float | None, *, sign: bool = False) -> str:
    if ratio is None:
        return "-"
    return f"{100 * ratio:{'+' if sign else ''}.1f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _aims(result: Scoreboard) -> Iterator[str]:
    head = ("kind", "part", "figure", "systems", "found", "aim", "")
    yield from _table(
        head,
        [
            (
                one.aim.kind, one.aim.part, one.aim.figure, str(one.systems),
                *outcome_texts(one),
            )
            for one in result.aims
        ],
    )  # fmt: skip


def _folds(result: Scoreboard) -> Iterator[str]:
    nested = result.nested
    if nested is None:
        return
    yield (
        f"Fitted {nested.fitted}: {nested.families} product families, {nested.systems} systems."
    )
    changed = ", ".join(nested.changed)
    if changed:
        yield f"**The model has changed since, for {changed}: run `fits/collective.py`.**"
    else:
        yield "The predictions of every fold, worked out again for this page, are the same."


def _systems(found: Iterable[BySystem]) -> Iterator[str]:
    head = ("kind", "part", "systems", "rows", "median error", "factor", "in band")
    rows = [
        (
            one.kind, one.part, str(one.systems), str(one.rows),
            _percent(one.median_abs_error_ratio), f"{one.median_factor:.2f}",
            f"{_percent(one.inside_band_ratio)} +- {_percent(one.inside_band_error_ratio)}",
        )
        for one in found
    ]  # fmt: skip
    yield from _table(head, rows)


def _trends(result: Scoreboard) -> Iterator[str]:
    yield "Pairs of one source, model, GPU, framework, precision and sequence length whose"
    yield "step times differ by more than 2 %, and how many are predicted in their order.\n"
    head = ("kind", "that differ in", "series", "pairs", "right order")
    yield from _table(
        head,
        [
            (t.kind, t.name, str(t.series), str(t.pairs), _percent(t.right_order_ratio))
            for t in result.trends
        ],
    )


def _reasons(result: Scoreboard, reasons: dict[str, list[dict[str, str]]]) -> Iterator[str]:
    for group in result.groups:
        if not group.rows:
            continue
        own = [one for one in result.worst if one.score.kind == group.kind][:WORST]
        if not own and group.kind not in reasons:
            continue
        yield f"### {group.kind}\n"
        for one in reasons.get(group.kind, []):
            text = " ".join(one["reason"].split())
            yield textwrap.fill(f"* **{one['where']}**: {text}", 96, subsequent_indent="  ")
        yield "\nFurthest off:\n"
        for far in own:
            error = _percent(far.score.error_ratio, sign=True)
            yield f"* `{far.score.row}`: {error} ({far.source or 'no source'})"
        yield ""


def _parts(result: Scoreboard, kind: str, label: str) -> Iterator[str]:
    parts = [
        part for part in result.breakdown if part.kind == kind and set(part.labels) == {label}
    ]
    apart = {"one_host"} if label == "scale" else set()
    rows = [
        (part.labels[label] or "-", str(part.rows), str(part.sites), *_errors(part))
        for part in parts
        if part.labels[label] not in apart
    ]
    if rows:
        yield f"\n## {kind} by {label}\n"
        head = (label, "rows", "sites", "median", "90th", "bias", "in band")
        yield from _table(head, rows)


def _apart(result: Scoreboard) -> Iterator[str]:
    rows = []
    for part in result.breakdown:
        health = part.labels.get("health")
        alone = part.labels.get("scale") == "one_host"
        if health or alone:
            said = health or "one host, healthy"
            rows.append((part.kind, said, str(part.rows), *_errors(part)))
    yield from _table(("kind", "what", "rows", "median", "90th", "bias", "in band"), rows)


def _left_out(result: Scoreboard) -> Iterator[str]:
    kinds = dict.fromkeys(one.kind for one in result.left_out)
    rows = []
    for kind in kinds:
        own = [one for one in result.left_out if one.kind == kind]
        rows += [
            (kind, str(one.rows), one.reason.replace("|", "/"), f"`{one.examples[0]}`")
            for one in own[:COMMON]
        ]
        rest = sum(one.rows for one in own[COMMON:])
        if rest:
            rows.append((kind, str(rest), f"{len(own) - COMMON} other reasons", ""))
    yield from _table(("kind", "rows", "reason", "such as"), rows)


def _write_accuracy() -> None:
    reasons = tomllib.loads((HERE / "accuracy_reasons.toml").read_text("utf-8"))
    lines = accuracy(score(), reasons)
    page = HERE / "explanation" / "how-accurate.md"
    page.write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    print(page)


DIAGNOSIS = """\
# What the doctor checks

This page is made from the tables of `weft diagnose` (`python docs/generate.py diagnosis`);
[how to extend them](../how-to/extend-the-doctor.md).
Each attribute is compared with the first expectation that is known, from left to right.
"""


def diagnosis() -> Iterator[str]:
    """Yield the deviation matrix: attribute, outputs that show it, expectations, causes."""
    yield DIAGNOSIS
    yield "## Deviations\n"
    shown = _shown_by()
    deviations = [
        (
            f"`{row.attribute}`",
            ", ".join(sorted(shown.get(row.attribute, {"derived"}))),
            f"{row.compare.replace('_', ' ')}: {', '.join(row.sources)}",
            ", ".join(sorted(_causes_of(row.attribute))) or "-",
        )
        for row in expectations()
    ]
    yield from _table(("attribute", "shown by", "expectation", "causes"), deviations)
    yield "## Attributes that are read and not compared\n"
    yield "A cause, a condition or another attribute uses them.\n"
    compared = {row.attribute for row in expectations()}
    plain = [(f"`{path}`", ", ".join(sorted(by))) for path, by in sorted(shown.items())
             if path not in compared]  # fmt: skip
    yield from _table(("attribute", "shown by"), plain)
    yield "## Causes\n"
    listed = [
        (
            f"`{one.name}`",
            one.severity,
            ", ".join(f"`{clue.name}`" for clue in one.clues),
            one.fix,
        )
        for one in sorted(causes(), key=lambda one: one.name)
    ]
    yield from _table(("cause", "severity", "clues", "fix"), listed)
    yield "## Messages\n"
    codes = sorted({(row.tool, row.code, row.source) for row in engine().messages if row.code})
    yield from _table(
        ("tables", "code", "printed by"), [(tool, f"`{code}`", by) for tool, code, by in codes]
    )


def _shown_by() -> dict[str, set[str]]:
    """Return the tables that state each attribute."""
    found: dict[str, set[str]] = {}
    formats = engine().formats
    rows = [
        *engine().messages,
        *(r for of in formats if isinstance(of, Format) for r in of.rows),
    ]
    for row in rows:
        for path in row.sets:
            found.setdefault(path, set()).add(row.tool)
    for of in formats:
        if isinstance(of, Columns):
            for path in of.cells.values():
                found.setdefault(path.partition(" ")[0], set()).add(of.name)
    for one in object_rows():
        for path in one.sets:
            found.setdefault(path.partition(" ")[0], set()).add(f"{one.name} (object)")
    return found


def _causes_of(attribute: str) -> set[str]:
    return {
        f"`{one.name}`"
        for one in causes()
        for clue in one.clues
        if clue.deviation == attribute and clue.weight > 1
    }


def _write_diagnosis() -> None:
    page = HERE / "reference" / "diagnosis.md"
    page.write_text("\n".join(diagnosis()).rstrip() + "\n", "utf-8")


def _sections(words: str) -> Iterator[str]:
    """Join the lines of each section, its heading in bold."""
    parts = re.split(
        r"^(?=(?:What it|Why it|What to|References)[^:\n]*:)", words, flags=re.MULTILINE
    )
    for part in parts:
        head, colon, body = " ".join(part.split()).partition(":")
        if colon:
            yield f"**{head}**:{body}"


LINT = """\
# Rules of lint

This page is made from the rules themselves (`python docs/generate.py lint`).
`weft lint` evaluates all of them; [how to use it](../how-to/lint-a-configuration.md).
A severity may be lower where the evidence is weaker; a rule that needs several sides says
nothing, and is listed as not checked, while one of them is missing.

Of 128 faults of distinct classes, planted one at a time into what weft renders for every
target, at least 95 % are found (`tests/unit/lint/test_mutations.py`, table `mutations.yaml`;
rules were added where some were missed, so that is no forecast for other faults). What weft
renders, whole or a part of its switches, raises no warning; healthy configurations of others
raise no error.
"""


def lint() -> Iterator[str]:
    """Yield the lines of the page on lint: formats, then the rules layer by layer."""
    yield LINT
    yield "## Formats\n"
    yield from (f"* `{name}`: {reader.title}" for name, reader in all_readers().items())
    for layer in Layer:
        yield f"\n## {layer.value[0].upper()}{layer.value[1:]}\n"
        for name, rule in all_lint_rules():
            if rule.layer is layer:
                summary, rest = description(name)
                yield f"### {name}\n"
                yield f"{summary}\n"
                needs = " and ".join(side.value for side in rule.needs)
                yield f"Severity: {rule.severity.value}." + (
                    f" Needs {needs}.\n" if needs else "\n"
                )
                yield from (f"* {section}" for section in _sections(rest))
                yield f"* **See**: <{rule.reference}>\n"


def _write_lint() -> None:
    (HERE / "reference" / "lint.md").write_text("\n".join(lint()).rstrip() + "\n", "utf-8")


PROVEN = """\
# What each target was proven to do

This page is made by `python docs/generate.py proven` from the tests that carry the mark
`proves`: what the rendered files achieve, which program says so, in which release, and the test
that asks it.

* SONiC and Cumulus Linux route by FRR. Its configuration is made of what weft rendered by a
  translation in `tests/tools/switch_frr.py`, not by the systems themselves, which are not to be
  had outside of a switch; FRR then runs with its own defaults.
* What a switch does with PFC, ECN and its buffers is proven nowhere: there is no switch here.
"""


def proven() -> Iterator[str]:
    """Yield the page on what each target was proven to do."""
    found = sorted(proofs())
    tools = tomllib.loads((HERE / "proven_tools.toml").read_text("utf-8"))
    yield PROVEN
    for target in target_names():
        own = [row for row in found if row[0] == target]
        if own:
            yield f"## {target}\n"
        for _, effect, tool, test in own:
            by = f"{tools[tool]['title']} {tools[tool]['release']}"
            yield f"* {effect[0].upper()}{effect[1:]}. By {by}: `{test}`."
        if own:
            yield ""
    known = {target for target, *_ in found}
    yield "## No effect that a program of others confirms\n"
    yield ", ".join(f"`{one}`" for one in target_names() if one not in known) + "."
    yield "They are compared with reviewed files; try them on one device first."


def proofs() -> Iterator[tuple[str, str, str, str]]:
    """Yield target, effect, tool and test of every mark ``proves``."""
    folder = HERE.parent / "tests"
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text("utf-8")
        if "mark.proves(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for mark in getattr(node, "decorator_list", ()):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("proves"):
                    said = {one.arg: ast.literal_eval(one.value) for one in mark.keywords}
                    test = f"{file.relative_to(folder)}::{node.name}"
                    for target in map(ast.literal_eval, mark.args):
                        yield target, said["effect"], said["tool"], test


def _write_proven() -> None:
    (HERE / "reference" / "proven.md").write_text("\n".join(proven()) + "\n", "utf-8")


FLOWS = """\
# Flows beside packets

This page is made by `python docs/generate.py flows` from `docs/flows_and_packets.toml`, whose
scenarios are run by both engines: 32 hosts with a NIC of 400 Gb/s each on leaves of 8 (full
bisection) unless a row says otherwise, three seeds. A test holds every row within its range.

Both engines compile a scenario to the same sends with the same dependencies, and with ECMP a
flow takes the path that its packets take. *Apart* is the completion of flows over that of
packets, less 1, from the least to the most of all traffics and seeds.
"""
ALONE = "## They agree\n\nNo effect that packets alone have matters here: 5 % at most.\n"
PARTED = "\n## An effect parts them\n\nUse `--fidelity packet` where one of these matters.\n"
SPEED_OF_FLOWS = """
Flows take 0.03 to 0.6 s for the three seeds of a row here, mostly to lay out its sends, and
packets 0.2 to 3 s; the difference grows with the bytes sent, which flows do not count.
"""


def flow_rows() -> dict[str, dict[str, Any]]:
    """Return by name the scenarios that packets and flows both run."""
    table = tomllib.loads((HERE / "flows_and_packets.toml").read_text("utf-8"))
    return {row["name"]: _laid_over(table["common"], row) for row in table["row"]}


def _laid_over(under: Any, over: Any, key: str = "") -> Any:  # noqa: ANN401 - a document
    whole = key in {"topology", "host"} or not isinstance(under, dict)
    if whole or not isinstance(over, dict):
        return over
    return under | {key: _laid_over(under.get(key), over[key], key) for key in over}


def apart(row: dict[str, Any]) -> tuple[Simulation, tuple[float, ...]]:
    """Run a row both ways; return what packets gave, and how far flows are from it."""
    names = row.keys() - {"within", "effect"}
    scenario = load_scenario({name: row[name] for name in names})
    packets, flows = (simulate(scenario, fidelity=one) for one in ("packet", "flow"))
    pairs = [
        pair
        for ours, theirs in zip(flows.traffic, packets.traffic, strict=True)
        for pair in zip(ours.completions_s, theirs.completions_s, strict=True)
    ]
    return packets, tuple(round(ours / theirs - 1, 4) + 0.0 for ours, theirs in pairs)


def flow_cells(
    row: dict[str, Any], packets: Simulation, found: Sequence[float]
) -> tuple[str, ...]:
    """Return the row of the page for one scenario."""
    took = ", ".join(
        show_time(one.completion_s.value) for one in packets.traffic if one.completion_s
    )
    ends = f"{_percent(min(found), sign=True)} to {_percent(max(found), sign=True)}"
    more = (row["effect"],) if "effect" in row else ()
    return row["name"], took, ends, *more


def _flow_row(row: dict[str, Any]) -> tuple[str, ...]:
    return flow_cells(row, *apart(row))


def flows() -> Iterator[str]:
    """Yield the lines of the page on flows beside packets."""
    head = ("scenario", "packets take", "apart")
    rows = flow_rows().values()
    yield FLOWS
    yield ALONE
    yield from _table(head, [_flow_row(row) for row in rows if "effect" not in row])
    yield PARTED
    yield from _table((*head, "effect"), [_flow_row(row) for row in rows if "effect" in row])
    yield SPEED_OF_FLOWS.rstrip()


def _write_flows() -> None:
    page = HERE / "explanation" / "flows-and-packets.md"
    page.write_text("\n".join(flows()) + "\n", "utf-8")


PAGES: dict[str, Callable[[], None]] = {
    "accuracy": _write_accuracy,
    "diagnosis": _write_diagnosis,
    "flows": _write_flows,
    "lint": _write_lint,
    "proven": _write_proven,
}


def main(words: Sequence[str]) -> int:
    """Write the pages that are named, or all of them."""
    unknown = [word for word in words if word not in PAGES]
    if unknown:
        print(f"no page is called {unknown[0]!r}; there are: {', '.join(PAGES)}")
        return 2
    for word in words or PAGES:
        PAGES[word]()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

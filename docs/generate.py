"""Write the pages that are made from results.

python docs/generate.py accuracy
"""

import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from weft.accuracy import score
from weft.accuracy.scoreboard import Group, Scoreboard, Target
from weft.doctor.diagnose import all_rules
from weft.lint.lint import all_rules as all_lint_rules
from weft.lint.lint import description
from weft.lint.reader import all_readers
from weft.lint.rule import Layer
from weft.report.views.scoreboard import missed_aims

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
predicted from what its source says of the system, and compared.

* The error is `predicted / measured - 1`: of bus bandwidth from 64 MiB up, of time below, of
  the step time in training, of the count in topologies.
* A row of a site that a fit has seen is predicted by a **fit without that site**; the second
  table has the constants as they ship.
* Broken systems, complaints and systems of unknown health are apart, and so are collectives
  inside one host and rows that a constant was read from: they do not count in the first table.
* Points of one sweep are not independent: *by site* is the median over systems of the median
  error of each.
* Bands are meant to hold 80 % of measurements; 75 to 85 % is the aim.

Do the same with your own measurements: `weft accuracy --data DIR`, with files of the same
names and columns as in `src/weft/accuracy/data`.
"""


def accuracy(result: Scoreboard, reasons: dict[str, list[dict[str, str]]]) -> Iterator[str]:
    """Yield the lines of the page on accuracy."""
    yield INTRODUCTION
    yield "## By kind, sites left out of the fit\n"
    yield from _groups(result.groups)
    yield "\n## The same with the constants as they ship\n"
    yield from _groups(result.as_shipped)
    yield "\n## Aims\n"
    yield from _aims(result)
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
    for group in result.groups:
        target = result.targets.get(group.kind)
        if target is None or not group.rows:
            continue
        missed = missed_aims(group, target)
        verdict = "reached" if not missed else f"**missed: {', '.join(missed)}**"
        yield f"* `{group.kind}`: {_aim(target)}. {verdict}: {_found(group, target)}."


def _aim(target: Target) -> str:
    parts = []
    if target.median_abs_error_ratio is not None:
        parts.append(f"median error up to {_percent(target.median_abs_error_ratio)}")
    if target.p90_abs_error_ratio is not None:
        parts.append(f"90th percentile up to {_percent(target.p90_abs_error_ratio)}")
    if target.median_factor is not None:
        parts.append(f"time within a factor {target.median_factor} at the median")
    low, high = _percent(target.inside_band_low_ratio), _percent(target.inside_band_high_ratio)
    return f"{', '.join(parts)}, {low} to {high} of rows inside the band"


def _found(group: Group, target: Target) -> str:
    parts = []
    if target.median_abs_error_ratio is not None:
        parts.append(f"median {_percent(group.median_abs_error_ratio)}")
        parts.append(f"90th percentile {_percent(group.p90_abs_error_ratio)}")
    if target.median_factor is not None:
        parts.append(f"factor {group.median_factor:.2f}")
    return f"{', '.join(parts)}, {_percent(group.inside_band_ratio)} inside"


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


RULES = """\
# Rules of the doctor

This page is made from the rules themselves (`python docs/generate.py rules`).
`weft diagnose` asks all of them; [how to add one](../how-to/add-a-rule.md).
"""


def rules() -> Iterator[str]:
    """Yield the lines of the page on rules: the docstring of each is its text."""
    yield RULES
    for name, rule in all_rules():
        words = import_module(f"weft.doctor.rules.{name}").__doc__ or ""
        summary, _, rest = words.partition("\n\n")
        yield f"## {name}\n"
        yield f"{summary}\n"
        yield "Causes: " + ", ".join(f"`{cause}`" for cause in rule.causes) + ".\n"
        for section in _sections(rest):
            yield f"* {section}"
        yield ""


def _sections(words: str) -> Iterator[str]:
    """Join the lines of each section, its heading in bold."""
    parts = re.split(
        r"^(?=(?:What it|Why it|What to|References)[^:\n]*:)", words, flags=re.MULTILINE
    )
    for part in parts:
        head, colon, body = " ".join(part.split()).partition(":")
        if colon:
            yield f"**{head}**:{body}"


def _write_rules() -> None:
    (HERE / "reference" / "rules.md").write_text("\n".join(rules()).rstrip() + "\n", "utf-8")


LINT = """\
# Rules of lint

This page is made from the rules themselves (`python docs/generate.py lint`).
`weft lint` asks all of them; [how to use it](../how-to/lint-a-configuration.md).
A severity may be lower where the evidence is weaker; a rule that needs several sides says
nothing, and is listed as not checked, while one of them is missing.
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


PAGES: dict[str, Callable[[], None]] = {
    "accuracy": _write_accuracy,
    "rules": _write_rules,
    "lint": _write_lint,
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

"""From files to what is wrong in them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Final

from weft.errors import UnknownName, Unreadable, WeftError
from weft.lint.facts import Fact, Side
from weft.lint.files import Unread, collect
from weft.lint.reader import File, all_readers
from weft.lint.rule import Case, Layer, Problem, Rule, Severity
from weft.lint.table import table_rules
from weft.lint.text import Evidence, Text
from weft.predict.provenance import provenance
from weft.readers.configurations import is_claimed
from weft.readers.rendered import MANIFEST
from weft.results import Provenance

_ORDER: Final = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong in a configuration: which rule says so, where, and what to do."""

    rule: str
    severity: Severity
    layer: Layer
    message: str
    fix: str
    reference: str
    evidence: tuple[Evidence, ...]

    @property
    def at(self) -> Evidence:
        """The line that the finding is about."""
        return self.evidence[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A file that some reader understood."""

    name: str
    readers: tuple[str, ...]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchecked:
    """A rule that compares several sides, of which some were not read."""

    rule: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """What is wrong in some files, what was read, and what could not be checked."""

    findings: tuple[Finding, ...]
    files: tuple[Read, ...]
    unread: tuple[Unread, ...]
    unchecked: tuple[Unchecked, ...]
    rules: int
    facts: int
    fabric: str
    absent: tuple[str, ...] = ()
    """Switches that sessions of the others lead to, and that no file is of."""
    provenance: Provenance
    """``spec_sha256`` is that of the files as they were read."""

    @property
    def clean(self) -> bool:
        """Whether nothing is worse than a remark."""
        return all(finding.severity is Severity.INFO for finding in self.findings)

    @property
    def partial(self) -> bool:
        """Whether a reader or a rule failed, so that something was not checked."""
        return any(unread.failed for unread in self.unread)


def causes(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings that one change of the configuration fixes, the gravest group first.

    Those of one rule whose fixes differ in numbers alone have one cause.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        fix = "".join("#" if letter.isdigit() else letter for letter in finding.fix)
        groups.setdefault((finding.rule, fix), []).append(finding)
    return sorted(groups.values(), key=lambda found: _ORDER[found[0].severity])


@cache
def all_rules() -> tuple[tuple[str, Rule], ...]:
    """Return every rule by name, sorted."""
    return tuple(sorted(table_rules(), key=lambda rule: rule[0]))


class ReaderError(Exception):
    """A reader met values that it cannot understand: a defect of weft, not of the file."""


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"


def facts_of(text: Text, *, printed: bool = True) -> tuple[list[str], list[Fact]]:
    """Return the readers that understood a file, and what they found.

    Without ``printed`` a file that programs print is none.
    """
    file = File(text)
    names: list[str] = []
    facts: list[Fact] = []
    for name, reader in all_readers().items():
        if not (is_claimed(name, file, printed=printed) and reader.claims(file)):
            continue
        names.append(name)
        try:
            facts.extend(reader.read(file))
        except WeftError:
            raise
        except Exception as error:
            raise ReaderError(f"{reader.title} failed: {_described(error)}") from error
    if file.flaw is not None:
        names = names or ["document"]
        facts.append(file.flaw)
    facts.extend(file.placeholders())
    return names, facts


def read(texts: Iterable[Text | Unread]) -> tuple[list[Fact], list[Read], list[Unread]]:
    """Read every file with every reader that claims it."""
    facts: list[Fact] = []
    files: list[Read] = []
    unread: list[Unread] = []
    for text in texts:
        if isinstance(text, Unread):
            unread.append(text)
            continue
        if text.name.rpartition("/")[2] == MANIFEST:  # checksums of what weft rendered
            continue
        try:
            names, found = facts_of(text)
        except ReaderError as failure:
            unread.append(Unread(name=text.name, reason=str(failure), failed=True))
            continue
        facts.extend(found)
        if names:
            files.append(Read(name=text.name, readers=tuple(names), facts=len(found)))
        else:
            unread.append(Unread(name=text.name, reason="no reader knows this format"))
    return facts, files, unread


def description(name: str) -> tuple[str, str]:
    """Return the first line of a rule's documentation, and the rest."""
    summary, _, rest = dict(all_rules())[name].about.partition("\n\n")
    return summary.strip(), rest.strip()


def problems(
    case: Case, ignore: frozenset[str] = frozenset()
) -> tuple[list[tuple[str, Rule, Problem]], list[Unread]]:
    """Evaluate every rule that applies; return what is wrong and the rules that failed."""
    found: list[tuple[str, Rule, Problem]] = []
    failed: list[Unread] = []
    for name, rule in all_rules():
        if name in ignore or not _is_asked(rule, case):
            continue
        try:
            found += [(name, rule, problem) for problem in list(rule.check(case))]
        except Exception as error:  # noqa: BLE001 - as of a reader
            reason = f"the rule failed: {_described(error)}"
            failed.append(Unread(name=f"rule {name}", reason=reason, failed=True))
    return found, failed


def find(
    case: Case, ignore: frozenset[str] = frozenset()
) -> tuple[list[Finding], list[Unread]]:
    """Return the findings, the gravest first, then by place; and the rules that failed."""
    wrong, failed = problems(case, ignore)
    found = [finding(name, rule, problem) for name, rule, problem in wrong]
    found.sort(
        key=lambda finding: (
            _ORDER[finding.severity],
            finding.at.file,
            finding.at.line,
            finding.rule,
        )
    )
    return list(dict.fromkeys(found)), failed


def finding(name: str, rule: Rule, one: Problem) -> Finding:
    """Return what a rule found as a finding."""
    return Finding(
        rule=name,
        severity=one.severity or rule.severity,
        layer=rule.layer,
        message=one.message,
        fix=one.fix,
        reference=rule.reference,
        evidence=one.evidence(),
    )


def _is_asked(rule: Rule, case: Case) -> bool:
    return case.sides >= set(rule.needs) and case.fabric not in rule.not_on


def _unchecked(case: Case) -> tuple[Unchecked, ...]:
    """Return the rules that some sides were missing for; none of which nothing was read."""
    return tuple(
        Unchecked(rule=name, missing=_missing(rule, case.sides))
        for name, rule in all_rules()
        if set(rule.needs) & case.sides
        and not set(rule.needs) <= case.sides
        and case.fabric not in rule.not_on
    )


def _missing(rule: Rule, sides: frozenset[Side]) -> tuple[str, ...]:
    return tuple(side.value for side in rule.needs if side not in sides)


def lint(
    paths: Sequence[Path],
    nccl: tuple[int, ...] | None = None,
    ignore: frozenset[str] = frozenset(),
) -> Linted:
    """Check the files under some paths against one another.

    ``nccl`` is the version in use; rules in ``ignore`` are not asked.
    """
    return lint_texts(collect(paths), nccl, ignore)


def lint_texts(
    texts: Iterable[Text | Unread],
    nccl: tuple[int, ...] | None = None,
    ignore: frozenset[str] = frozenset(),
) -> Linted:
    """Check texts, from files or rendered just now."""
    names = dict(all_rules())
    unknown = sorted(ignore - names.keys())
    if unknown:
        near = get_close_matches(unknown[0], names, n=1)
        raise UnknownName(
            f"no rule is called {unknown[0]!r}"
            + (f"; is {near[0]} meant?" if near else "; docs/reference/lint.md lists them")
        )
    digest = hashlib.sha256()
    facts, files, unread = read(_digested(texts, digest))
    if not files and not unread:
        raise Unreadable("there is no file in the folders given; name files or other folders")
    case = Case(facts, nccl)
    findings, failed = find(case, ignore)
    return Linted(
        findings=tuple(findings),
        files=tuple(files),
        unread=(*unread, *failed),
        unchecked=_unchecked(case),
        rules=sum(_is_asked(rule, case) for name, rule in names.items() if name not in ignore),
        facts=len(facts),
        fabric=case.fabric,
        absent=tuple(sorted(case.absent)),
        provenance=replace(
            provenance(sources=(), assumptions=_assumed(case)), spec_sha256=digest.hexdigest()
        ),
    )


def _digested(
    texts: Iterable[Text | Unread], digest: "hashlib._Hash"
) -> Iterator[Text | Unread]:
    for text in texts:
        if isinstance(text, Text):
            digest.update(f"{text.name}\0{text.content}\0".encode())
        yield text


def _assumed(case: Case) -> tuple[str, ...]:
    if case.nccl is None:
        return ("NCCL is assumed to be recent, 2.21 or newer: nothing says its version",)
    return (f"NCCL is {'.'.join(map(str, case.nccl))}",)

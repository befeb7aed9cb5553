"""How often the doctor names the right cause, over a folder of cases whose cause is known."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weft.accuracy.posterior import Scale, scale
from weft.doctor.diagnose import diagnose
from weft.doctor.findings import HIGH_RATIO, MEDIUM_RATIO, NAMED_RATIO
from weft.errors import Unreadable
from weft.inventory.severity import Severity

_SPELLING: Final = {
    "port-down": "ib-port-down",
    "gdr-nccl-too-old": "gdr-nccl-too-old-for-peermem",
    "k8s-ipam-duplicate": "k8s-ipam-duplicate-address",
}
"""Classes that cases and rules spell in two ways: the rule's name, and the cases'."""
_QUIET: Final = ("healthy", "benign")
_TOP: Final = 3
_LEVELS: Final = (
    ("low", 0.0, MEDIUM_RATIO),
    ("medium", MEDIUM_RATIO, HIGH_RATIO),
    ("high", HIGH_RATIO, 1.01),
)
"""Confidences as reports state them, each with the probabilities it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One cause as the doctor ranked it."""

    cause: str
    severity: Severity
    confidence_ratio: float
    evidence: tuple[str, ...]
    """Lines as ``file:line``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCase:
    """One case: what it is and what the doctor said."""

    id: str
    expected: str
    healthy: bool
    decided: bool
    """Whether the evidence decides, by the word of the case: it asks for nothing more."""
    certainty: str
    ranked: tuple[str, ...]
    severity: str
    """Of the first finding; empty where nothing was found."""
    evidence: tuple[str, ...]
    """Lines of the first finding."""
    found: tuple[Found, ...]
    verdict: str
    read_ratio: float
    first: bool
    top3: bool
    false_alarm: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often a class was taken for another (``-`` is nothing found)."""

    expected: str
    found: str
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Of the findings stated with such a confidence, how many named the right cause."""

    level: str
    """high, medium or low, as a report states it."""
    stated_ratio: float
    """Mean of the stated probabilities."""
    from_ratio: float
    to_ratio: float
    findings: int
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorScore:
    """The score of the doctor over a folder of cases."""

    folder: str
    faulty: int
    decided: int
    quiet: int
    first_ratio: float
    """Right cause first, over faulty cases where the evidence decides."""
    top3_ratio: float
    first_ratio_all: float
    """The same over all faulty cases."""
    top3_ratio_all: float
    false_alarms: int
    """Healthy and benign cases with a finding of severity error."""
    cases: tuple[DoctorCase, ...]
    confusion: tuple[Confusion, ...]
    scale: Scale | None = None
    reliability: tuple[Reliability, ...] = ()
    """Errors and warnings by stated confidence; all but the case's own cause count as wrong."""


def canonical(cause: str) -> str:
    """Return the name that folders of cases give a class.

    >>> canonical("port-down")
    'ib-port-down'
    """
    return _SPELLING.get(cause, cause)


def score(folder: Path) -> DoctorScore:
    """Diagnose every case of a folder and compare with what is known of it."""
    files = sorted(folder.glob("*/case.json"))
    if not files:
        raise Unreadable(f"{folder}: holds no case (a folder with case.json and its outputs)")
    cases = tuple(map(_case, files))
    faulty = [case for case in cases if not case.healthy]
    decided = [case for case in faulty if case.decided]
    pairs = Counter((case.expected, next(iter(case.ranked), "-")) for case in faulty)
    stated = list(map(_stated, cases))
    return DoctorScore(
        folder=str(folder), faulty=len(faulty), decided=len(decided),
        quiet=len(cases) - len(faulty),
        first_ratio=_share([case.first for case in decided]),
        top3_ratio=_share([case.top3 for case in decided]),
        first_ratio_all=_share([case.first for case in faulty]),
        top3_ratio_all=_share([case.top3 for case in faulty]),
        false_alarms=sum(case.false_alarm for case in cases),
        cases=cases,
        confusion=tuple(
            Confusion(expected=expected, found=found, cases=count)
            for (expected, found), count in sorted(pairs.items())
        ),
        reliability=tuple(_reliability([finding for own in stated for finding in own])),
        scale=scale(stated),
    )  # fmt: skip


def _stated(case: DoctorCase) -> list[tuple[float, bool]]:
    """Return the probabilities that were stated, and whether each was right."""
    return [
        (found.confidence_ratio, found.cause == case.expected)
        for found in case.found
        if found.severity is not Severity.INFO
    ]


def _reliability(stated: Sequence[tuple[float, bool]]) -> Iterator[Reliability]:
    for level, low, high in _LEVELS:
        group = [(ratio, is_right) for ratio, is_right in stated if low <= ratio < high]
        if group:
            yield Reliability(
                level=level, stated_ratio=sum(ratio for ratio, _ in group) / len(group),
                from_ratio=low, to_ratio=min(high, 1.0), findings=len(group),
                right=sum(is_right for _, is_right in group),
            )  # fmt: skip


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _case(path: Path) -> DoctorCase:
    known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    result = diagnose([path.parent / name for name in known.get("files", ())])
    expected = canonical(known.get("cause_class", ""))
    healthy = bool(known.get("healthy")) or expected.startswith(_QUIET)
    found = tuple(
        Found(
            cause=canonical(finding.cause), severity=finding.severity,
            confidence_ratio=finding.probability_ratio,
            evidence=tuple(line.place for line in finding.evidence),
        )
        for finding in result.findings
    )  # fmt: skip
    ranked = tuple(dict.fromkeys(map(canonical, result.causes)))
    alarms = (own.severity is Severity.ERROR and own.confidence_ratio >= NAMED_RATIO
              for own in found)  # fmt: skip
    lines = sum(file.lines for file in result.files)
    matched = sum(file.matched for file in result.files)
    return DoctorCase(
        id=known.get("id", path.parent.name), expected=expected, healthy=healthy,
        decided="ask for" not in known.get("expect", "").lower(),
        certainty=known.get("certainty", ""), ranked=ranked,
        severity=found[0].severity if found else "",
        evidence=found[0].evidence if found else (),
        found=found, verdict=result.verdict,
        read_ratio=min(1.0, matched / lines) if lines else 0.0,
        first=ranked[:1] == (expected,), top3=expected in ranked[:_TOP],
        false_alarm=healthy and any(alarms),
    )  # fmt: skip

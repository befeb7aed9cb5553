"""How often the doctor names the right cause, over a folder of cases whose cause is known."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weft.accuracy.posterior import Scale, scale
from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.findings import HIGH_RATIO, MEDIUM_RATIO, NAMED_RATIO, Finding
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
    cases = tuple(_case(path) for path in _cases(folder))
    faulty = [one for one in cases if not one.healthy]
    decided = [one for one in faulty if one.decided]
    quiet = [one for one in cases if one.healthy]
    pairs = Counter(
        (one.expected, one.ranked[0] if one.ranked else "-") for one in faulty
    )  # fmt: skip
    return DoctorScore(
        folder=str(folder),
        faulty=len(faulty),
        decided=len(decided),
        quiet=len(quiet),
        first_ratio=_share([one.first for one in decided]),
        top3_ratio=_share([one.top3 for one in decided]),
        first_ratio_all=_share([one.first for one in faulty]),
        top3_ratio_all=_share([one.top3 for one in faulty]),
        false_alarms=sum(one.false_alarm for one in quiet),
        cases=cases,
        confusion=tuple(
            Confusion(expected=expected, found=found, cases=count)
            for (expected, found), count in sorted(pairs.items())
        ),
        reliability=tuple(_reliability(cases)),
        scale=scale(_stated(cases)),
    )


def _stated(cases: Sequence[DoctorCase]) -> list[list[tuple[float, bool]]]:
    """Return of each case the probabilities that were stated, and whether each was right."""
    return [
        [
            (one.confidence_ratio, one.cause == case.expected)
            for one in case.found
            if one.severity is not Severity.INFO
        ]
        for case in cases
    ]


def _reliability(cases: Sequence[DoctorCase]) -> Iterator[Reliability]:
    stated = [one for case in _stated(cases) for one in case]
    for level, low, high in _LEVELS:
        group = [(ratio, ok) for ratio, ok in stated if low <= ratio < high]
        if group:
            yield Reliability(
                level=level,
                stated_ratio=sum(ratio for ratio, _ in group) / len(group),
                from_ratio=low,
                to_ratio=min(high, 1.0),
                findings=len(group),
                right=sum(ok for _, ok in group),
            )


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _cases(folder: Path) -> Iterator[Path]:
    found = sorted(folder.glob("*/case.json"))
    if not found:
        raise Unreadable(f"{folder}: holds no case (a folder with case.json and its outputs)")
    yield from found


def _case(path: Path) -> DoctorCase:
    stated: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    said = diagnose([path.parent / name for name in stated.get("files", ())])
    expected = canonical(stated.get("cause_class", ""))
    healthy = bool(stated.get("healthy")) or expected.startswith(_QUIET)
    found = tuple(_found(one) for one in said.findings)
    ranked = tuple(dict.fromkeys(canonical(one) for one in said.causes))
    return DoctorCase(
        id=stated.get("id", path.parent.name),
        expected=expected,
        healthy=healthy,
        decided="ask for" not in stated.get("expect", "").lower(),
        certainty=stated.get("certainty", ""),
        ranked=ranked,
        severity=found[0].severity if found else "",
        evidence=found[0].evidence if found else (),
        found=found,
        verdict=said.verdict,
        read_ratio=_read_ratio(said),
        first=bool(ranked) and ranked[0] == expected,
        top3=expected in ranked[:_TOP],
        false_alarm=healthy
        and any(
            one.severity is Severity.ERROR and one.probability_ratio >= NAMED_RATIO
            for one in said.findings
        ),
    )


def _read_ratio(said: Diagnosis) -> float:
    lines = sum(one.lines for one in said.files)
    return min(1.0, sum(one.matched for one in said.files) / lines) if lines else 0.0


def _found(one: Finding) -> Found:
    return Found(
        cause=canonical(one.cause),
        severity=one.severity,
        confidence_ratio=one.probability_ratio,
        evidence=tuple(line.place for line in one.evidence),
    )

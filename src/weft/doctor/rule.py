"""What a rule is, what it is given and what it finds."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar, cast

from weft.doctor.causes import known
from weft.observe.facts.base import Evidence, Fact

F = TypeVar("F")
MOST_EVIDENCE = 8
"""A finding shows so many lines; the rest say the same."""
LIKELY_RATIO = 0.5
"""From this confidence on a cause is named; below it is a suspect."""


class Severity(StrEnum):
    """How much it matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Symptom(StrEnum):
    """What several causes have in common; a finding that names the cause explains it."""

    TRANSPORT_RETRY = "transport retry exceeded"
    FLUSHED = "work flushed"
    LOCAL_PROTECTION = "local protection error"
    LENGTH_ERROR = "local length error"
    REMOTE_ERROR = "remote access error"
    VERBS_CALL = "verbs call failed"
    REGISTRATION = "memory registration failed"
    SOCKETS = "sockets in place of RDMA"
    GPUDIRECT_OFF = "GPUDirect RDMA off"
    CONNECT = "connection failed"
    WATCHDOG = "collective timed out"
    NOT_INITIALISED = "GPU not initialised"
    FEWER_LINKS = "links missing"
    SLOW = "bandwidth below what the machine should give"
    WORDS = "words as in cases that are known"


class Fault(StrEnum):
    """A fault that the model can put into a cluster, so that it has a price."""

    RAIL_LOST = "one rail lost"
    SOCKETS = "TCP in place of RDMA"
    GPUDIRECT_OFF = "GPUDirect RDMA off"
    LINK_NARROW = "every link at a share of its rate"
    PCIE_NARROW = "the NIC's PCIe link at a share of its rate"
    MISTUNED = "lossless fabric misconfigured"


class Facts:
    """All facts of an observation, by kind."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        """Sort the facts by their kind, in the order they were read."""
        self._by_kind: dict[type, list[Fact]] = {}
        for fact in facts:
            self._by_kind.setdefault(type(fact), []).append(fact)

    def of(self, kind: type[F]) -> list[F]:
        """Return the facts of a kind, in the order they were read."""
        return cast("list[F]", self._by_kind.get(kind, []))

    def any_of(self, *kinds: type) -> bool:
        """Return whether there is a fact of one of the kinds."""
        return any(kind in self._by_kind for kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A cause that the evidence allows; ``question`` is what would settle it.

    ``alike_ratio`` is how probable the cases that read alike make the cause.
    """

    cause: str
    confidence_ratio: float
    question: str
    next_command: str = ""
    alike_ratio: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong, why we think so, how sure that is, and what to do.

    ``cause`` is a class that a rule names in its ``causes``; ``explains`` names the causes and
    symptoms that follow from it. A finding below ``LIKELY_RATIO`` is a list of ``suspects``.
    ``fault`` and ``left_ratio`` say which fault of the model prices it and how much is left.
    ``alike_ratio`` is how probable the cases that read alike make the cause.
    """

    cause: str
    severity: Severity
    confidence_ratio: float
    message: str
    advice: str
    evidence: tuple[Evidence, ...]
    rule: str = ""
    subject: str = ""
    next_command: str = ""
    missing: tuple[str, ...] = ()
    symptom: Symptom | None = None
    explains: frozenset[str] = frozenset()
    suspects: tuple[Suspect, ...] = ()
    fault: Fault | None = None
    left_ratio: float = 1.0
    alike_ratio: float = 0.0

    @property
    def decided(self) -> bool:
        """Return whether the evidence names the cause; words that are alike never do."""
        return self.confidence_ratio >= LIKELY_RATIO and self.symptom is not Symptom.WORDS

    @property
    def suspected(self) -> tuple[Suspect, ...]:
        """Return what it suspects: its suspects, and the cause that it cannot decide."""
        alone = Suspect(
            cause=self.cause,
            confidence_ratio=self.confidence_ratio,
            question="",
            alike_ratio=self.alike_ratio,
        )
        named = self.decided or any(one.cause == self.cause for one in self.suspects)
        return self.suspects if named else (alone, *self.suspects)

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes it allows, the likeliest first."""
        return (self.cause, *(one.cause for one in self.suspects if one.cause != self.cause))


Check = Callable[[Facts], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One check and the causes it can name; its documentation is the docstring of its file."""

    causes: tuple[str, ...]
    check: Check


def finding(
    cause: str,
    seen: Iterable[Fact],
    confidence_ratio: float,
    *,
    message: str,
    advice: str,
    severity: Severity = Severity.ERROR,
    subject: str = "",
    next_command: str = "",
    missing: tuple[str, ...] = (),
    symptom: Symptom | None = None,
    explains: Iterable[str] = (),
    suspects: Iterable[Suspect] = (),
    fault: Fault | None = None,
    left_ratio: float = 1.0,
) -> Finding:
    """Return a finding whose evidence is the lines of the facts seen, each line once."""
    lines = dict.fromkeys(fact.evidence for fact in seen)
    return Finding(
        cause=cause,
        severity=severity,
        confidence_ratio=confidence_ratio,
        message=message,
        advice=advice,
        evidence=tuple(lines)[:MOST_EVIDENCE],
        subject=subject,
        next_command=next_command,
        missing=missing,
        symptom=symptom,
        explains=frozenset(explains),
        suspects=tuple(suspects),
        fault=fault,
        left_ratio=left_ratio,
    )


def suspect(
    cause: str, confidence_ratio: float, *, question: str = "", next_command: str = ""
) -> Suspect:
    """Return a suspect, with what all rules ask of its cause where this one asks no more."""
    asked = known()[cause]
    return Suspect(
        cause=cause,
        confidence_ratio=confidence_ratio,
        question=question or asked.question,
        next_command=next_command or asked.command,
    )


def suspected(
    suspects: Iterable[Suspect], seen: Iterable[Fact], *, message: str, advice: str,
    symptom: Symptom | None = None, severity: Severity = Severity.ERROR, subject: str = "",
) -> Finding:  # fmt: skip
    """Return a finding that names no cause: suspects, and the questions that settle them."""
    ranked = sorted(suspects, key=lambda one: -one.confidence_ratio)
    first = ranked[0]
    return finding(
        first.cause,
        seen,
        first.confidence_ratio,
        message=message,
        advice=advice,
        severity=severity,
        subject=subject,
        next_command=first.next_command,
        missing=tuple(one.question for one in ranked),
        symptom=symptom,
        suspects=ranked,
    )

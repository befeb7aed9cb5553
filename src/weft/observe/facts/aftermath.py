"""What came after: work that went on, and somebody's word on it."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkSeen:
    """The last line that shows a program at work: a step of training, a result, an answer.

    ``kind`` is step, result, ping, connected, serving, passed or ended; ``peer`` is who was
    reached.
    """

    kind: str
    peer: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Somebody's word on what stands above it: ``says`` is meant (done on purpose) or over."""

    says: str
    evidence: Evidence

"""What is told of probes while they run; apart from them, as they compile a simulator."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """How far the probes of an answer are."""

    done: int
    planned: int
    """Known so far; more may turn up."""
    doing: str
    elapsed_s: float
    left_s: float | None


Report = Callable[[Probing], None]

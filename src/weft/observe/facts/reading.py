"""What reading gave: how much of each file was understood, and what was not."""

from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence


@dataclass(frozen=True, slots=True)
class Complaint:
    """A line that no parser understood and that tells of trouble, of these kinds."""

    troubles: tuple[str, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Opening:
    """How a text begins, understood or not, its long lines cut; blank lines are kept.

    ``read_ratio`` is the share of its lines that some parser understood.
    """

    text: str
    evidence: Evidence
    read_ratio: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """How much of one file was understood.

    ``complaints`` are the first lines that were not, and that tell of trouble; ``opening`` is
    how the file begins, understood or not, its long lines cut.
    """

    file: str
    lines: int
    blank: int
    unread: int
    tools: tuple[tuple[str, int], ...] = ()
    first_unread: tuple[Evidence, ...] = field(default=())
    complaints: tuple[Complaint, ...] = field(default=())
    opening: str = field(default="", repr=False)
    left_out: int = 0
    skipped: str = ""

    @property
    def read_ratio(self) -> float:
        """Return the share of the lines with text that some parser understood."""
        full = self.lines - self.blank
        return 1.0 - self.unread / full if full else 1.0

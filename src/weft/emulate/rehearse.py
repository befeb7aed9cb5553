"""The score of a game day: what somebody named against what was injected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.emulate.state import faults
from weft.errors import SpecError
from weft.spec.document import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One injected fault, and how much of it was named."""

    fault: str
    place: str
    """``HOST/NUMBER`` of the rail or GPU."""
    kind_named: bool
    host_named: bool
    part_named: bool
    """The rail or GPU; of a fault of a host the host is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What came of a rehearsal."""

    faults: tuple[Scored, ...]
    extra: tuple[str, ...]
    """What was named and was not injected."""

    @property
    def is_right(self) -> bool:
        """Return whether every fault was named with its place, and nothing else."""
        parts = (
            (fault.kind_named, fault.host_named, fault.part_named) for fault in self.faults
        )
        return not self.extra and all(map(all, parts))

    @property
    def exit_code(self) -> int:
        """Return 0 where all is right, else 4."""
        return 0 if self.is_right else 4


def score(answer: Path, named: Sequence[str]) -> Score:
    """Score KIND@HOST/NUMBER words against the file that ``weft emulate --answer`` wrote.

    KIND is a fault of weft emulate or a cause of weft diagnose. Raises Unreadable, SpecError.
    """
    injected = _read(answer)
    left = [_Named.of(word) for word in named]
    found = []
    for row in injected:
        best = max(left, key=lambda item: item.likeness(row), default=None)
        if best is not None and any(best.likeness(row)):
            left.remove(best)
        else:
            best = None
        kind, host, part = best.likeness(row) if best else (False, False, False)
        place = f"{row['host']}/{row['number']}"
        found.append(Scored(fault=row["fault"], place=place, kind_named=kind, host_named=host,
                            part_named=part))  # fmt: skip
    return Score(faults=tuple(found), extra=tuple(named.word for named in left))


@dataclass(frozen=True, slots=True)
class _Named:
    """What somebody named, in parts; those that are empty were left out."""

    word: str
    kind: str
    host: str
    number: str

    @classmethod
    def of(cls, word: str) -> "_Named":
        kind, _, place = word.partition("@")
        host, _, number = place.partition("/")
        return cls(word, kind, host, number)

    def likeness(self, row: Mapping[str, Any]) -> tuple[bool, bool, bool]:
        """Return whether the kind, the host and the part are those of an injected fault."""
        kind = self.kind in {row["fault"], *row["causes"]}
        host = self.host == row["host"]
        known = faults().get(row["fault"])
        numbers = {str(row["number"]), row["device"], f"rail{row['number']}"} - {""}
        whole = known is not None and known.at in {"host", "job"}
        return kind, host, host and (whole or self.number in numbers)


def _read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    rows = read_json(path)
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
        raise SpecError(f"{path}: is not an answer; name a file of weft emulate --answer")
    return rows


def _is_row(row: object) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("number"), int)
        and all(isinstance(row.get(key), str) for key in ("fault", "host", "device"))
        and isinstance(row.get("causes"), list)
        and all(isinstance(cause, str) for cause in row["causes"])
    )

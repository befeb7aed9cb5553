"""The verdict: what the findings mean as a whole, and what the input did not cover."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from weft.doctor.case import Case
from weft.doctor.findings import MEDIUM_RATIO, NAMED_RATIO, Finding, folded
from weft.expectations.coverage import not_read
from weft.inventory.inventory import Inventory

_FEWEST_LINES: Final = 5
UNREAD: Final = "log.unread"
"""Lines that look like trouble and that no row knows: nothing can be said of them."""
_LITTLE: Final = 0.1
"""A file of which less than this share of lines was recognised was not covered."""
_LEAST_RATIO: Final = {"error": NAMED_RATIO, "warning": MEDIUM_RATIO}
"""From this probability on, of a cause and its rivals together, there is a problem."""
DOUBT_RATIO: Final = 0.25
"""From this probability on a finding stands against \"no problem found\"."""


class Verdict(StrEnum):
    """What the evidence says as a whole."""

    PROBLEM = "problem found"
    POSSIBLE = "possible problem"
    NONE = "no problem found"
    UNKNOWN = "cannot tell"


_CODES: Final = {
    Verdict.PROBLEM: 4,
    Verdict.POSSIBLE: 0,
    Verdict.NONE: 0,
    Verdict.UNKNOWN: 5,
}


def verdict(found: Sequence[Finding], case: Case) -> Verdict:
    """Return what the findings mean as a whole."""
    if any(
        finding.probability_ratio + finding.rivals_ratio
        >= _LEAST_RATIO.get(finding.severity, 2.0)
        for finding in found
    ):
        return Verdict.PROBLEM
    unsure = [
        finding
        for finding in found
        if finding.severity != "info" and finding.probability_ratio >= DOUBT_RATIO
    ]
    inventory = case.inventory
    nothing = not (inventory.readings or inventory.configured) and all(
        code == UNREAD for code, _ in inventory.events
    )
    dropped = any(file.notes for file in inventory.files)
    told = {line for finding in unsure for line in finding.evidence}
    strange = any(not told.issuperset(file.unread) for file in inventory.files)
    if nothing or dropped or strange or _failed(found, case) or _is_error(unsure):
        return Verdict.UNKNOWN
    return Verdict.POSSIBLE if unsure else Verdict.NONE


def _is_error(found: Sequence[Finding]) -> bool:
    return any(finding.severity == "error" for finding in found)


def _failed(found: Sequence[Finding], case: Case) -> bool:
    """Return whether an error was logged that no finding is sure enough to explain."""
    lines = {line for finding in found for line in finding.evidence}
    return any(
        event.severity == "error" and lines.intersection(event.evidence)
        for events in case.events.values()
        for event in events
    )


def not_covered(inventory: Inventory) -> tuple[str, ...]:
    """Return what was not read, each with its command, and files of which little was read."""
    areas = tuple(not_read(inventory))
    strange = [
        file.file
        for file in inventory.files
        if file.skipped or (file.lines >= _FEWEST_LINES and file.matched < _LITTLE * file.lines)
    ]
    return (*areas, f"most of {folded(strange)}") if strange else areas


def exit_code(found: Verdict, *, strict: bool = False) -> int:
    """Return the exit code of a verdict; with ``strict`` a possible problem is one."""
    return _CODES[Verdict.PROBLEM if strict and found is Verdict.POSSIBLE else found]

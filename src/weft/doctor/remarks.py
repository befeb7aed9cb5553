"""What somebody says below an output makes an error a warning: it was meant, or is over.

No more than that: anybody may write a line below an error.
"""

from collections.abc import Iterable
from dataclasses import replace

from weft.doctor.rule import Facts, Finding, Severity
from weft.observe.facts.aftermath import Remark

_SAYS = {
    "meant": "somebody says that it was done on purpose",
    "over": "somebody says that it is over",
}


def heeded(found: Iterable[Finding], facts: Facts) -> list[Finding]:
    """Return the findings; an error whose every line stands above a remark is a warning."""
    remarks = facts.of(Remark)
    return [_told(one, remarks) for one in found] if remarks else list(found)


def _told(one: Finding, remarks: list[Remark]) -> Finding:
    below = [
        remark for remark in remarks
        if one.evidence and all(
            line.file == remark.evidence.file and line.place <= remark.evidence.place
            for line in one.evidence
        )
    ]  # fmt: skip
    if not below or one.severity is not Severity.ERROR:
        return one
    message = f"{one.message} ({_SAYS[below[-1].says]})"
    return replace(one, severity=Severity.WARNING, message=message)

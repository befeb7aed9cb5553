"""Causes that compete share one probability; faults that may stand side by side do not.

A named finding says how probable it is that this is wrong here. Two may both be: a port that is
down and a module that is missing are no rivals, and their confidences need not add up to one.
Suspects of one symptom are: each would explain it alone. Their rules weigh each of them as if
it stood alone, so where the weights of rivals add up to more than one, each gets its part::

    p_i = w_i / max(1, sum of w over the rivals)

Rivals are the suspects of one finding, and other undecided findings that would explain the same
symptom. Beside a named cause its alternatives have what it leaves.
"""

from collections.abc import Sequence
from dataclasses import replace

from weft.doctor.rule import Finding, Suspect


def share(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings whose rivals' confidences add up to one at most, in the same order."""
    return tuple(_scaled(one, _total(_rivals(one, findings))) for one in findings)


def _rivals(finding: Finding, findings: Sequence[Finding]) -> list[Finding]:
    """Return the undecided findings that explain what this one does, itself among them."""
    if finding.decided:
        return [finding]
    own = {finding.symptom} if finding.symptom is not None else set(finding.explains)
    return [
        one for one in findings
        if one is finding
        or (not one.decided and bool(own & ({one.symptom} | set(one.explains))))
    ]  # fmt: skip


def _total(rivals: Sequence[Finding]) -> float:
    """Add up what rivals claim; a cause that several suspect counts once."""
    claims: dict[str, float] = {}
    for one in rivals:
        for suspect in one.suspected:
            claims[suspect.cause] = max(
                claims.get(suspect.cause, 0.0), suspect.confidence_ratio
            )
    return sum(claims.values())


def _scaled(finding: Finding, total: float) -> Finding:
    """Return a finding whose suspects have their parts of a total."""
    if finding.decided:
        return replace(finding, suspects=_beside(finding)) if finding.suspects else finding
    part = 1 / max(1.0, total)
    if part == 1:
        return finding
    return replace(
        finding,
        confidence_ratio=finding.confidence_ratio * part,
        suspects=tuple(
            replace(one, confidence_ratio=one.confidence_ratio * part)
            for one in finding.suspects
        ),
    )


def _beside(finding: Finding) -> tuple[Suspect, ...]:
    """Return the alternatives of a named cause, with no more than it leaves."""
    others = sum(one.confidence_ratio for one in finding.suspects if one.cause != finding.cause)
    left = 1 - finding.confidence_ratio
    part = min(1.0, left / others) if others else 1.0
    return tuple(
        one if one.cause == finding.cause
        else replace(one, confidence_ratio=one.confidence_ratio * part)
        for one in finding.suspects
    )  # fmt: skip

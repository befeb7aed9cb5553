"""What the files beside a sweep say of each fault: the log of NCCL, and the doctor's findings.

A check shows what a fault would show, or not, and misleads in MISLED of cases. So a log with
GPUDirect on every channel makes "GPUDirect is off" improbable whatever the curve looks like.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weft.bench.check import MISLED, all_checks
from weft.bench.expected import Setting
from weft.bench.fault import Fault, all_faults
from weft.doctor.findings import NAMED_RATIO, Finding
from weft.inventory.inventory import Inventory
from weft.inventory.severity import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the files tell beside the curve."""

    logs: Mapping[str, float]
    """By fault: the logarithm by which it is more likely than a sound system, or a fault they
    say nothing of."""
    lines: tuple[str, ...]
    """In words, what speaks for a fault or against one."""
    checked: frozenset[str]
    """Checks that the files have answered."""
    forms: Mapping[str, str]
    """By fault, the form of it that they name."""


def told(setting: Setting, seen: Inventory, findings: Iterable[Finding]) -> Told:
    """Weigh every fault by what the files say beside the curve."""
    possible = {name for name, kind in all_faults() if any(True for _ in kind.forms(setting))}
    logs = {name: 0.0 for name, _ in all_faults()}
    lines: list[str] = []
    checked = set()
    forms: dict[str, str] = {}
    for name, check in all_checks():
        if check.read is None:
            continue
        shown = check.read(setting, seen)
        checked |= {name} if shown else set()
        for what, item in shown.items():
            own = [
                fault for fault, kind in all_faults()
                if kind.shows.get(name) == what and fault in possible
            ]  # fmt: skip
            side = "for" if item.there else "against"
            lines += [f"{item.text}: {side} {fault}" for fault in own]
            odds = math.log((1 - MISLED) / MISLED)
            for fault in own:
                logs[fault] += odds if item.there else -odds
            forms |= {fault: item.form for fault in own if item.there and item.form}
    for fault, kind in all_faults():
        logs[fault] += _found(kind, findings, lines, fault)
    return Told(logs=logs, lines=tuple(lines), checked=frozenset(checked), forms=forms)


def named(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of the doctor that are probable enough to be told."""
    return [
        finding
        for finding in findings
        if finding.probability_ratio >= NAMED_RATIO and finding.severity is not Severity.INFO
    ]


def _found(kind: Fault, findings: Iterable[Finding], lines: list[str], name: str) -> float:
    """Return what the surest finding of the doctor's adds to a fault that is its cause."""
    own = [finding for finding in named(findings) if finding.cause in kind.causes]
    if not own:
        return 0.0
    surest = max(own, key=lambda item: item.probability_ratio)
    lines.append(f"the doctor finds {surest.cause}: for {name}")
    share = min(1 - MISLED, surest.probability_ratio)
    return math.log(share / (1 - share))

"""A label lies outside its range.

What it checks: DSCP 0 to 63; classes, priorities, queues and groups 0 to 7, on switches and
NICs.
Why it matters: the device refuses the line or the whole file, or keeps what it had before.
What to do: correct the number.
References: RFC 2474 (DSCP); IEEE 802.1Q (priorities); no schema of SONiC checks the classes.
"""

from weft.lint.facts import Map, Mapped, Pause, Watchdog
from weft.lint.quality import CLASSES, DSCPS
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Mapped):
        most = DSCPS if one.kind is Map.DSCP_TO_CLASS else CLASSES
        if not 0 <= one.source < most or not 0 <= one.target < CLASSES:
            yield problem(
                one,
                f"{one.kind.value}: {one.source} to {one.target} is out of range",
                f"use 0 to {most - 1} and 0 to {CLASSES - 1}",
            )
    for pause in case.of(Pause):
        if any(not 0 <= priority < CLASSES for priority in pause.priorities):
            yield problem(pause, "a PFC priority above 7", "use 0 to 7")
    for dog in case.of(Watchdog):
        if any(not 0 <= queue < CLASSES for queue in dog.queues or ()):
            yield problem(dog, "a queue above 7", "use 0 to 7")


qos_label_range = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://www.rfc-editor.org/rfc/rfc2474",
    check=_check,
)

"""A line of a configuration cannot be read by its program.

What it checks: partitions.conf, lists of GUIDs, sysctl and tables of addresses, line by line.
Why it matters: OpenSM comes up all the same, with default partitions alone; sysctl goes on with
the next line: the setting is missing and nobody is told.
What to do: correct the line.
References: man opensm, PARTITION CONFIGURATION; sysctl.d(5).
"""

from weft.lint.facts import Flaw
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Flaw):
        if one.rule == "broken_line":
            yield problem(one, one.message, one.fix)


broken_line = Rule(
    layer=Layer.FILES,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)

"""Processes that crash or hang."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.programs import ProcessEnded
from weft.observe.parsers.kernel_log.lines import as_it_stands, host_of
from weft.observe.patterns import Line, nothing, pattern

_BEFORE = re.compile(r"(?P<name>[\w./-]{1,60})\[(?P<pid>\d{1,8})\]: $")


def _segfault_before(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    who = _BEFORE.search(line.before[-100:])
    return (
        ProcessEnded(
            how="segfault",
            by_kernel=True,
            pid=int(who["pid"]) if who else None,
            name=who["name"] if who else "",
            signal=11,
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


PATTERNS = (
    pattern("Comm: ", r"Comm: ", nothing),
    pattern("Call Trace:", r"Call Trace:", nothing),
    pattern("Hardware name:", r"Hardware name:", nothing),
    pattern(
        "segfault at",
        r"(?P<name>)(?P<pid>)segfault at .*",
        _segfault_before,
    ),
    pattern("blocked for more than", r"blocked for more than \d+ seconds", as_it_stands),
)

"""ECN looks at an average over so many packets that it comes too late.

What it checks: the weight of WRED on queues that mark: the length is averaged over 2 to this
power packets.
Why it matters: a burst of an incast is over, or has paused the senders, before the average
rises: PFC does the work that ECN was to do.
What to do: weight 0, the length as it is.
References: Cisco, RoCE on Nexus 9000 (weight 0); Floyd and Jacobson 1993, section 11.
"""

from typing import Final

from weft.lint.quality import lossless_queues, marked
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LATE: Final = 8
"""256 packets of 4 KiB are a megabyte, more than what PFC waits for."""


def _check(case: Case) -> Found:
    for switch in case.switches:
        queues = lossless_queues(switch)
        for one in marked(switch):
            weight = one.marking.averaging_exponent
            if one.queue in queues and weight is not None and weight >= _LATE:
                yield problem(
                    one.marking,
                    f"queue {one.queue} of {switch.name} marks by the average of "
                    f"{2**weight} packets",
                    "set the weight to 0",
                )


ecn_averaging = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.WARNING,
    reference="https://www.cisco.com/c/en/us/td/docs/dcn/whitepapers/cisco-data-center-networking-blueprint-for-ai-ml-applications.html",
    check=_check,
)

"""PFC is on for nearly everything.

What it checks: the number of priorities that a port pauses, and whether priority 0 or the class
of CNPs is among them.
Why it matters: headroom is reserved for each, so buffers run out; best effort and management
traffic stop with RDMA, and one storm stops all.
What to do: pause one priority, two at the most; never 0, 6 or 7 without a reason.
References: IEEE 802.1Qbb; Guo et al., RDMA over commodity Ethernet at scale, SIGCOMM 2016.
"""

from typing import Final

from weft.lint.facts import Pause
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MANY: Final = 2


def _check(case: Case) -> Found:
    for one in case.of(Pause):
        count = len(one.priorities)
        if count > _MANY:
            yield problem(
                one,
                f"{count} priorities are lossless: buffer for each, and one storm "
                "stops them all",
                "pause one",
            )
        elif 0 in one.priorities and len(one.priorities) > 1:
            yield problem(one, "best effort (priority 0) is paused as well", "pause RDMA alone")


pfc_many_priorities = Rule(
    layer=Layer.BUFFERS,
    severity=Severity.ERROR,
    reference="https://1.ieee802.org/dcb/802-1qbb/",
    check=_check,
)

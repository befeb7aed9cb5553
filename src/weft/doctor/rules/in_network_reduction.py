"""In-network reduction (SHARP) was wanted and is not available.

What it checks: refusals of the SHARP plug-in with their codes, and whether the job asked.
Why it matters: all-reduce falls back to rings and trees: correct, and slower than paid for.
What to do: run the aggregation manager on the subnet manager's host, enable SHARP on the
switches and in the quota of the job; some providers do not offer it.
References: NVIDIA SHARP deployment guide; NCCL user guide, NCCL_COLLNET_ENABLE.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.transports import InNetworkReduction

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_OF_SWITCHES = re.compile(
    r"sharp|aggregation|\btree\b|used by (?:the )?(?:SM\b|opensm|subnet m)", re.IGNORECASE
)
"""Words of what happens in the switches, unlike those of the library's own fall back."""


def _check(facts: Facts) -> Iterator[Finding]:
    refused: list[Fact] = [one for one in facts.of(InNetworkReduction) if not one.available]
    words = job.said(facts, r"(?<!rdma_)sharp.{0,80}(fail|error|cannot|"
                            r"not (found|valid|avail))|"
                            r"cannot initialize collnet|no (sharp )?aggregation "
                            r"manager")  # fmt: skip
    wanted: list[Fact] = [
        *job.switched_on(facts, "NCCL_COLLNET_ENABLE"),
        *job.switched_on(facts, "SHARP_COLL_ENABLE_SAT"),
    ]
    asked = bool(wanted) or any(
        _OF_SWITCHES.search(one.evidence.text) for one in [*refused, *words]
    )
    if (refused or words) and asked:
        yield finding(
            "sharp-unavailable",
            [*words, *refused, *wanted],
            0.85,
            severity=Severity.ERROR if wanted or words else Severity.WARNING,
            message="in-network reduction was tried and refused",
            advice="start sharp_am on the subnet manager's host; check the quota of the job",
            next_command="sharp_hello; systemctl status sharp_am; ibdiagnet --sharp",
        )


in_network_reduction = Rule(causes=("sharp-unavailable",), check=_check)

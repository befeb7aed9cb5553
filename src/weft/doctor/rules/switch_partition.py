"""GPUs of one machine lie in different NVLink switch partitions, or a switch has faults.

What it checks: access faults of the switch (SXid 11004 and its like), the partitions, and other
errors of switches, fatal or not.
Why it matters: GPUs of one machine cannot reach one another over NVLink.
What to do: activate the one partition that holds exactly these GPUs; for other faults reset,
then replace.
References: NVIDIA Fabric Manager user guide, SXid errors and shared NVSwitch partitions.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.gpus import ScaleUpPartition, ScaleUpSwitchFault

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_ACCESS = frozenset({11004, 11034, 11035, 11036})
_LOOK = "fmpm -l; nvidia-smi nvlink -s; journalctl -u nvidia-fabricmanager"


def _check(facts: Facts) -> Iterator[Finding]:
    faults = facts.of(ScaleUpSwitchFault)
    access: list[Fact] = [
        one for one in faults if one.code in _ACCESS or "acl" in one.text.lower()
    ]
    other = [one for one in faults if one not in access]
    refused = job.said(facts, r"fail.{0,40}activate partition|activate partition.{0,80}fail")
    if refused and not access:
        yield finding(
            "nvswitch-partition-wrong",
            [*refused, *facts.of(ScaleUpPartition)],
            0.65,
            message="a partition of the NVLink switches could not be activated",
            advice="deactivate the partitions that share GPUs with it, then activate it",
            next_command=_LOOK,
            explains=("nvlink-links-inactive", "fabric-manager-not-running"),
        )
    if access:
        yield finding(
            "nvswitch-partition-wrong",
            [*access, *facts.of(ScaleUpPartition)],
            0.85,
            message="a switch refuses traffic between GPUs: they are not in one partition",
            advice="activate the one partition that holds exactly the GPUs of this machine",
            next_command=_LOOK,
            explains=("nvlink-error", "nvlink-links-inactive", "nvswitch-nonfatal-error"),
        )
    if other:
        fatal = any(one.fatal for one in other)
        yield finding(
            "nvlink-error" if fatal else "nvswitch-nonfatal-error",
            other,
            0.75 if fatal else 0.65,
            severity=Severity.ERROR if fatal else Severity.WARNING,
            message="an NVLink switch reports "
            + ("fatal" if fatal else "non-fatal")
            + " errors",
            advice="reset the host's GPUs and switches; if the same link returns, replace",
            next_command=_LOOK,
        )


switch_partition = Rule(
    causes=("nvswitch-partition-wrong", "nvswitch-nonfatal-error"), check=_check
)

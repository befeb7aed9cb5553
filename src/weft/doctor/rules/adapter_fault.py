"""An adapter's firmware or hardware failed.

What it checks: catastrophic events the library reports, and the driver's health complaints.
Why it matters: every process with a queue pair on it fails, and it does not come back alone.
What to do: reset the adapter or the host; if it comes again, replace it.
References: mlx5 driver documentation, devlink health; InfiniBand verbs, IBV_EVENT_DEVICE_FATAL.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Symptom, finding
from weft.doctor.rules.gpu_fault import is_adapter
from weft.observe.facts.adapters import AdapterFault
from weft.observe.facts.pci import PciDevice
from weft.observe.facts.verbs import AdapterEvent

if TYPE_CHECKING:
    from weft.observe.facts.base import Fact

_KINDS = frozenset({"health", "reset", "timeout"})


def _check(facts: Facts) -> Iterator[Finding]:
    events: list[Fact] = [
        one for one in facts.of(AdapterEvent)
        if one.on == "device"
        and (one.fatal or "catastrophic" in one.event or "fatal" in one.event)
    ]  # fmt: skip
    events += job.said(
        facts,
        r"catastrophic error|device fatal|firmware internal error|"
        r"\bcr-?space read failed|local device in an unrecoverable",
    )
    faults: list[Fact] = [one for one in facts.of(AdapterFault) if one.kind in _KINDS]
    faults += [one for one in facts.of(PciDevice) if one.gone and is_adapter(one)]
    if events or faults:
        yield finding(
            "hca-fatal-error",
            [*events, *faults],
            0.9 if events else 0.8,
            message="an adapter reported a fatal error of itself",
            advice="reset the adapter or reboot the host; replace it if it happens again",
            next_command="dmesg -T | grep -i mlx5; devlink health show",
            explains=(
                Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG, "port-down",
                "ib-link-flap", "peer-process-died",
            ),
        )  # fmt: skip


adapter_fault = Rule(causes=("hca-fatal-error",), check=_check)

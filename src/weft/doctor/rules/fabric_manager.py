"""The NVLink switches are not ready: no fabric manager, or it was restarted under the GPUs.

What it checks: error 802 (system not yet initialised), the state of the service, and NVLS
calls refused with an invalid argument after a restart. Without NVSwitch the service has nothing
to do and its failure means nothing.
Why it matters: no GPU program starts on the host, or collectives fail there only.
What to do: start nvidia-fabricmanager in the driver's exact version; after a restart of the
service reset the GPUs; in a virtual machine let the host activate the partition.
References: NVIDIA Fabric Manager user guide; CUDA runtime, cudaErrorSystemNotReady.
"""

from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, Symptom, finding
from weft.doctor.rules.scale_up_links import has_switch
from weft.observe.facts import (
    Fact,
    GpuCallFailed,
    GpuSeen,
    ScaleUpFabricState,
    ScaleUpSwitchFault,
    ServiceState,
)

_NOT_READY = 802
_INVALID_ARGUMENT = 1
_WRONG_STATE = 401
_REFUSED = ("invalid argument", "present state", "not permitted", "system not")
_SERVICE = "fabricmanager"
_LOOK = (
    "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric; dmesg "
    "| grep -i SXid"
)


def _check(facts: Facts) -> Iterator[Finding]:
    services = [
        one for one in facts.of(ServiceState) if _SERVICE in one.service.replace("-", "")
    ]
    failed = [
        one for one in services if one.state in {"failed", "inactive", "dead", "activating"}
    ]
    early: list[Fact] = [
        one for one in facts.of(GpuCallFailed)
        if one.code == _NOT_READY or "not yet initialized" in one.error.lower()
        or "system not ready" in one.error.lower()
    ]  # fmt: skip
    early = early or job.said(facts, r"system not yet initialized|error 802\b")
    if early:
        yield _not_running(early, failed)
    elif failed and _joined(facts):
        yield _not_running([], failed)
    else:
        waiting = [one for one in facts.of(ScaleUpFabricState)
                   if one.state.lower() in {"in progress", "not started"}]  # fmt: skip
        if waiting and _joined(facts):
            yield replace(_not_running([*waiting], []), confidence_ratio=0.65,
                          severity=Severity.WARNING)  # fmt: skip
    multicast = [
        one for one in facts.of(GpuCallFailed)
        if "nvls" in f"{one.place} {one.call} {one.evidence.text}".lower()
        and (one.code in {_INVALID_ARGUMENT, _WRONG_STATE}
            or any(words in one.error.lower() for words in _REFUSED))
    ]  # fmt: skip
    blamed = job.said(facts, r"configuration error in the fabric manager or nvswitch")
    if multicast or (blamed and not early):
        yield finding(
            "fabric-manager-restarted",
            [*multicast, *blamed, *services],
            0.8 if multicast else 0.6,
            message="NVLink multicast is refused, as after a restart of the fabric manager",
            advice="reset all GPUs of the host (or reboot), then start the job",
            next_command="journalctl -u nvidia-fabricmanager; nvidia-smi --gpu-reset",
        )


def _joined(facts: Facts) -> bool:
    products = " ".join(one.name for one in facts.of(GpuSeen)).lower()
    return has_switch(products) or facts.any_of(ScaleUpSwitchFault)


def _not_running(early: list[Fact], failed: list[ServiceState]) -> Finding:
    return finding(
        "fabric-manager-not-running",
        [*early, *failed],
        0.9 if early and failed else 0.75 if early else 0.65,
        severity=Severity.ERROR if early else Severity.WARNING,
        message="the GPUs wait for their NVLink switches to be made ready",
        advice="start nvidia-fabricmanager (same version as the driver), or activate "
        "the partition",
        next_command=_LOOK,
        missing=() if failed else ("the state of the service, and whether this is a VM",),
        explains=(Symptom.NOT_INITIALISED,),
        suspects=(
            Suspect(
                cause="nvswitch-partition-wrong",
                confidence_ratio=0.3,
                question="is this a virtual machine whose partition the host has not "
                "activated?",
                next_command="fmpm -l   # on the host",
            ),
        ),
    )


fabric_manager = Rule(
    causes=("fabric-manager-not-running", "fabric-manager-restarted"), check=_check
)

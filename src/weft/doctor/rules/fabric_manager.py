"""The NVLink switches are not ready: no fabric manager, or it was restarted under the GPUs.

What it checks: error 802 (system not yet initialised), the state of the service, and NVLS
calls refused with an invalid argument after a restart. Without NVSwitch the service has nothing
to do and its failure means nothing.
Why it matters: no GPU program starts on the host, or collectives fail there only.
What to do: start nvidia-fabricmanager in the driver's exact version; after a restart of the
service reset the GPUs; in a virtual machine let the host activate the partition.
References: NVIDIA Fabric Manager user guide; CUDA runtime, cudaErrorSystemNotReady.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.doctor.rules.scale_up_links import has_switch
from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import (
    GpuCallFailed,
    GpuLink,
    GpuSeen,
    ScaleUpFabricState,
    ScaleUpSwitchFault,
)
from weft.observe.facts.hosts import ServiceState

_NOT_READY = 802
_OF_OTHERS = frozenset({2, 46, 101, 209, 214, 220, 700, 702, 710, 715, 716, 717, 718, 719})
"""Codes that say why by themselves: no memory, a busy or lost GPU, a fault of a kernel."""
_ELSEWHERE = re.compile(
    r"out of memory|illegal|launch|misaligned|uncorrectable|busy or unavailable", re.IGNORECASE,
)  # fmt: skip
_SERVICE = "fabricmanager"
_NEEDED = re.compile(
    r"match with driver|interface version|NVSwitches don't match|not running|"
    r"cannot be started|nvlsm: |has an invalid value"
)
"""What the service says only where there are switches to manage."""
_WELL = frozenset({"success", "", "n/a", "[n/a]", "not supported", "nvml_success"})
"""Statuses of a GPU that joined its fabric, or that has none."""
_LOOK = (
    "systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 Fabric; dmesg "
    "| grep -i SXid"
)


def _check(facts: Facts) -> Iterator[Finding]:
    services = [
        one for one in facts.of(ServiceState) if _SERVICE in one.service.replace("-", "")
    ]
    early: list[Fact] = [
        one for one in facts.of(GpuCallFailed)
        if one.code == _NOT_READY or "not yet initialized" in one.error.lower()
        or "system not ready" in one.error.lower()
    ]  # fmt: skip
    early = early or job.said(
        facts, r"system not yet initialized|error 802\b|nv_err_fabric_manager_not_present"
    )
    runs = [one for one in services if one.state == "active"]
    barred = _barred(facts)
    if early and ((runs and not _failed(services)) or barred):
        yield _not_activated([*early, *runs, *barred])
        return
    yield from _stopped(facts, _failed(services), early)
    yield from _restarted(facts, services, early)


def _barred(facts: Facts) -> list[Fact]:
    """Return GPUs that may not join their fabric, as in a guest without its partition."""
    return [
        one for one in facts.of(ScaleUpFabricState) if "permission" in one.status.lower()
    ]  # fmt: skip


def _not_activated(seen: list[Fact]) -> Finding:
    """Say who may be to blame where the service runs and the GPUs wait all the same."""
    return suspected(
        (
            suspect("nvswitch-partition-wrong", 0.5),
            Suspect(
                cause="fabric-manager-not-running",
                confidence_ratio=0.3,
                question="is the service that runs of this host, and of the driver's version?",
                next_command=_LOOK,
            ),
        ),
        seen,
        symptom=Symptom.NOT_INITIALISED,
        message="the GPUs wait for their NVLink switches, though the fabric manager runs",
        advice="activate the guest's partition; on metal compare the service with the driver",
    )


def _stopped(facts: Facts, failed: list[ServiceState], early: list[Fact]) -> Iterator[Finding]:
    """Find a service that does not run, where something shows that it should."""
    waiting = _waiting(facts)
    needed = [one for one in failed if _NEEDED.search(one.text)]
    if early or needed:
        yield _not_running(early or [*needed], failed)
    elif failed and _all_dark(facts):
        found = _not_running([], failed, 0.85)
        yield replace(
            found,
            severity=Severity.ERROR,
            explains=found.explains | {"nvlink-links-inactive"},
            evidence=(*found.evidence, *(one.evidence for one in facts.of(GpuLink)[:3])),
        )
    elif (failed and _joined(facts)) or waiting:
        yield _not_running(waiting, failed)
    elif failed and not facts.of(GpuSeen):
        yield _not_running([], failed, LIKELY_RATIO)


def _restarted(
    facts: Facts, services: list[ServiceState], early: list[Fact]
) -> Iterator[Finding]:
    """Find NVLink multicast that the driver refuses, as after a restart of the service."""
    multicast = [
        one for one in facts.of(GpuCallFailed)
        if "nvls" in f"{one.place} {one.call} {one.evidence.text}".lower()
        and one.code not in _OF_OTHERS and not _ELSEWHERE.search(one.error)
    ]  # fmt: skip
    blamed = job.said(facts, r"configuration error in the fabric manager or nvswitch|"
                             r"(gpu handle|setup) .{0,30}multicast team|"
                             r"nv_err_fabric_state_out_of_sync")  # fmt: skip
    ended = job.said(facts, r"nvidia-fabricmanager daemon shutdown detected")
    if ended and not (multicast or blamed or early):
        yield _ended(ended)
    elif multicast or (blamed and not early):
        yield finding(
            "fabric-manager-restarted",
            [*multicast, *blamed, *services],
            0.8 if multicast else 0.6,
            message="NVLink multicast is refused, as after a restart of the fabric manager",
            advice="reset all GPUs of the host (or reboot), then start the job",
            next_command="journalctl -u nvidia-fabricmanager; nvidia-smi --gpu-reset",
            suspects=() if services else (_NEVER_STARTED,),
        )


def _ended(seen: list[Fact]) -> Finding:
    """Say that the service ended under running programs, as the driver tells of it."""
    return finding(
        "fabric-manager-restarted",
        seen,
        0.6,
        severity=Severity.WARNING,
        message="the fabric manager ended while GPUs were in use: the driver stopped programs",
        advice="start the service again, reset the GPUs if NVLink multicast fails then",
        next_command="journalctl -u nvidia-fabricmanager | tail; nvidia-smi -q",
        missing=("whether a job was running then",),
        suspects=(suspect("fabric-manager-not-running", 0.3),),
    )


_NEVER_STARTED = suspect(
    "fabric-manager-not-running",
    0.35,
    question="does the service run on this host at all (systemctl is-active)?",
)


def _failed(services: list[ServiceState]) -> list[ServiceState]:
    """Return where the service is down, but for hosts on which it found nothing to do."""
    idle = {one.host for one in services if one.state == "not needed"}
    later = {one.host for one in services if one.state == "active" and one.moment}
    return [
        one for one in services
        if one.state in {"failed", "inactive", "dead", "activating"}
        and one.host not in idle and not ("" in idle and not one.host)
        and not (one.host in later and one.moment)
    ]  # fmt: skip


def _waiting(facts: Facts) -> list[Fact]:
    """Return GPUs behind switches whose place in the fabric is not settled."""
    if facts.of(GpuSeen) and not _joined(facts):
        return []
    return [
        one for one in facts.of(ScaleUpFabricState)
        if one.state.lower() in {"in progress", "not started"}
        or (one.state.lower() in {"completed", ""} and one.status.lower() not in _WELL)
    ]  # fmt: skip


def _all_dark(facts: Facts) -> bool:
    """Return whether no GPU has a live link, of several that belong behind switches."""
    dark = [one for one in facts.of(GpuLink) if one.link is None and not one.active]
    names = " ".join(one.gpu_name for one in dark).lower()
    live = any(one.active for one in facts.of(GpuLink))
    return len(dark) > 1 and not live and (has_switch(names) or _joined(facts))


def _joined(facts: Facts) -> bool:
    products = " ".join(one.name for one in facts.of(GpuSeen)).lower()
    return has_switch(products) or facts.any_of(ScaleUpSwitchFault)


def _not_running(
    early: list[Fact], failed: list[ServiceState], least_ratio: float = 0.65
) -> Finding:
    settling = all(isinstance(one, ScaleUpFabricState) for one in early)
    return finding(
        "fabric-manager-not-running",
        [*early, *failed],
        least_ratio if settling else 0.9 if failed else 0.75,
        severity=Severity.WARNING if settling or not early else Severity.ERROR,
        message="the GPUs wait for their NVLink switches to be made ready",
        advice="start nvidia-fabricmanager (same version as the driver), or activate "
        "the partition",
        next_command=_LOOK,
        missing=() if failed else ("the state of the service, and whether this is a VM",),
        explains=(Symptom.NOT_INITIALISED,),
        suspects=(suspect("nvswitch-partition-wrong", 0.3),),
    )


fabric_manager = Rule(
    causes=(
        "fabric-manager-not-running",
        "fabric-manager-restarted",
        "nvswitch-partition-wrong",
    ),
    check=_check,
)

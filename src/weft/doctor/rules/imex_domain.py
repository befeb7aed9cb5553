"""Hosts of one NVLink domain share no IMEX domain, so they cannot share memory handles.

What it checks: fabric handles that cannot be imported while multi-host NVLink is on.
Why it matters: on rack-scale systems every communicator over hosts fails at its start.
What to do: run nvidia-imex on all hosts of the rack with one nodes file, or a ComputeDomain on
Kubernetes; NCCL_MNNVL_ENABLE=0 for now.
References: NVIDIA IMEX guide; NCCL user guide, NCCL_MNNVL_ENABLE.
"""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, finding
from weft.observe.facts import (
    CommunicatorShape,
    Fact,
    GpuCallFailed,
    ScaleUpFabricState,
    ServiceState,
)

_INVALID_HANDLE = 400
_NOT_PERMITTED = 800


def _check(facts: Facts) -> Iterator[Finding]:
    shapes = [one for one in facts.of(CommunicatorShape) if one.multi_host_scale_up]
    handles: list[Fact] = [
        one for one in facts.of(GpuCallFailed)
        if (one.code in {_INVALID_HANDLE, _NOT_PERMITTED}
            or "resource handle" in one.error.lower())
        and (shapes
            or facts.any_of(ScaleUpFabricState)
             or "fabric" in one.evidence.text.lower() or "import" in one.evidence.text.lower())
    ]  # fmt: skip
    handles += job.said(facts, r"imex.{0,60}(fail|not |unavailable|error|no such)")
    apart = [
        one for one in facts.of(ServiceState)
        if one.service == "imex domain" and one.state in {"unavailable", "degraded", "invalid"}
    ]  # fmt: skip
    service = [
        one for one in facts.of(ServiceState)
        if "imex" in one.service and one.state not in {"active", "running", "up"}
    ]  # fmt: skip
    if handles or apart:
        yield finding(
            "imex-domain-missing",
            [*handles, *service, *shapes, *facts.of(ScaleUpFabricState)],
            0.85 if shapes or service else 0.65,
            message="a memory handle of another host cannot be imported: no common IMEX domain",
            advice="run nvidia-imex on all hosts of the rack with one nodes file",
            next_command="nvidia-imex-ctl -N; ls /dev/nvidia-caps-imex-channels",
            missing=() if service else ("the state of nvidia-imex on every host",),
        )


imex_domain = Rule(causes=("imex-domain-missing",), check=_check)

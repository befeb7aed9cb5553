"""What any program prints when a GPU fails it: CUDA, NVML, frameworks, device plug-ins."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuCallFailed, GpuFault, GpuThrottle, GpuUnreachable
from weft.observe.facts.programs import Message
from weft.observe.parser import Parser
from weft.observe.parsers._values import is_prose
from weft.observe.patterns import Line, pattern, table

_NOT_READY = 802
_NOT_PERMITTED = 800
_RECOVERY = 154
"""The driver's code of a changed recovery action [NVIDIA Xid errors]."""
_BUS = re.compile(r"\b([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.\d)?)\b")


def _failed(code: int, found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        GpuCallFailed(
            error=found[0].strip()[:200],
            code=code,
            evidence=line.evidence,
        ),
    )


def _not_ready(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _failed(_NOT_READY, found, line)


def _not_permitted(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _failed(_NOT_PERMITTED, found, line)


def _lost(found: re.Match[str], line: Line) -> Sequence[Fact]:
    bus = _BUS.search(line.text)
    if is_prose(line.text):
        return ()
    return (
        GpuUnreachable(
            bus_id=bus[1] if bus else "",
            error=found[0].strip()[:120],
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _plugin(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        GpuFault(
            code=int(found["code"]),
            bus_id=found["device"] or "",
            text=found[0],
            host=line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _slowed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    reason = found[0].partition(" is")[0].partition(" (")[0].lower().replace(" ", "_")
    return (
        GpuThrottle(
            gpu="", reason=reason, active=True, host=line.host, evidence=line.evidence
        ),
    )  # fmt: skip


def _slowed_by_heat(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what somebody noted of a GPU in one line, several reasons beside one another."""
    del found
    return (
        GpuThrottle(
            gpu="", reason="thermal_slowdown", active=True, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _sick_fabric(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="GPU driver", level="error", text=f"fabric health: {found['why']}",
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _reset(found: re.Match[str], line: Line) -> Sequence[Fact]:
    bus = _BUS.search(line.text)
    if is_prose(line.text):
        return ()
    return (
        GpuFault(
            code=_RECOVERY, bus_id=bus[1] if bus else "", text=found[0], host=line.host,
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


gpu_programs = Parser(
    tool="programs that use GPUs",
    marks=(
        "system not yet initialized",
        "SYSTEM_NOT_READY",
        "SystemNotReady",
        "GPU is lost",
        "GpuIsLost",
        "GPU_IS_LOST",
        "fallen off the bus",
        "XidCriticalError",
        "Slowdown",
        "unhealthy fabric state",
        "GPU requires reset",
        "RESET_REQUIRED",
        "ResetRequired",
        "CUDA_ERROR_NOT_PERMITTED",
        "HANDLE_TYPE_FABRIC",
        "cuMemCreate",
    ),
    reader=table(
        pattern("system not yet initialized", r"system not yet initialized", _not_ready),
        pattern("CUDA_ERROR_SYSTEM_NOT_READY", r"CUDA_ERROR_SYSTEM_NOT_READY", _not_ready),
        pattern("cudaErrorSystemNotReady", r"cudaErrorSystemNotReady", _not_ready),
        pattern(
            "CUDA_ERROR_NOT_PERMITTED",
            r"CUDA_ERROR_NOT_PERMITTED.{0,200}(?:FABRIC|[Ff]abric|IMEX|imex).{0,80}",
            _not_permitted,
        ),
        pattern(
            "HANDLE_TYPE_FABRIC",
            r"HANDLE_TYPE_FABRIC.{0,200}(?:not permitted|NOT_PERMITTED|[Ff]ailed|unsupported)",
            _not_permitted,
        ),
        pattern(
            "cuMemCreate",
            r"cuMemCreate.{0,160}(?:operation not permitted|NOT_PERMITTED)",
            _not_permitted,
        ),
        pattern("GPU is lost", r"GPU is lost", _lost),
        pattern("GpuIsLost", r"GpuIsLost", _lost),
        pattern("GPU_IS_LOST", r"GPU_IS_LOST", _lost),
        pattern("fallen off the bus", r"fallen off the bus", _lost),
        *(
            pattern(mark, mark, _reset)
            for mark in ("GPU requires reset", "RESET_REQUIRED", "ResetRequired")
        ),
        *(
            pattern(mark, rf"{mark} .{{0,100}}?is engaged", _slowed)
            for mark in ("HW Thermal Slowdown", "HW Slowdown", "HW Power Brake Slowdown")
        ),
        pattern("W Thermal Slowdown", r"W Thermal Slowdown\W{1,6}Active", _slowed_by_heat),
        pattern(
            "unhealthy fabric state: ",
            r"unhealthy fabric state: (?P<why>.{0,200}(?:degraded|unhealthy|recovery).{0,40})",
            _sick_fabric,
        ),
        pattern(
            "XidCriticalError",
            r"XidCriticalError: Xid=(?P<code>\d{1,3}) on Device=(?P<device>[\w-]{1,60})?",
            _plugin,
        ),
    ),
    rank=59,
)

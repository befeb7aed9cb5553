"""A GPU's clock is held down by heat, so every rank waits for it.

What it checks: slowdown reasons that are active for heat, with clocks far below their maximum.
A power cap is policy, not a fault.
Why it matters: collectives run at the pace of the slowest rank; the network looks slow.
What to do: look at fans, inlet temperature and dust; drain the host until it is cool.
References: nvidia-smi(1), clocks event reasons.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuReading, GpuThrottle

_HEAT = ("thermal", "hw_slowdown", "hw slowdown", "power_brake", "power brake")
_LOW_RATIO = 0.85
_HOTTEST_C = 105.0
"""Where AMD's GPUs slow down by the hottest spot of their die; others stop before."""


def _check(facts: Facts) -> Iterator[Finding]:
    hot: list[Fact] = [
        one for one in facts.of(GpuThrottle)
        if one.active and any(word in one.reason.lower().replace(" ", "_").replace("__", "_")
                              or word in one.reason.lower() for word in _HEAT)
    ]  # fmt: skip
    slow = _slow(facts)
    if hot:
        yield finding(
            "gpu-thermal-throttle",
            [*hot, *slow],
            0.9 if slow else 0.75,
            severity=Severity.ERROR if slow else Severity.WARNING,
            subject=", ".join(dict.fromkeys(str(getattr(one, "gpu", "")) for one in hot)),
            message="GPUs run below their clock because of heat",
            advice="look at fans, inlet temperature and dust; drain the host until it is cool",
            next_command="nvidia-smi -q -d PERFORMANCE,TEMPERATURE,CLOCK",
            missing=() if slow else ("clocks under load",),
        )
    elif limit := _at_limit(facts):
        yield finding(
            "gpu-thermal-throttle",
            limit,
            0.5,
            severity=Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.gpu for one in limit)),
            message="GPUs are as hot as they may become: their clocks are lowered there",
            advice="look at fans, inlet temperature and dust; drain the host until it is cool",
            next_command="amd-smi metric --throttle --temperature --clock",
            missing=("the limit of this GPU, and its clocks under load",),
        )


def _at_limit(facts: Facts) -> list[GpuReading]:
    return [
        one for one in facts.of(GpuReading)
        if one.name == "temperature" and one.unit == "°C" and (one.value or 0) >= _HOTTEST_C
    ]  # fmt: skip


def _slow(facts: Facts) -> list[Fact]:
    clocks = {one.gpu: one for one in facts.of(GpuReading) if one.name == "sm_clock"}
    most = {one.gpu: one for one in facts.of(GpuReading) if one.name == "sm_clock_max"}
    return [
        one for gpu, one in clocks.items()
        if one.value and gpu in most and one.value < _LOW_RATIO * (most[gpu].value or 0)
    ]  # fmt: skip


gpu_throttle = Rule(causes=("gpu-thermal-throttle",), check=_check)

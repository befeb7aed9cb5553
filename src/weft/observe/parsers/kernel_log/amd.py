"""AMD GPUs: faults and heat."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuFault, GpuThrottle
from weft.observe.parsers.kernel_log.gpus import off_bus
from weft.observe.parsers.kernel_log.lines import host_of
from weft.observe.patterns import Line, pattern


def _amd(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a fault of an AMD GPU under the code that means the same of NVIDIA's."""
    between = "xgmi" in line.text.lower()
    code = 62 if "uncorrectable" not in found["text"] else 74 if between else 95
    return (
        GpuFault(
            code=code, bus_id=found["bus"], text=found["text"], fatal=True, host=host_of(line),
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _hot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        GpuThrottle(
            gpu=found["bus"], reason="thermal", active=True, host=host_of(line),
            evidence=line.evidence,
        ),
    )  # fmt: skip


PATTERNS = (
    pattern(
        "amdgpu ",
        r"amdgpu (?P<bus>[0-9a-fA-F:.]{7,13}): (?:amdgpu: )?(?P<text>device lost from bus).*",
        off_bus,
    ),
    pattern(
        "amdgpu ",
        r"amdgpu (?P<bus>[0-9a-fA-F:.]{7,13}): (?:amdgpu: )?.{0,20}GPU over temperature",
        _hot,
    ),
    pattern(
        "amdgpu ",
        r"amdgpu (?P<bus>[0-9a-fA-F:.]{7,13}): amdgpu: (?P<text>GPU reset begin|"
        r"\S+ ring timeout|.{0,60}uncorrectable hardware errors?).*",
        _amd,
    ),
)

"""Memory: the contiguous area, and processes killed for want of memory."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import HostMemory
from weft.observe.facts.programs import ProcessEnded
from weft.observe.parsers._values import integer
from weft.observe.parsers.kernel_log.lines import host_of
from weft.observe.patterns import Line, nothing, pattern


def _cma(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the contiguous area that the kernel set aside when it started."""
    area_bytes = int(found["mib"]) << 20
    return (
        HostMemory(
            name="CmaTotal", size_bytes=area_bytes, host=host_of(line), evidence=line.evidence
        ),
    )


def _no_total(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the kernel could set no contiguous area aside when it started."""
    del found
    return (
        HostMemory(name="CmaTotal", size_bytes=0, host=host_of(line), evidence=line.evidence),
    )


def _no_area(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the contiguous area could not give what was asked of it."""
    del found
    return (
        HostMemory(name="CmaFree", size_bytes=0, host=host_of(line), evidence=line.evidence),
    )


def _killed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ProcessEnded(
            how="oom",
            by_kernel=True,
            pid=integer(found["pid"]),
            name=found["name"],
            signal=9,
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


PATTERNS = (
    pattern("active_", r"active_(?:anon|file):\d{1,12} ", nothing),
    pattern("cma: Reserved ", r"cma: Reserved (?P<mib>\d{1,9}) MiB", _cma),
    pattern("cma: Failed to reserve", r"cma: Failed to reserve \d{1,9} [KM]iB", _no_total),
    pattern("CONFIG_CMA is not", r"CONFIG_CMA is not set", _no_total),
    pattern("CONFIG_DMA_CMA is not", r"CONFIG_DMA_CMA is not set", _no_total),
    pattern("cma_alloc", r"cma_alloc.{0,60}alloc failed", _no_area),
    pattern(
        "Killed process",
        r"Killed process (?P<pid>\d+)[, ]*\(?(?P<name>[^),]*)",
        _killed,
    ),
)

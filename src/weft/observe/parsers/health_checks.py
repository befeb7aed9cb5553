"""Node health checks that clouds and sites run: LBNL NHC and Azure's tests on top of it.

A line says which check failed and why; the words after it are the check's own.
"""

import re
from collections.abc import Callable, Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuThrottle, GpuUnreachable, RemappedRows
from weft.observe.facts.programs import Message
from weft.observe.facts.verbs import AdapterEvent
from weft.observe.parser import Parser
from weft.observe.parsers._watches import Alarm, stated
from weft.observe.patterns import Line, nothing, pattern, table

_GPU = re.compile(r"\bGPU (?:[Ii]d )?(\d{1,3})\b")
_Build = Callable[["re.Match[str]", str, Line], Sequence[Fact]]


def _rows(found: re.Match[str], gpu: str, line: Line) -> Sequence[Fact]:
    failed = "pending" not in found[0].lower()
    return (
        RemappedRows(
            gpu=gpu, pending=not failed, failed=failed, host=line.host, evidence=line.evidence
        ),
    )


def _lost(found: re.Match[str], gpu: str, line: Line) -> Sequence[Fact]:
    del gpu
    return (GpuUnreachable(error=found[0], host=line.host, evidence=line.evidence),)


def _hot(found: re.Match[str], gpu: str, line: Line) -> Sequence[Fact]:
    del found
    return (
        GpuThrottle(
            gpu=gpu, reason="thermal", active=True, host=line.host, evidence=line.evidence
        ),
    )


def _flapping(found: re.Match[str], gpu: str, line: Line) -> Sequence[Fact]:
    del gpu
    return tuple(
        AdapterEvent(
            event="port error, again and again", on="port", adapter=name.strip("."),
            evidence=line.evidence,
        )
        for name in (found["names"] or "").replace(",", " ").split() or [""]
    )  # fmt: skip


_SORTS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (re.compile(r"fallen off the bus"), _lost),
    (
        re.compile(
            r"Row remap (?:pending|error|uncorrectable)|High (?:DRAM|SRAM) [\w/]{0,30} ?ECC|"
            r"SRAM Uncorrectable ECC error"
        ),
        _rows,
    ),
    (re.compile(r"[Tt]hermal ?(?:[Ss]lowdown|violation)|thermal_slowdown"), _hot),
    (re.compile(r"link flapping.{0,120}?Devices?: (?P<names>[\w ,.-]{1,200}?)\. "), _flapping),
)


def _check(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = found["text"]
    gpu = _GPU.search(text)
    known = stated(Alarm(text, line.host, line.evidence, line.moment))
    if known:
        return known
    for expression, build in _SORTS:
        said = expression.search(text)
        if said:
            return build(said, gpu[1] if gpu else "", line)
    return (
        Message(
            software="health check",
            level="error",
            text=text.strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


health_checks = Parser(
    tool="node health checks",
    marks=(
        "Health check failed:",
        "Health check passed:",
        " nhc:",
        "FaultCode:",
        "check_hw_ib",
    ),
    reader=table(
        pattern("Health check failed:", r"Health check failed: +(?P<text>\S.*)", _check),
        pattern("Health check passed:", r"Health check passed:", nothing),
        pattern("check_hw_ib", r"(?P<text>check_hw_ib: +(?:No IB|IB port).*)", _check),
        pattern("check_", r"(?P<text>check_\w+: .*FaultCode: ?NHC\d.*)", _check),
        pattern(" nhc:", r" nhc:", nothing),
    ),
    rank=37,
)

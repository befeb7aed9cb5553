"""DCGM: what its health watch, diagnostics and host engine say of GPUs.

``dcgmi health -c``, ``dcgmi diag``, ``nv-hostengine.log``: sentences, whatever the frame.
"""

import re
from collections.abc import Sequence

from weft.observe.facts import Fact, GpuFault, GpuLinkErrors, GpuThrottle, RemappedRows
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import integer
from weft.observe.patterns import Line, nothing, words

_GPU = re.compile(r"\bGPU:? (?:ID:? )?(\d{1,3})\b")
_THERMAL = re.compile(
    r"clocks? (?:event|throttl\w+)(?: occurred)?(?: due to| .{0,30}because of) "
    r"(?P<why>thermal|power) violation|(?P<brake>HW (?:thermal|power brake) slowdown)|"
    r"(?:thermal|temperature) violation(?P<bare>)",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:no|0|without|none)\b (?:\w+ ){0,2}(?:X[Ii][Dd]|row ?remap|remapped|violation|"
    r"NVLink|NvLink|double|uncorrectable|volatile)",
    re.IGNORECASE,
)
_XID = re.compile(
    r"(?:Detected|detected|with) (?:an? )?(?:critical )?X[Ii][Dd](?: error)?:? (\d{1,3})"
)
_LOST = re.compile(r"GPU .{0,40}(?:is lost|fallen off the bus|inaccessible)", re.IGNORECASE)
_MEMORY = re.compile(
    r"row ?remap\w* (?:failure|pending)|remapped row.{0,30}(?:fail|pending)|"
    r"(?:volatile|aggregate)? ?(?:double.bit|DBE|uncorrectable)\w* .{0,40}(?:detected|in GPU)|"
    r"Detected \d+ volatile double-bit",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"Detected (?P<count>\d+) (?:NvLink|NVLink) .{0,20}?errors?|NvLink link (?P<link>"
    r"\d+) is (?:currently )?down|"
    r"NVLink .{0,40}(?:is down|inactive)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\s*(?:[|+].*(?:Overall Health|Health Monitor|Diagnostic|Result|Warning|Pass|Fail|Skip|"
    r"Integration|Hardware|Stress|Deployment|Metadata)|\w+ \[\d+:\d+\] \[\[)"
)


def _gpu(line: Line) -> str:
    named = _GPU.search(line.text)
    return named[1] if named else ""


def _throttle(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if (found["why"] or "").lower() == "power":
        return READ
    return (
        GpuThrottle(
            gpu=_gpu(line), reason="thermal", active=True, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _xid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_fault(int(found[1]), found[0], line),)


def _lost(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_fault(79, found[0], line),)


def _fault(code: int, text: str, line: Line) -> GpuFault:
    gpu = _gpu(line)
    return GpuFault(
        code=code, text=text[:200], fatal=True, host=line.host,
        bus_id=f"GPU {gpu}" if gpu else "", moment=line.moment, evidence=line.evidence,
    )  # fmt: skip


def _memory(found: re.Match[str], line: Line) -> Sequence[Fact]:
    failed = "fail" in found[0].lower()
    return (
        RemappedRows(
            gpu=_gpu(line), pending=not failed, failed=failed, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _link(found: re.Match[str], line: Line) -> Sequence[Fact]:
    count = integer(found["count"]) or 0
    return (
        GpuLinkErrors(
            gpu=_gpu(line), link=integer(found["link"]),
            counter="recovery" if count else "down", value=count or 1, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


dcgm = Parser(
    tool="DCGM",
    marks=(
        "Detected",
        "detected",
        "[[Health]]",
        "Overall Health",
        "dcgm",
        "DCGM",
        "Diagnostic  ",
    ),
    reader=words(
        (_NONE, nothing),
        (_THERMAL, _throttle),
        (_XID, _xid),
        (_LOST, _lost),
        (_MEMORY, _memory),
        (_LINK, _link),
        (_FRAME, nothing),
    ),
    rank=39,
    longest=1024,
)

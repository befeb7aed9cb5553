"""DCGM: what its health watch, diagnostics and host engine say of GPUs.

``dcgmi health -c``, ``dcgmi diag``, ``nv-hostengine.log``: sentences, whatever the frame.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import Fact, GpuFault, GpuLinkErrors, GpuThrottle, RemappedRows
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_GPU = re.compile(r"\bGPU:? (?:ID:? )?(\d{1,3})\b")
_THERMAL = re.compile(
    r"clocks? (?:event|throttl\w+)(?: occurred)?(?: due to| .{0,30}because of) "
    r"(?P<why>thermal|power) violation|(?P<brake>HW (?:thermal|power brake) slowdown)|"
    r"(?:thermal|temperature) violation(?P<bare>)",
    re.IGNORECASE,
)
_XID = re.compile(r"(?:Detected|detected|with) (?:an? )?(?:critical )?X[Ii][Dd](?: error)?:? (\d{1,3})")
_LOST = re.compile(r"GPU .{0,40}(?:is lost|fallen off the bus|inaccessible)", re.IGNORECASE)
_MEMORY = re.compile(
    r"row ?remap\w* (?:failure|pending)|remapped row.{0,30}(?:fail|pending)|"
    r"(?:volatile|aggregate)? ?(?:double.bit|DBE|uncorrectable)\w* .{0,40}(?:detected|in GPU)|"
    r"Detected \d+ volatile double-bit",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"Detected (?P<count>\d+) (?:NvLink|NVLink) .{0,20}?errors?|NvLink link (?P<link>\d+) is (?:currently )?down|"
    r"NVLink .{0,40}(?:is down|inactive)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"\s*(?:[|+].*(?:Overall Health|Health Monitor|Diagnostic|Result|Warning|Pass|Fail|Skip|"
    r"Integration|Hardware|Stress|Deployment|Metadata)|\w+ \[\d+:\d+\] \[\[)"
)
_HINT = ("violation", "slowdown", "XID", "Xid", "lost", "bus", "inaccessible", "emap", "DBE",
         "ouble-bit", "ncorrectable", "Link", "LINK")  # fmt: skip
_TRUST = re.compile(r"\bDetected\b|\bdetected\b|[Hh]ealth|DCGM|dcgm|\|.*\||\bGPU\b")

_Build = Callable[["re.Match[str]", str, str, Source, int], Sequence[Fact]]


def _throttle(
    found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    if (found["why"] or "").lower() == "power":
        return READ
    return (
        GpuThrottle(
            gpu=gpu, reason="thermal", active=True, host=source.host,
            evidence=source.evidence(text, number),
        ),
    )  # fmt: skip


def _fault(
    code: int, found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    return (
        GpuFault(
            code=code, text=found[0][:200], fatal=True, host=source.host,
            bus_id=f"GPU {gpu}" if gpu else "", moment=moment(text),
            evidence=source.evidence(text, number),
        ),
    )  # fmt: skip


def _xid(
    found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    return _fault(int(found[1]), found, gpu, text, source, number)


def _lost(
    found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    return _fault(79, found, gpu, text, source, number)


def _memory(
    found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    failed = "fail" in found[0].lower()
    evidence = source.evidence(text, number)
    return (
        RemappedRows(gpu=gpu, pending=not failed, failed=failed, host=source.host,
                     evidence=evidence),
    )  # fmt: skip


def _link(
    found: "re.Match[str]", gpu: str, text: str, source: Source, number: int
) -> Sequence[Fact]:
    count = integer(found["count"]) or 0
    return (
        GpuLinkErrors(
            gpu=gpu, link=integer(found["link"]), counter="recovery" if count else "down",
            value=count or 1, host=source.host, evidence=source.evidence(text, number),
        ),
    )  # fmt: skip


_SORTS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (_THERMAL, _throttle),
    (_XID, _xid),
    (_LOST, _lost),
    (_MEMORY, _memory),
    (_LINK, _link),
)


@dataclass(slots=True)
class _Reader:
    """Reads sentences, and the frames around them."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what a sentence tells of a GPU."""
        if any(word in text for word in _HINT) and _TRUST.search(text):
            named = _GPU.search(text)
            for expression, build in _SORTS:
                found = expression.search(text)
                if found:
                    return build(found, named[1] if named else "", text, self.source, number)
        return READ if _FRAME.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


dcgm = Parser(
    tool="DCGM",
    marks=("Detected", "detected", "[[Health]]", "Overall Health", "dcgm", "DCGM", "Diagnostic  "),
    reader=_Reader,
    rank=39,
    longest=1024,
)

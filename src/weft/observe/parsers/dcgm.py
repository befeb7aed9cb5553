"""DCGM: what its health watch, diagnostics and host engine say of GPUs.

``dcgmi health -c``, ``dcgmi diag``, ``nv-hostengine.log``: sentences, whatever the frame.
"""

import re
from collections.abc import Sequence

from weft.observe.facts import (
    Fact,
    GpuFault,
    GpuLinkErrors,
    GpuThrottle,
    Message,
    PcieLink,
    RemappedRows,
    ScaleUpSwitchFault,
    ServiceState,
)
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
_EXPORTED = re.compile(
    r"DCGM_FI_DEV_XID_ERRORS\{[^}]*gpu=\"(?P<gpu>\d+)\"[^}]*\} (?P<code>[1-9]\d{0,2})(?:\.0)?\b"
)
_XID = re.compile(
    r"(?:Detected|detected|with) (?:an? )?(?:critical )?X[Ii][Dd](?: error)?:? (\d{1,3})"
)
_LOST = re.compile(r"GPU .{0,40}(?:is lost|fallen off the bus|inaccessible)", re.IGNORECASE)
_MEMORY = re.compile(
    r"row ?remap\w* (?:are )?(?:failure|pending|failed)|remapped row.{0,30}(?:fail|pending)|"
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
_TOO_FEW = re.compile(r"(?P<text>Only \d+ NvLinks are up out of the expected \d+)")
_NOT_WRITTEN = re.compile(
    r"(?P<text>GPU \d+ (?:was unsuccessfully written to|unsuccessfully wrote data).{0,20}"
    r"GPU \d+ over NVLink)"
)
_OF_SWITCH = re.compile(
    r"Detected (?P<kind>fatal|nonfatal) errors on NvSwitch (?P<switch>\d+) link (?P<link>\d+)|"
    r"Detected fatal NvSwitch SXID (?P<code>\d+)"
)
_WIDTH = re.compile(
    r"GPU (?P<gpu>\d+) is running at PCI link width (?P<lanes>\d+)X, which is below the "
    r"minimum allowed link \w+ of (?P<most>\d+)"
)
_SERVICE = re.compile(
    r"(?P<manager>Fabric Manager) \(Cluster UUID.*\): (?P<text>.{0,80})|"
    r"IMEX (?P<what>\w+) status is (?P<state>\w+)"
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


def _exported(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_fault(int(found["code"]), found[0], line),)


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


def _said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="DCGM", level="error", text=found["text"], moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _switch(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ScaleUpSwitchFault(
            code=integer(found["code"]) or 0, switch=found["switch"] or "",
            fatal=found["kind"] != "nonfatal", link=integer(found["link"]),
            text=found[0], host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


def _narrow(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        PcieLink(
            device=f"GPU {found['gpu']}", name="GPU", lanes=int(found["lanes"]),
            max_lanes=int(found["most"]), host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


_WELL = frozenset({"up", "ok", "healthy", "ready"})


def _service(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if found["manager"]:
        name, text = "nvidia-fabricmanager", found["text"].lower()
        state = "failed" if "fail" in text else "activating" if "progress" in text else ""
    else:
        name, state = f"imex {found['what'].lower()}", found["state"].lower()
    if not state or state in _WELL:
        return READ
    return (
        ServiceState(
            service=name, state=state, text=found[0][:200], host=line.host,
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
        "NvLink",
        "over NVLink",
        "thermal violations",
        "row remapp",
        "PCI link width",
        "Clique ID",
        "IMEX ",
        "fallen off",
    ),
    reader=words(
        (_EXPORTED, _exported),
        (_NONE, nothing),
        (_THERMAL, _throttle),
        (_XID, _xid),
        (_LOST, _lost),
        (_MEMORY, _memory),
        (_LINK, _link),
        (_TOO_FEW, _said),
        (_NOT_WRITTEN, _said),
        (_OF_SWITCH, _switch),
        (_WIDTH, _narrow),
        (_SERVICE, _service),
        (_FRAME, nothing),
    ),
    rank=39,
    longest=1024,
)

"""DCGM: what its health watch, diagnostics and host engine say of GPUs.

``dcgmi health -c``, ``dcgmi diag``, ``nv-hostengine.log``: sentences, whatever the frame.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCopy
from weft.observe.facts.gpus import (
    GpuFault,
    GpuLink,
    GpuLinkErrors,
    GpuThrottle,
    RemappedRows,
    ScaleUpFabricState,
    ScaleUpSwitchFault,
)
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.pci import PcieError, PcieLink
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Reader, Source
from weft.observe.parsers._values import integer
from weft.observe.patterns import Build, Line, nothing, words

_GPU = re.compile(r"\bGPU:? ?(?:ID:? )?(\d{1,3})(?!\d)")
_THERMAL = re.compile(
    r"clocks? (?:event|throttl\w+)(?: occurred)?(?: due to| .{0,30}because of) "
    r"(?P<why>thermal|power) violation|(?P<brake>HW (?:thermal|power brake) slowdown)|"
    r"(?:thermal|temperature) violation(?P<bare>)",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"(?<![.\w])(?:no|0|without|none)\b (?:\w+ ){0,2}(?:X[Ii][Dd]|row ?remap|remapped|"
    r"violation|NVLink|NvLink|double|uncorrectable|volatile)",
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
    r"(?:volatile|aggregate)? ?(?:double.bit|DBE|uncorrectable(?! nvlink))\w* "
    r"(?!nvlink).{0,40}(?:detected|in GPU)|"
    r"Detected \d+ volatile double-bit",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"Detected (?P<count>\d+) (?:\w[\w ]{0,60} )?N[vV][lL]ink .{0,20}?errors?|"
    r"N[vV][lL]ink link (?P<link>\d+) is (?:currently )?down|"
    r"N[vV][lL]ink .{0,40}(?:is down|inactive)",
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


def _loose(words: str) -> re.Pattern[str]:
    """Return an expression that finds words also where a frame took spaces from between them.

    >>> bool(_loose("link is down").search("linkis down"))
    True
    """
    return re.compile(words.replace(" ", " ?"), re.IGNORECASE)


_REPLAYS = _loose(r"more than (?P<most>\d+) PCIe replays|PCIe replay violation")
_NARROW = _loose(
    r"GPU (?P<gpu>\d+) is running at PCI link (?P<what>width|generation) (?P<now>\d+)X?, which "
    r"is below the minimum allowed link \w+ of (?P<most>\d+)"
)
_COPY = _loose(
    r"Bandwidth of GPU (?P<gpu>\d+) in direction (?P<way>[dh]2[dh]) of (?P<now>[\d.]+) did not "
    r"exceed minimum required bandwidth of (?P<least>[\d.]+)"
)
_CONTAINED = _loose(r"GPU had (?:a|an) (?P<un>un)?contained error")
_BAD_MEMORY = _loose(
    r"retired page has been detected|pages? (?:due to DBEs )?have been detected|"
    r"Pending page retirements together|faulty memory elements|double-bit ECC error has|"
    r"memory mismatch was detected|SRAM Threshold Count exceeded|uncorrectable row remap limit|"
    r"row remapping(?P<failed> failed)|row remappings are pending"
)
_TOO_HOT = _loose(
    r"exceeded .{0,20}maximum allowed temperature|"
    r"thermal violations totaling|clocks event due to thermal violation"
)
_BIT_ERRORS = _loose(
    r"(?:effective|symbol) BER [\d.e+-]+ exceeds minimum threshold on GPU|"
    r"NvLink errors found occurr?ing per second|NvLink errors on GPU \d+'s NVLink \(should be 0"
)
_LINK_DOWN = _loose(r"GPU (?P<gpu>\d+)'s NvLink link (?P<link>\d+) is (?:currently )?down")
_SWITCH_LINK = _loose(
    r"NvSwitch (?:physical ID )?(?P<switch>\d+)(?:'s NvLink (?:port )?(?P<link>\d+) is "
    r"(?:currently )?down| - Only \d+ NvLinks are up)"
)
_PEER = _loose(
    r"GPU \d+ (?:was unsuccessfully written to by|unsuccessfully wrote data to) GPU \d+"
    r"(?! over NVLink).{0,12}in a peer-to-peer test"
)
_PROBE = _loose(r"GPU (?P<gpu>\d+): Fabric State is (?P<state>[A-Za-z ]+?) \(\d+\)")
_RECOVERY = _loose(
    r"Recovery action: \d+ \((?:GPU_RESET|NODE_REBOOT|DRAIN_P2P|DRAIN_AND_RESET)\)"
)
_SERVICE = re.compile(
    r"(?P<manager>Fabric Manager) \(Cluster UUID.*\): (?P<text>.{0,80})|"
    r"IMEX (?P<what>\w+) status is (?P<state>\w+)"
)
_FRAME = re.compile(
    r"(?<!\s)\s*(?:[|+].*(?:Overall Health|Health Monitor|Diagnostic|Result|Warning|Pass|Fail|"
    r"Skip|Integration|Hardware|Stress|Deployment|Metadata)|\w+ \[\d+:\d+\] \[\[)"
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
    if found["link"]:
        return (_off(_gpu(line), int(found["link"]), line),)
    if found["count"] is None:
        return (_link_errors("down", 1, line),)
    count = int(found["count"])
    return (_link_errors("recovery", count, line),) if count else READ


def _off(gpu: str, link: int, line: Line) -> GpuLink:
    return GpuLink(gpu=gpu, link=link, active=False, host=line.host, evidence=line.evidence)


def _link_errors(counter: str, value: int, line: Line) -> GpuLinkErrors:
    return GpuLinkErrors(
        gpu=_gpu(line), link=None, counter=counter, value=value, host=line.host,
        evidence=line.evidence,
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
    """State a link of a GPU that is narrower, or slower, than a diagnosis allows."""
    now, most = int(found["now"]), int(found["most"])
    link = PcieLink(
        device=f"GPU {found['gpu']}", name="GPU", lanes=now, max_lanes=most, host=line.host,
        evidence=line.evidence,
    )  # fmt: skip
    if found["what"].lower() == "width":
        return (link,)
    return (_error("generation", line), _said_so("slow PCI link", line))


def _error(kind: str, line: Line) -> PcieError:
    return PcieError(
        device=f"GPU {_gpu(line)}", kind=kind, text=line.text.strip()[:200], host=line.host,
        moment=line.moment, evidence=line.evidence,
    )  # fmt: skip


def _said_so(text: str, line: Line) -> Message:
    return Message(
        software="DCGM", level="error", text=text, moment=line.moment, evidence=line.evidence
    )


def _replays(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (_error("replays", line),)


def _slow_copy(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        _error("slow copies", line),
        MeasuredCopy(
            test=f"dcgmi diag {found['way'].lower()}", source="host",
            target=f"GPU {found['gpu']}", bytes_per_s=float(found["now"]) * _GIGA,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _contained(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_fault(_UNCONTAINED if found["un"] else _CONTAINED_CODE, found[0], line),)


def _bad_memory(found: re.Match[str], line: Line) -> Sequence[Fact]:
    failed = bool(found["failed"])
    return (
        RemappedRows(
            gpu=_gpu(line), pending=not failed, failed=failed, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _too_hot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (
        GpuThrottle(
            gpu=_gpu(line), reason="thermal", active=True, host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _bit_errors(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (_link_errors("recovery", 1, line),)


def _link_down(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_off(found["gpu"], int(found["link"]), line),)


def _switch_link(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (_said_so(f"nvlink inactive: {line.text.strip()[:150]}", line),)


def _peer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_said_so(f"p2p verification error: {found[0]}", line),)


def _probe(found: re.Match[str], line: Line) -> Sequence[Fact]:
    word = found["state"].lower().replace(" ", "")
    if word in {"success", "completed", "notsupported"}:
        return READ
    return (
        ScaleUpFabricState(
            gpu=f"GPU {found['gpu']}", state=_PROBES.get(word, "completed"),
            status=found["state"], evidence=line.evidence,
        ),
    )  # fmt: skip


def _recovery(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_fault(_RECOVERY_CODE, found[0], line),)


_GIGA = 1e9
_CONTAINED_CODE, _UNCONTAINED, _RECOVERY_CODE = 94, 95, 154
_PROBES = {"notstarted": "not started", "inprogress": "in progress"}
_LOOSE: tuple[tuple[re.Pattern[str], Build], ...] = (
    (_LINK_DOWN, _link_down),
    (_SWITCH_LINK, _switch_link),
    (_BIT_ERRORS, _bit_errors),
    (_NARROW, _narrow),
    (_REPLAYS, _replays),
    (_COPY, _slow_copy),
    (_CONTAINED, _contained),
    (_BAD_MEMORY, _bad_memory),
    (_TOO_HOT, _too_hot),
    (_PEER, _peer),
    (_PROBE, _probe),
    (_RECOVERY, _recovery),
)
_WELL = frozenset({"up", "ok", "healthy", "ready"})


def _service(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if found["manager"]:
        name, text = "nvidia-fabricmanager", found["text"].lower()
        waits = "progress" in text or "not started" in text
        state = "failed" if "fail" in text else "activating" if waits else ""
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


_LINES = words(
    (_EXPORTED, _exported),
    (_NONE, nothing),
    (_LINK_DOWN, _link_down),
    (_THERMAL, _throttle),
    (_XID, _xid),
    (_LOST, _lost),
    (_SWITCH_LINK, _switch_link),
    (_MEMORY, _memory),
    (_BIT_ERRORS, _bit_errors),
    (_LINK, _link),
    (_TOO_FEW, _said),
    (_NOT_WRITTEN, _said),
    (_OF_SWITCH, _switch),
    *_LOOSE,
    (_SERVICE, _service),
    (_FRAME, nothing),
)
_ROW = re.compile(r"\s*\|(?P<left>[^|]{0,60})\|(?P<right>[^|]{0,400})\|\s*$")


@dataclass(slots=True)
class _DcgmReader:
    """Reads sentences, also those that a frame cuts into rows at any letter."""

    source: Source
    lines: Reader = field(init=False)
    cell: str = ""
    at: tuple[str, int] = ("", 0)
    told: bool = False

    def __post_init__(self) -> None:
        """Begin to read lines."""
        self.lines = _LINES(self.source)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line, and of the cell that ended before it."""
        row = _ROW.match(text)
        done = self._close() if not row or row["left"].strip() else READ
        facts = self.lines.take(text, number)
        if row:
            if not self.cell:
                self.at = (text, number)
            self.cell = (self.cell + row["right"].strip())[:_LONGEST_CELL]
            self.told = self.told or bool(facts)
        return facts if not done else (*done, *(facts or READ))

    def end(self) -> Iterable[Fact]:
        """State what the last cell says."""
        return self._close()

    def _close(self) -> Sequence[Fact]:
        cell, self.cell = self.cell, ""
        told, self.told = self.told, False
        if told or not cell:
            return READ
        line = Line(cell, self.at[1], self.source)
        for expression, build in _LOOSE:
            facts = [fact for one in expression.finditer(cell) for fact in build(one, line)]
            if facts:
                return facts
        return READ


_LONGEST_CELL = 8192
_MOST_SENTENCES, _LONGEST = 2000, 1024


def _sentences(value: object) -> Iterable[str]:
    """Return the texts of a document, at most so many as any host has."""
    waiting, told = [value], 0
    while waiting and told < _MOST_SENTENCES:
        one = waiting.pop()
        if isinstance(one, str):
            told += 1
            yield one
        elif isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Return what ``dcgmi health -j`` and ``dcgmi diag -j`` say."""
    if not isinstance(value, dict):
        return None
    named = any(str(key).startswith("DCGM ") for key in value)
    header = " ".join(_sentences(value.get("header")))
    if not named and not re.search(r"Health Monitor|Diagnostic|NVLINK", header):
        return None
    reader = _LINES(source)
    told = (reader.take(one[:_LONGEST], number) for one in _sentences(value))
    return [fact for facts in told for fact in facts or READ]


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
        "PCI link ",
        "Clique ID",
        "IMEX ",
        "fallen off",
        "PCIe replay",
        "Bandwidth of GPU",
        "contained error",
        "retired page",
        "double-bit ECC",
        "memory elements",
        "memory mismatch",
        "SRAM Threshold",
        "exceeded user",
        " BER ",
        "NvSwitch",
        "peer-to-peer test",
        "Fabric State",
        "Recovery action",
        "| Warning",
    ),
    reader=_DcgmReader,
    document=_document,
    rank=39,
    longest=_LONGEST,
)

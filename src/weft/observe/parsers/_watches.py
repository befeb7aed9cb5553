"""What watches over nodes complain of, in sentences that several of them share.

gpud, NVSentinel, the node problem detector and the health checks of sites each frame a
sentence in their own way: a line of text, a JSON event, the message of a node's condition.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact, Moment
from weft.observe.facts.gpus import GpuFault, GpuLinkErrors, GpuThrottle, RemappedRows
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.pci import PcieAccessControl, PcieError
from weft.observe.facts.programs import Message
from weft.observe.facts.verbs import AdapterEvent

_GPU = re.compile(r"\bGPU[ :]{0,2}(?P<index>\d{1,3})\b|\b(?P<uuid>GPU-[0-9a-fA-F-]{4,40})")
_ADAPTER = re.compile(
    r"\b(?:mlx[45]_\w+|bnxt_re\w*|roce[po]\w+|rdmap\w+|irdma\w*|ionic_\w+|ib(?:s|p)?\d\w*)\b"
)
_CONDITIONAL = re.compile(r"\b(?:if|when|unless|whether|until|should|RESOLVED|resolved)\b")
_DEVICES = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d")


@dataclass(frozen=True, slots=True)
class Alarm:
    """One sentence: where it came from and when."""

    text: str
    host: str
    evidence: Evidence
    moment: Moment | None = None

    @property
    def gpu(self) -> str:
        """Return the GPU that the sentence names."""
        found = _GPU.search(self.text)
        return (found["index"] or found["uuid"]) if found else ""


_Build = Callable[["re.Match[str]", Alarm], tuple[Fact, ...]]


def _flapping(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    names = (found["names"] or found["one"] or "").replace(",", " ").split()
    return tuple(
        AdapterEvent(
            event="port error, again and again", on="port", adapter=name, moment=said.moment,
            evidence=said.evidence,
        )
        for name in names
    )  # fmt: skip


def _told(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    """Keep the sentence: the rules know its words."""
    del found
    return (
        Message(
            software="health check", level="error", text=said.text.strip()[:300],
            moment=said.moment, evidence=said.evidence,
        ),
    )  # fmt: skip


def _alert(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    """State a port of which an alert, or a reason to drain a node, says that it is down."""
    del found
    if not _ADAPTER.search(said.text) or _CONDITIONAL.search(said.text):
        return ()
    return (
        Message(
            software="health check", level="error",
            text=f"rdma port is down: {said.text.strip()[-250:]}", moment=said.moment,
            evidence=said.evidence,
        ),
    )  # fmt: skip


def _fewer_gpus(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    """State that some GPUs of a node are gone; that none is there has many reasons."""
    there = int(found["a"] or found["c"] or found["f"] or found["h"])
    due = int(found["b"] or found["d"] or found["e"] or found["g"])
    if not 0 < there < due:
        return ()
    return (
        Message(
            software="health check", level="error", text=f"{there} of {due} GPUs are there",
            moment=said.moment, evidence=said.evidence,
        ),
    )  # fmt: skip


def _manager(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    return (
        ServiceState(
            service="nvidia-fabricmanager", state="failed", text=found[0][:200],
            host=said.host, evidence=said.evidence,
        ),
    )  # fmt: skip


def _redirecting(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    del found
    return tuple(
        PcieAccessControl(
            device=name, source_validation=True, host=said.host, evidence=said.evidence
        )
        for name in _DEVICES.findall(said.text)
    )


def _rows(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    failed = re.search(r"fail|RMA|LIMIT|UNCORRECTABLE_ROW", found[0]) is not None
    return (
        RemappedRows(
            gpu=said.gpu, pending=not failed, failed=failed, host=said.host,
            evidence=said.evidence,
        ),
    )  # fmt: skip


def _fault(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    code = int(found["code"] or found["named"] or found["first"])
    return (
        GpuFault(
            code=code, bus_id=f"GPU {said.gpu}" if said.gpu else "", text=said.text[:200],
            host=said.host, moment=said.moment, evidence=said.evidence,
        ),
    )  # fmt: skip


def _hot(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    del found
    return (
        GpuThrottle(
            gpu=said.gpu, reason="thermal", active=True, host=said.host, evidence=said.evidence
        ),
    )


def _link_down(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    del found
    return (
        GpuLinkErrors(
            gpu=said.gpu, link=None, counter="down", value=1, host=said.host,
            evidence=said.evidence,
        ),
    )  # fmt: skip


def _link_errs(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    del found
    return (
        GpuLinkErrors(
            gpu=said.gpu, link=None, counter="recovery", value=1, host=said.host,
            evidence=said.evidence,
        ),
    )  # fmt: skip


def _slow_copies(found: re.Match[str], said: Alarm) -> tuple[Fact, ...]:
    del found
    return (
        PcieError(
            device=f"GPU {said.gpu}", kind="slow copies", text=said.text.strip()[:200],
            host=said.host, moment=said.moment, evidence=said.evidence,
        ),
    )  # fmt: skip


_SORTS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (
        re.compile(
            r"flapping between ACTIVE<>DOWN: (?P<names>[\w, -]{1,200})|"
            r"\b(?P<one>[a-z]\w{2,30}) port \d+ down since \S+ \(and flapped back"
        ),
        _flapping,
    ),
    (
        re.compile(
            r"\b[a-z]\w{2,30} port \d+ down since \S+|device\(s\) down too long: \w|"
            r"only [1-9]\d* port\(s\) are active and|"
            r"only [1-9]\d* LinkUp (?:ports found|out of)|"
            r"[Pp]ort \w+ port \d+: state DOWN|\b(?:NIC|HCA|[Dd]evice) \w+ port \d+ is DOWN\b|"
            r"\bRDMA device \w+ (?:disappeared|is missing|vanished)"
        ),
        _told,
    ),
    (
        re.compile(
            r"\b(?:infiniband|ib|rdma|roce|hca)(?: (?:device|port|link)s?){1,2}\b"
            r"[^.\n]{0,60}?\b(?:(?<!not )(?<!longer )down|inactive|"
            r"not (?:in )?(?:the )?active)\b"
            r"(?![ _](?:count|event|error|threshold|time))",
            re.IGNORECASE,
        ),
        _alert,
    ),
    (
        re.compile(
            r"only 0 port\(s\) are active and >=|persistent D-state .{0,60}processes det"
        ),
        _told,
    ),
    (re.compile(r"changing its up status often"), _told),
    (
        re.compile(
            r"gpu count mismatch \(found (?P<a>\d+), expected (?P<b>\d+)\)|"
            r"gres/gpu count reported lower than configured \((?P<c>\d+) < (?P<d>\d+)\)|"
            r"(?:GPU|gpu)_?count: Expected to see (?P<e>\d+) but found (?P<f>\d+)|"
            r"GPU count mismatch: expected=(?P<g>\d+), (?:detected|topo)=(?P<h>\d+)"
        ),
        _fewer_gpus,
    ),
    (
        re.compile(
            r"fabric manager found but not active|"
            r"fabric manager supported but .{0,40}not found"
        ),
        _manager,
    ),
    (re.compile(r"ACS is enabled on the following PCI devices"), _redirecting),
    (
        re.compile(
            r"detected pending row remapping|qualifies for RMA \(row remapping failed|"
            r"DCGM_FR_(?:\w*ROW_REMAP\w*|VOLATILE_DBE\w*|DBE_\w+)"
        ),
        _rows,
    ),
    (
        re.compile(
            r"\bX[Ii][Dd] (?P<code>\d{1,3})(?:\.\d+)? ?\([^)]{1,80}\)(?: \w+){0,6} detected|"
            r"\bErrorCode:(?P<named>\d{1,3})\b(?=.{0,200}(?:Xid|XID|PCI:))|"
            r"Found [1-9]\d* Xid message\(s\): Xid (?P<first>\d{1,3}) "
            r"\((?:ISOLATE|RESET|REBOOT)"
        ),
        _fault,
    ),
    (
        re.compile(
            r"nvlink threshold violated|no GPUs report active nvlink|"
            r"no GPU pairs report NVLink P2P|Found [1-9]\d* inactive NVLink\(s\)"
        ),
        _told,
    ),
    (re.compile(r"DCGM_FR_NVLINK_DOWN\b"), _link_down),
    (
        re.compile(
            r"XGMI error count: [1-9]\d* on GPU|"
            r"NVLink errors detected: \d+ replay, [1-9]\d* recovery"
        ),
        _link_errs,
    ),
    (
        re.compile(r"(?:Host|Device) to (?:Host|Device) test on GPU \d+ failed\. Bandwidth"),
        _slow_copies,
    ),
    (
        re.compile(
            r"temperature is \d+ °?C exceeding the threshold|DCGM_FR_\w*THERMAL\w*|"
            r"hw slowdown events frequency .{0,90}exceeded threshold"
        ),
        _hot,
    ),
)


def stated(said: Alarm) -> tuple[Fact, ...]:
    """Return what a sentence of a watch states, nothing when it complains of nothing known."""
    for expression, build in _SORTS:
        found = expression.search(said.text)
        if found:
            return build(found, said)
    return ()

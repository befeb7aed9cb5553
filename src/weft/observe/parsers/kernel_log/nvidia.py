"""NVIDIA GPUs: numbered faults (Xid, SXid), their own processor, peer memory."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuFault, GpuUnreachable, ScaleUpSwitchFault
from weft.observe.facts.hosts import ModuleRefused
from weft.observe.facts.programs import Message
from weft.observe.parsers._values import integer
from weft.observe.parsers.kernel_log.gpus import off_bus
from weft.observe.parsers.kernel_log.lines import BUS, host_of
from weft.observe.patterns import Line, nothing, pattern

_LINK = re.compile(r"\b[Ll]ink (\d{1,3})\b")
_EARLIER = re.compile(r"caused by previous Xid (\d{1,3})")
_FATAL_CODES = frozenset({48, 64, 74, 79, 95, 119, 120, 140, 154})


def _xid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = found["text"].strip()
    link = _LINK.search(text) if "NVLink" in text or "link" in text else None
    before = _EARLIER.search(text)
    code = int(before[1] if before else found["code"])
    return (
        GpuFault(
            code=code,
            bus_id=(found["bus"] or "").removeprefix("PCI:"),
            text=text,
            pid=integer(found["pid"]),
            process_name=(found["name"] or "").strip("'<>").removeprefix("unknown"),
            link=int(link[1]) if link else None,
            fatal=_is_fatal(code, text),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _is_fatal(code: int, text: str) -> bool:
    """Return whether a fault is fatal: links of the fifth generation say it themselves."""
    if re.match(r"\w+ +Nonfatal\b", text):
        return False
    return code in _FATAL_CODES or re.match(r"\w+ +Fatal\b", text) is not None


def _sxid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = found["text"].strip()
    fatal = None if "atal" not in text[:12] else not text.lower().startswith("non")
    link = _LINK.search(text)
    return (
        ScaleUpSwitchFault(
            code=int(found["code"]),
            switch=found["switch"] or "",
            bus_id=found["bus"],
            fatal=fatal,
            link=int(link[1]) if link else None,
            text=text,
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ScaleUpSwitchFault(
            code=int(found["code"]),
            fatal=not found["kind"].startswith("non"),
            text=found["text"].strip(),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _driver(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the GPU driver says beside its numbered faults."""
    bus = BUS.search(line.text)
    if found["lost"]:
        return (
            GpuUnreachable(
                bus_id=bus[0] if bus else "", error=found["lost"], host=host_of(line),
                evidence=line.evidence,
            ),
        )  # fmt: skip
    return (
        Message(
            software="GPU driver",
            level="error",
            text=(found["service"] or found["link"]).strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _unregistered(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name="nvidia_peermem",
            reason=found["text"].strip(),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _peer_memory(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that memory of a GPU could not be mapped for an adapter."""
    return (
        Message(
            software="peer memory", level="error", text=found["text"].strip()[:300],
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_answer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a GPU's own processor is silent, as code 119 says where it is printed."""
    return (
        GpuFault(
            code=119, bus_id=found["gpu"] or "", text=found["text"], fatal=True,
            host=host_of(line), moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _to_reset(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a GPU must be reset before the driver goes on, as code 154 says."""
    return (
        GpuFault(
            code=154, bus_id=found["gpu"] or "", text="reset required", fatal=True,
            host=host_of(line), moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


PATTERNS = (
    pattern(
        "nvidia-nvswitch",
        r"(?P<switch>nvidia-nvswitch\d+): SXid \(PCI:(?P<bus>[0-9a-fA-F:.]+)\): (?P<code>\d+), "
        r"(?P<text>.*)",
        _sxid,
    ),
    pattern(
        "SXid (",
        r"SXid \(PCI:(?P<bus>[0-9a-fA-F:.]+)\): (?P<code>\d+), (?P<switch>)(?P<text>.*)",
        _sxid,
    ),
    pattern(
        "Xid (",
        r"Xid \((?:PCI:)?(?P<bus>[0-9a-fA-F:.]+)?[^)]*\): (?P<code>\d+)(?:, |: ?)?"
        r"(?:pid=(?P<pid>[^,]*), )?(?:name=(?P<name>[^,]*), )?(?P<text>.*)",
        _xid,
    ),
    pattern(
        "Xid ",
        r"Xid (?P<code>\d{1,3}) (?P<bus>(?:PCI:)?[0-9a-fA-F]{4}:[0-9a-fA-F:.]+) "
        r"(?:pid=(?P<pid>\d+)\b)?(?P<name>)(?P<text>.*)",
        _xid,
    ),
    pattern(
        "Xid 14",
        r"Xid (?P<bus>)(?P<code>14[4-9]), (?P<pid>)(?P<name>)"
        r"(?P<text>[A-Z]{2,8}_\w+ (?:Nonf|F)atal\b.*)",
        _xid,
    ),
    pattern(
        "detected NVSwitch",
        r"detected NVSwitch (?P<kind>non-fatal|fatal) error (?P<code>\d+)(?P<text>.*)",
        _manager,
    ),
    pattern(
        "NVRM: GPU ",
        r"NVRM: GPU (?:at PCI:)?(?P<bus>[0-9a-fA-F:.]+): (?P<text>GPU has fallen off "
        r"the bus.*)",
        off_bus,
    ),
    pattern(
        "fallen off the bus",
        r"(?P<text>fallen off the bus.*)(?P<bus>)",
        off_bus,
    ),
    pattern(
        "NVRM: GPU ",
        r"NVRM: GPU (?P<bus>[0-9a-fA-F:.]+): (?P<text>RmInitAdapter failed.*)",
        off_bus,
    ),
    pattern(
        "NVRM: ",
        r"NVRM: .{0,120}?(?:(?P<lost>GPU is lost|GPU lost from the bus|NV_ERR_GPU_IS_LOST)|"
        r"(?P<service>Abrupt nvidia-imex.*|nvidia-(?:fabricmanager|imex) daemon (?:shutdown "
        r"detected|has invoked robust channel recovery).*)|"
        r"(?P<link>NVLink: (?:Link training failed|[Ff]ailed to train).*|"
        r"Failed to activate link ?\d.*|"
        r"\S{0,60} ?[^\[]{0,100}\[NV_ERR_(?:FABRIC_|NVLINK_FABRIC)\w+\].*))",
        _driver,
    ),
    pattern(
        "NVRM: ",
        r"NVRM: (?:(?P<gpu>GPU\d+) )?.{0,80}?(?P<text>GSP Timeout|Heartbeat timed out|"
        r"heartbeat timed out|Timeout waiting for RPC (?:response )?from (?:GPU\d+ )?GSP|"
        r"GSP-RM unresponsive|"
        r"GSP core unresponsive|Failed to boot GSP|Max GSP-RM boot attempts)",
        _no_answer,
    ),
    pattern(
        "NVRM: ",
        r"NVRM: (?:(?P<gpu>GPU\d+) )?.{0,200}?\[?NV_ERR_RESET_REQUIRED\b",
        _to_reset,
    ),
    pattern("NVRM: ", r"NVRM: ", nothing),
    pattern(
        "nvidia-peermem ",
        r"nvidia-peermem nv_mem_client_init:\d+ ERROR .*?(?P<text>error while registering.*)",
        _unregistered,
    ),
    pattern(
        "nvidia-peermem ",
        r"nvidia-peermem \w+:\d+ ERROR (?P<text>.{0,80}while calling nvidia_p2p_dma_map_"
        r"pages.*)",
        _peer_memory,
    ),
    pattern("nvidia-peermem ", r"nvidia-peermem \w+:\d+ ERROR", nothing),
    pattern("nvidia-nvswitch", r"nvidia-nvswitch\d*: ", nothing),
)

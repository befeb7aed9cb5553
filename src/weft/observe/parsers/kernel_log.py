"""The kernel's log: ``dmesg``, ``/dev/kmsg``, syslog and ``journalctl -k``.

Only what bears on GPUs, adapters, PCI Express, memory and dead processes is stated.
"""

import re
from collections.abc import Sequence

from weft.observe.complaints import troubles
from weft.observe.facts.adapters import AdapterFault, CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import (
    GpuFault,
    GpuThrottle,
    GpuUnreachable,
    ScaleUpSwitchFault,
)
from weft.observe.facts.hosts import HostMemory, ModuleRefused, SecureBoot
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.pci import IommuState, PcieError, PcieLink
from weft.observe.facts.programs import Message, ProcessEnded, SoftwareVersion
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import integer, is_prose, real
from weft.observe.patterns import Line, nothing, pattern, table

_GIGA = 1e9
_BUS = re.compile(r"\b[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?\b")
_LINK = re.compile(r"\b[Ll]ink (\d{1,3})\b")
_HOST = re.compile(
    r"\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d)? (?P<host>[\w.-]+) (?:kernel|systemd|nvidia)"
)
_EARLIER = re.compile(r"caused by previous Xid (\d{1,3})")
_FATAL_CODES = frozenset({48, 64, 74, 79, 95, 119, 120, 140, 154})
_KINDS = (
    ("limits exceeded", "keys"),
    ("health", "health"),
    ("in error state", "health"),
    ("slot unavailable", "health"),
    ("device disabled", "health"),
    ("miss count", "health"),
    ("fatal", "health"),
    ("insufficient power", "power"),
    ("temperature", "temperature"),
    ("timeout", "timeout"),
    ("reset", "reset"),
    ("create_mkey", "keys"),
    ("async reg mr failed", "keys"),
    ("max_mr", "keys"),
    ("alloc mr", "keys"),
    ("allocate mr", "keys"),
)


_NAME_OF_A_BIT = re.compile(r"\[ ?\d+\] \w")
"""The bit of an error register, which the line above tells of."""
_RECOVERED = re.compile(
    r"non-?fatal reset|reset (?:done|complete|finished|succe|request(?:ed)? succe)|"
    r"requests max timeout"
)
"""A reset that an adapter came back from, and what a driver says of its patience."""


def _host(line: Line) -> str:
    found = _HOST.search(line.before[:200])
    return found["host"] if found else line.host


def _xid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = found["text"].strip()
    link = _LINK.search(text) if "NVLink" in text or "link" in text else None
    before = _EARLIER.search(text)
    code = int(before[1] if before else found["code"])
    return (
        GpuFault(
            code=code,
            bus_id=found["bus"] or "",
            text=text,
            pid=integer(found["pid"]),
            process_name=(found["name"] or "").strip("'<>").removeprefix("unknown"),
            link=int(link[1]) if link else None,
            fatal=_is_fatal(code, text),
            host=_host(line),
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
            host=_host(line),
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
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _driver(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the GPU driver says beside its numbered faults."""
    bus = _BUS.search(line.text)
    if found["lost"]:
        return (
            GpuUnreachable(
                bus_id=bus[0] if bus else "", error=found["lost"], host=_host(line),
                evidence=line.evidence,
            ),
        )  # fmt: skip
    return (
        Message(
            software="GPU driver",
            level="error",
            text=(found["imex"] or found["link"]).strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _unregistered(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name="nvidia_peermem",
            reason=found["text"].strip(),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _off_bus(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if is_prose(line.text):
        return ()
    return (
        GpuUnreachable(
            bus_id=found["bus"], error=found["text"], host=_host(line), evidence=line.evidence
        ),
    )


def _amd(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a fault of an AMD GPU under the code that means the same of NVIDIA's."""
    between = "xgmi" in line.text.lower()
    code = 62 if "uncorrectable" not in found["text"] else 74 if between else 95
    return (
        GpuFault(
            code=code, bus_id=found["bus"], text=found["text"], fatal=True, host=_host(line),
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_answer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a GPU's own processor is silent, as code 119 says where it is printed."""
    return (
        GpuFault(
            code=119, bus_id=found["gpu"] or "", text=found["text"], fatal=True,
            host=_host(line), moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _cma(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the contiguous area that the kernel set aside when it started."""
    area_bytes = int(found["mib"]) << 20
    return (
        HostMemory(
            name="CmaTotal", size_bytes=area_bytes, host=_host(line), evidence=line.evidence
        ),
    )


def _no_total(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the kernel could set no contiguous area aside when it started."""
    del found
    return (
        HostMemory(name="CmaTotal", size_bytes=0, host=_host(line), evidence=line.evidence),
    )


def _no_area(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the contiguous area could not give what was asked of it."""
    del found
    return (HostMemory(name="CmaFree", size_bytes=0, host=_host(line), evidence=line.evidence),)


def _adapter(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = found["text"].strip()
    low = text.lower()
    if _RECOVERED.search(low) or _NAME_OF_A_BIT.match(text):
        return READ
    kind = next((k for word, k in _KINDS if word in low), "command" if "failed" in low else "")
    if not kind:
        return ()
    groups = found.groupdict()
    return (
        AdapterFault(
            kind=kind,
            device=found["device"],
            text=text,
            command=groups.get("command") or "",
            status=(groups.get("status") or "").strip(),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _cable(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CableEvent(
            device=found["device"],
            module=integer(found["module"]),
            event=found["event"].strip().lower(),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _bandwidth(found: re.Match[str], line: Line) -> Sequence[Fact]:
    speed, lanes = real(found["speed"]), integer(found["lanes"])
    best = re.search(r"capable of [\d.]+ Gb/s with ([\d.]+) GT/s PCIe x(\d+)", line.text)
    before = _BUS.search(line.before)
    return (
        PcieLink(
            device=found.groupdict().get("device") or (before[0] if before else ""),
            lanes=lanes,
            transfers_per_s=None if speed is None else speed * _GIGA,
            max_lanes=int(best[2]) if best else None,
            max_transfers_per_s=float(best[1]) * _GIGA if best else None,
            downgraded="limited by" in line.text,
            host=_host(line),
            evidence=line.evidence,
        ),
    )


def _firmware(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        SoftwareVersion(
            software=f"firmware {found['device']}",
            version=found["version"],
            evidence=line.evidence,
        ),
    )


def _link_event(found: re.Match[str], line: Line) -> Sequence[Fact]:
    word = found["word"].lower()
    return (
        LinkEvent(
            interface=found["interface"],
            up=word.endswith(("up", "ready", "active")),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _carrier(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what the network service of a host says of a link."""
    return (
        LinkEvent(
            interface=found["interface"],
            up=found["word"] in {"Gained carrier", "link connected"},
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _killed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ProcessEnded(
            how="oom",
            by_kernel=True,
            pid=integer(found["pid"]),
            name=found["name"],
            signal=9,
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _aer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    low = found["text"].lower()
    severity = next(
        (
            s
            for s in ("uncorrected (fatal)", "uncorrected (non-fatal)", "corrected")
            if s in low
        ),
        "uncorrected" if "uncorrect" in low else "",
    )
    return (
        PcieError(
            device=found["device"],
            severity=severity,
            kind="aer",
            text=found["text"].strip(),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _slot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a driver finds its slot too slow for its adapter."""
    bus = _BUS.search(line.before)
    return (
        PcieError(
            device=bus[0] if bus else "", kind="slot", text=found["text"].strip(),
            host=_host(line), moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _iommu_fault(found: re.Match[str], line: Line) -> Sequence[Fact]:
    device = re.search(r"[0-9a-f]{2,4}:[0-9a-f]{2}[:.][0-9a-f]{1,2}(?:\.\d)?", found["text"])
    return (
        PcieError(
            device=device[0] if device else "",
            kind="iommu",
            text=found["text"].strip(),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _iommu(found: re.Match[str], line: Line) -> Sequence[Fact]:
    word = found["state"].lower()
    state = "passthrough" if "pass" in word else "on"
    return (IommuState(state=state, host=_host(line), evidence=line.evidence),)


def _symbol(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name=found["module"],
            reason=found["reason"].strip(),
            symbol=found["symbol"],
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_OF_MODULE = re.compile(r"(?P<module>\w{2,40}): $")


def _unlike_kernel(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a module that was built against other symbols than the kernel's own."""
    named = _OF_MODULE.search(line.before)
    if not named:
        return READ
    return (
        ModuleRefused(
            name=named["module"], reason="disagrees about version of symbol",
            symbol=found["symbol"], host=_host(line), moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _refused(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name=found["module"],
            reason=found["reason"].strip(" :'\""),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _secure_boot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        SecureBoot(
            enabled=found["state"].lower() == "enabled",
            host=_host(line),
            evidence=line.evidence,
        ),
    )


def _hung(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="kernel",
            level="error",
            text=found[0].strip(),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_BEFORE = re.compile(r"(?P<name>[\w./-]{1,60})\[(?P<pid>\d{1,8})\]: $")
_INTERFACE = re.compile(r"(?P<name>[\w.-]{1,32}):? ?$")


def _segfault_before(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    who = _BEFORE.search(line.before[-100:])
    return (
        ProcessEnded(
            how="segfault",
            by_kernel=True,
            pid=int(who["pid"]) if who else None,
            name=who["name"] if who else "",
            signal=11,
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _interface_before(found: re.Match[str], line: Line) -> Sequence[Fact]:
    who = _INTERFACE.search(line.before[-60:])
    return (
        LinkEvent(
            interface=who["name"] if who else "",
            up=found["word"].lower().endswith(("up", "ready")),
            host=_host(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _hot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        GpuThrottle(
            gpu=found["bus"], reason="thermal", active=True, host=_host(line),
            evidence=line.evidence,
        ),
    )  # fmt: skip


_DEVICE = r"(?P<device>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)"
_PATTERNS = (
    pattern(
        "disagrees about version",
        r"disagrees about version of symbol (?P<symbol>\w+)",
        _unlike_kernel,
    ),
    pattern("active_", r"active_(?:anon|file):\d{1,12} ", nothing),
    pattern("not enough MMIO", r"not enough MMIO resources for SR-IOV", _hung),
    pattern("can't enable", r"can't enable \d+ VFs.*", _hung),
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
        _off_bus,
    ),
    pattern(
        "fallen off the bus",
        r"(?P<text>fallen off the bus.*)(?P<bus>)",
        _off_bus,
    ),
    pattern(
        "NVRM: GPU ",
        r"NVRM: GPU (?P<bus>[0-9a-fA-F:.]+): (?P<text>RmInitAdapter failed.*)",
        _off_bus,
    ),
    pattern(
        "NVRM: ",
        r"NVRM: .{0,120}?(?:(?P<lost>GPU is lost|GPU lost from the bus|NV_ERR_GPU_IS_LOST)|"
        r"(?P<imex>Abrupt nvidia-imex.*)|"
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
    pattern("NVRM: ", r"NVRM: ", nothing),
    pattern(
        "nvidia-peermem ",
        r"nvidia-peermem nv_mem_client_init:\d+ ERROR .*?(?P<text>error while registering.*)",
        _unregistered,
    ),
    pattern("nvidia-peermem ", r"nvidia-peermem \w+:\d+ ERROR", nothing),
    pattern(
        "amdgpu ",
        r"amdgpu (?P<bus>[0-9a-fA-F:.]{7,13}): (?:amdgpu: )?(?P<text>device lost from bus).*",
        _off_bus,
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
    pattern("cma: Reserved ", r"cma: Reserved (?P<mib>\d{1,9}) MiB", _cma),
    pattern("cma: Failed to reserve", r"cma: Failed to reserve \d{1,9} [KM]iB", _no_total),
    pattern("CONFIG_CMA is not", r"CONFIG_CMA is not set", _no_total),
    pattern("CONFIG_DMA_CMA is not", r"CONFIG_DMA_CMA is not set", _no_total),
    pattern("cma_alloc", r"cma_alloc.{0,60}alloc failed", _no_area),
    pattern("Comm: ", r"Comm: ", nothing),
    pattern("Call Trace:", r"Call Trace:", nothing),
    pattern("Hardware name:", r"Hardware name:", nothing),
    pattern("nvidia-nvswitch", r"nvidia-nvswitch\d*: ", nothing),
    *(
        pattern(mark, rf"(?P<text>{mark}.*)", _slot)
        for mark in (
            "not sufficient for optimal performance",
            "insufficient for optimal performance",
            "PCIe BW is different than device",
        )
    ),
    pattern("PCIe Bus Error", r"(?P<device>)(?P<text>PCIe Bus Error: .*)", _aer),
    pattern("AMD-Vi: Event", r"AMD-Vi: (?P<text>Event.*)", _iommu_fault),
    pattern(
        "mlx5_core",
        rf"mlx5_core {_DEVICE}:? (?:\S+ )?Port module event(?:\[error\])?: "
        r"module (?P<module>\d+), (?P<event>.*)",
        _cable,
    ),
    pattern(
        "Port module event",
        r"Port module event(?:\[\w+\])?: module (?P<module>\d+), (?P<event>.*)(?P<device>)",
        _cable,
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {_DEVICE}:? .*?available PCIe bandwidth,? ?(?:limited by )?\(?"
        r"(?P<speed>[\d.]+) GT/s PCIe x(?P<lanes>\d+)",
        _bandwidth,
    ),
    pattern(
        "available PCIe bandwidth",
        r"available PCIe bandwidth,? ?(?:limited by )?\(?(?P<speed>[\d.]+) GT/s PCIe "
        r"x(?P<lanes>\d+)",
        _bandwidth,
    ),
    pattern(
        "mlx5_core", rf"mlx5_core {_DEVICE}:? firmware version: (?P<version>\S+)", _firmware
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {_DEVICE}:? (?P<interface>[\w.-]+): Port: \d+ Link "
        r"(?P<word>ACTIVE|DOWN)",
        _link_event,
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {_DEVICE}:? (?P<interface>[\w.-]+): (?P<word>Link up|Link down)",
        _link_event,
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {_DEVICE}:? (?P<text>.{0, 80}?(?P<command>[A-Z][A-Z0-9_]+)\(0x\w+\) .*?"
        r"failed, status (?P<status>[^(,]+).*)",
        _adapter,
    ),
    pattern("mlx5_core", rf"mlx5_core {_DEVICE}:? (?P<text>.*)", _adapter),
    pattern("mlx5_core", r"mlx5_core (?P<device>\S+) (?P<text>.*)", _adapter),
    pattern(
        "NIC Link is ", r"NIC Link is (?P<word>[Uu]p|[Dd]own)(?P<interface>)", _interface_before
    ),
    pattern("infiniband ", r"infiniband (?P<device>\w+): (?P<text>.*)", _adapter),
    pattern("mlx4_", r"mlx4_\w+ (?P<device>\S+:\S+?|\S+(?=:)):? (?P<text>.*)", _adapter),
    pattern("bnxt_", r"bnxt_\w+ (?P<device>\S+:\S+?|\S+(?=:)):? (?P<text>.*)", _adapter),
    pattern(
        "Killed process",
        r"Killed process (?P<pid>\d+)[, ]*\(?(?P<name>[^),]*)",
        _killed,
    ),
    pattern(
        "segfault at",
        r"(?P<name>)(?P<pid>)segfault at .*",
        _segfault_before,
    ),
    pattern(
        "AER: ", r"AER: (?P<text>.*?(?:from|:) (?P<device>[0-9a-f]{4}:[0-9a-f:.]{5,9}).*)", _aer
    ),
    pattern(
        "pcieport ",
        rf"pcieport {_DEVICE}: (?P<text>(?:AER|PCIe Bus Error|DPC).*)",
        _aer,
    ),
    pattern("DMAR:", r"DMAR: (?P<text>.*(?:fault|DRHD).*)", _iommu_fault),
    pattern("IO_PAGE_FAULT", r"(?P<text>IO_PAGE_FAULT.*)", _iommu_fault),
    pattern("Default domain type", r"Default domain type: (?P<state>\w+)", _iommu),
    pattern(
        "nvidia_peermem: ",
        r"(?P<module>nvidia_peermem): (?P<reason>Unknown symbol) (?P<symbol>\w+)",
        _symbol,
    ),
    pattern(
        "nv_peer_mem: ",
        r"(?P<module>nv_peer_mem): (?P<reason>Unknown symbol|disagrees about version of symbol)"
        r" (?P<symbol>\w+)",
        _symbol,
    ),
    pattern(
        "Loading of unsigned",
        r"(?P<reason>Loading of unsigned module) ?(?P<module>\w*)",
        _refused,
    ),
    pattern(
        "ERROR: could not insert",
        r"ERROR: could not insert '?(?P<module>\w+)'?: (?P<reason>.*)",
        _refused,
    ),
    pattern(
        "ERROR: Module ",
        r"ERROR: Module (?P<module>\S+) (?P<reason>not found|is not currently loaded).*",
        _refused,
    ),
    pattern(
        "Failed to find module",
        r"Failed to find module '(?P<module>[\w-]+)'(?P<reason>)",
        _refused,
    ),
    pattern(
        "FATAL: Module", r"FATAL: Module (?P<module>\S+) (?P<reason>not found.*)", _refused
    ),
    pattern("SecureBoot ", r"SecureBoot (?P<state>enabled|disabled)", _secure_boot),
    pattern("Secure boot ", r"Secure boot (?P<state>enabled|disabled)", _secure_boot),
    pattern("blocked for more than", r"blocked for more than \d+ seconds", _hung),
    pattern(
        ": Link is ", r": Link is (?P<word>[Uu]p|[Dd]own)(?P<interface>)", _interface_before
    ),
    pattern(
        ": link ",
        r": link (?P<word>up|down)(?P<interface>)(?=\s*$)",
        _interface_before,
    ),
    pattern(
        ": Link ",
        r": Link (?P<word>[Uu]p|[Dd]own)(?P<interface>)(?= - \d|\s*$)",
        _interface_before,
    ),
    *(
        pattern(
            f"{service}[",
            rf"{service}\[\d{{1,9}}\]: (?:<\w+> {{1,4}}\[[\d.]+\] )?(?:device \()?"
            r"(?P<interface>[a-z][\w.-]{1,30}?)\)?: (?:carrier: )?(?P<word>Gained carrier|"
            r"Lost carrier|link connected|link disconnected|"
            r"state change: activated -> unavailable(?= \(reason 'carrier-changed'))",
            _carrier,
        )
        for service in ("systemd-networkd", "NetworkManager")
    ),
    pattern(
        "(slave ",
        r"\(slave (?P<interface>[\w.-]{1,32})\): link status (?:definitely )?"
        r"(?P<word>up|down)\b",
        _link_event,
    ),
    pattern(
        "link becomes ready", r"(?P<word>link becomes ready)(?P<interface>)", _interface_before
    ),
)
_FORM = re.compile(
    r"(?:<\d{1,3}>)?(?:\[\s{0,8}\d{1,9}\.\d{6}\](?:\s?\[\s{0,6}[TC]\d{1,7}\])?|"
    r"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|"
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S{0,16}) "
    r"[\w.-]{1,80} kernel:) "
)
"""How the kernel's lines begin: dmesg with seconds or dates, and in the journal."""


_MATTERS = re.compile(
    r"mlx|\bib_|rdma|infiniband|roce|ipoib|nvidia|nvrm|nvlink|nvswitch|amdgpu|kfd|\bgpu|pcie|"
    r"\baer\b|dpc:|bnxt|irdma|\bice\b|\befa\b|\bena\b|hfi1|erdma|\bhns|cxgb|qed|"
    r"\b(?:eth|bond|ib|en[spox])\d|vfio|dmar|\blink\b|firmware|hung|blocked for more|lockup|"
    r"\bmce\b|edac|hardware error|\bnfs|lustre|gpfs|beegfs|nvme|i/o error|"
    r"^(?!pci|ACPI)\w+ [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d",
    re.IGNORECASE,
)
"""What in the kernel of a host the network and the GPUs hang on. Of the rest it says 'invalid',
'disabled' and 'not supported' at every sound boot."""
_WORDS_OF_OTHERS = ("Command line:", "Kernel command line:", "acpi ", "ACPI", "oom-kill:")


def _idle(line: str) -> bool:
    """Return whether a line is the kernel's and tells of no trouble that matters here."""
    form = _FORM.match(line)
    if form is None:
        return False
    text = line[form.end() :].lstrip()
    if not troubles(text) or text.startswith(_WORDS_OF_OTHERS):
        return True
    return not _MATTERS.search(text)


kernel_log = Parser(
    tool="kernel log",
    marks=tuple(sorted({one.mark for one in _PATTERNS})),
    reader=table(*_PATTERNS),
    rank=20,
    rest=_idle,
)

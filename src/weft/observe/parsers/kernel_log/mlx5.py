"""The driver mlx5: cables, its slot, firmware, links and faults."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.pci import PcieLink
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.parsers._values import integer, real
from weft.observe.parsers.kernel_log.adapters import fault
from weft.observe.parsers.kernel_log.lines import BUS, DEVICE, as_it_stands, host_of
from weft.observe.parsers.kernel_log.links import link_event
from weft.observe.patterns import Line, pattern

_GIGA = 1e9


def _cable(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CableEvent(
            device=found["device"],
            module=integer(found["module"]),
            event=found["event"].strip().lower(),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _bandwidth(found: re.Match[str], line: Line) -> Sequence[Fact]:
    speed, lanes = real(found["speed"]), integer(found["lanes"])
    best = re.search(r"capable of [\d.]+ Gb/s with ([\d.]+) GT/s PCIe x(\d+)", line.text)
    before = BUS.search(line.before)
    return (
        PcieLink(
            device=found.groupdict().get("device") or (before[0] if before else ""),
            lanes=lanes,
            transfers_per_s=None if speed is None else speed * _GIGA,
            max_lanes=int(best[2]) if best else None,
            max_transfers_per_s=float(best[1]) * _GIGA if best else None,
            downgraded="limited by" in line.text,
            host=host_of(line),
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


PATTERNS = (
    pattern(
        "VPort MTU ", r"VPort MTU \d{1,5} is different than netdev mtu \d{1,5}", as_it_stands
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {DEVICE}:? (?:\S+ )?Port module event(?:\[error\])?: "
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
        rf"mlx5_core {DEVICE}:? .*?available PCIe bandwidth,? ?(?:limited by )?\(?"
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
        "mlx5_core", rf"mlx5_core {DEVICE}:? firmware version: (?P<version>\S+)", _firmware
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {DEVICE}:? (?P<interface>[\w.-]+): Port: \d+ Link "
        r"(?P<word>ACTIVE|DOWN)",
        link_event,
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {DEVICE}:? (?P<interface>[\w.-]+): (?P<word>Link up|Link down)",
        link_event,
    ),
    pattern(
        "mlx5_core",
        rf"mlx5_core {DEVICE}:? (?P<text>.{{0,80}}?(?P<command>[A-Z][A-Z0-9_]+)\(0x\w+\) .*?"
        r"failed, status (?P<status>[^(,]+).*)",
        fault,
    ),
    pattern("mlx5_core", rf"mlx5_core {DEVICE}:? (?P<text>.*)", fault),
    pattern("mlx5_core", r"mlx5_core (?P<device>\S+) (?P<text>.*)", fault),
)

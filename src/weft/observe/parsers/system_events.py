"""The event log of a server's management controller, as ``ipmitool sel list`` shows it."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuThrottle
from weft.observe.facts.pci import PcieError
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table


def _bus(found: re.Match[str], line: Line) -> Sequence[Fact]:
    grave = re.search(r"fatal|uncorrect|perr|serr", found["what"], re.IGNORECASE)
    return (
        PcieError(
            device="", kind="aer", severity="uncorrected" if grave else "corrected",
            text=found[0].strip()[:200], host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


def _hot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        GpuThrottle(
            gpu=found["sensor"].strip(), reason="thermal limit of a sensor", active=True,
            host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


system_events = Parser(
    tool="ipmitool sel",
    marks=("| Critical Interrupt", "| Asserted", "| Deasserted", "| Temperature"),
    reader=table(
        pattern(
            "| Critical Interrupt",
            r"\| Critical Interrupt[^|]{0,40}\| (?P<what>(?:Bus|PCIe?|PCI-E) [^|]{0,60})\| "
            r"Asserted",
            _bus,
        ),
        pattern(
            "| Temperature",
            r"\| Temperature (?P<sensor>[^|]{0,40}(?:GPU|gpu)[^|]{0,40})\| Upper "
            r"(?:Critical|Non-recoverable) going high \| Asserted",
            _hot,
        ),
        pattern("| Critical Interrupt", r"\| Critical Interrupt", nothing),
        pattern("| Asserted", r"\| Asserted", nothing),
        pattern("| Deasserted", r"\| Deasserted", nothing),
    ),
    rank=57,
)

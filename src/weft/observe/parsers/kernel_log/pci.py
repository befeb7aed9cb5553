"""PCI Express: errors, slots that are too slow, virtual functions and the I/O memory unit."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.pci import IommuState, PcieError
from weft.observe.parsers.kernel_log.lines import BUS, DEVICE, as_it_stands, host_of
from weft.observe.patterns import Line, pattern


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
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _slot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a driver finds its slot too slow for its adapter."""
    bus = BUS.search(line.before)
    return (
        PcieError(
            device=bus[0] if bus else "", kind="slot", text=found["text"].strip(),
            host=host_of(line), moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _iommu_fault(found: re.Match[str], line: Line) -> Sequence[Fact]:
    device = re.search(r"[0-9a-f]{2,4}:[0-9a-f]{2}[:.][0-9a-f]{1,2}(?:\.\d)?", found["text"])
    return (
        PcieError(
            device=device[0] if device else "",
            kind="iommu",
            text=found["text"].strip(),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _iommu(found: re.Match[str], line: Line) -> Sequence[Fact]:
    word = found["state"].lower()
    state = "passthrough" if "pass" in word else "on"
    return (IommuState(state=state, host=host_of(line), evidence=line.evidence),)


PATTERNS = (
    pattern("not enough MMIO", r"not enough MMIO resources for SR-IOV", as_it_stands),
    pattern("can't enable", r"can't enable \d+ VFs.*", as_it_stands),
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
        "AER: ", r"AER: (?P<text>.*?(?:from|:) (?P<device>[0-9a-f]{4}:[0-9a-f:.]{5,9}).*)", _aer
    ),
    pattern(
        "pcieport ",
        rf"pcieport {DEVICE}: (?P<text>(?:AER|PCIe Bus Error|DPC).*)",
        _aer,
    ),
    pattern("DMAR:", r"DMAR: (?P<text>.*(?:fault|DRHD).*)", _iommu_fault),
    pattern("IO_PAGE_FAULT", r"(?P<text>IO_PAGE_FAULT.*)", _iommu_fault),
    pattern("Default domain type", r"Default domain type: (?P<state>\w+)", _iommu),
)

"""The PCI Express link of an adapter or GPU trained low.

What it checks: trained against possible lanes and speed. A GPU at rest lowers its speed to save
power: its speed alone says nothing, its lanes do.
Why it matters: an adapter behind half a link moves half the data, on every ring it is part of.
What to do: reseat the card or riser, look for a BIOS limit, try another slot, then replace.
References: PCI Express Base Specification, Link Status and Capabilities; lspci(8).
"""

import re
from collections.abc import Iterator

from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts import (
    AdapterFault,
    AdapterSeen,
    CableEvent,
    GpuSeen,
    PciAddress,
    PciDevice,
    PcieLink,
)

_NETWORK = re.compile(r"ethernet|infiniband|network|mellanox|connectx|mlx\d|\befa\b|\bnic\b")
_GPU = re.compile(r"3d controller|vga|\bnvidia\b|\bgpu\b|display|instinct")
_LOOK = "lspci -vv -s <bus id> | grep -e LnkCap: -e LnkSta:; dmesg | grep -i 'pcie bandwidth'"


def _check(facts: Facts) -> Iterator[Finding]:
    for one in facts.of(PcieLink):
        left = _left_ratio(one)
        sort = _sort(facts, one)
        fewer_lanes = bool(one.lanes and one.max_lanes and one.lanes < one.max_lanes)
        if left >= 1 or (sort == "gpu" and not fewer_lanes) or sort in {"bridge", "other"}:
            continue
        sure = sort == "network" or fewer_lanes
        yield finding(
            "pcie-link-degraded",
            [one],
            0.9 if sure else 0.6,
            severity=Severity.ERROR if sure else Severity.WARNING,
            subject=one.device,
            message=f"{one.name or one.device or 'a device'} has a slower PCI Express link "
            "than it can have",
            advice="reseat the card or riser, check the BIOS, try another slot",
            next_command=_LOOK,
            missing=()
            if sure
            else ("what the device is (lspci -s), and whether it was at rest",),
            explains=(Symptom.FEWER_LINKS,),
            fault=Fault.PCIE_NARROW,
            left_ratio=left,
        )


def _left_ratio(link: PcieLink) -> float:
    """Return the share of the link's possible rate that is left."""
    lanes = link.lanes / link.max_lanes if link.lanes and link.max_lanes else 1.0
    speed = (
        link.transfers_per_s / link.max_transfers_per_s
        if link.transfers_per_s and link.max_transfers_per_s
        else 1.0
    )
    return lanes * speed


def _sort(facts: Facts, link: PcieLink) -> str:
    """Return what a device is, from its own name or from other tools' lists."""
    named = [
        one for one in facts.of(PciDevice) if _same(one.bus_id, link.device)
    ]  # fmt: skip
    words = " ".join(
        [link.name, *(f"{one.kind} {one.name} {one.driver}" for one in named)]
    ).lower()
    if any(_same(one.bus_id, link.device) for one in facts.of(GpuSeen)):
        return "gpu"
    adapters = [one.bus_id for one in facts.of(PciAddress)]
    adapters += [one.bus_id for one in facts.of(AdapterSeen)]
    if any(_same(bus_id, link.device) for bus_id in adapters):
        return "network"
    if words.strip():
        return _by_words(words)
    only_adapters = facts.any_of(AdapterFault, CableEvent) and not facts.any_of(GpuSeen)
    return "network" if only_adapters else ""


def _by_words(words: str) -> str:
    if _NETWORK.search(words):
        return "network"
    if _GPU.search(words):
        return "gpu"
    return "bridge" if "bridge" in words else "other"


def _same(bus_id: str, device: str) -> bool:
    return bool(bus_id and device) and (
        bus_id.lower().endswith(device.lower()) or device.lower().endswith(bus_id.lower())
    )


pcie_link = Rule(causes=("pcie-link-degraded",), check=_check)

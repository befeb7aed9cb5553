"""The PCI Express link of an adapter or GPU trained low.

What it checks: trained against possible lanes and speed. A GPU at rest lowers its speed to save
power: its speed alone says nothing, its lanes do.
Why it matters: an adapter behind half a link moves half the data, on every ring it is part of.
What to do: reseat the card or riser, look for a BIOS limit, try another slot, then replace.
References: PCI Express Base Specification, Link Status and Capabilities; lspci(8).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
)
from weft.observe.facts.adapters import AdapterFault, AdapterSeen, CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import TopologyPart
from weft.observe.facts.gpus import GpuReading, GpuSeen
from weft.observe.facts.pci import PciAddress, PciBridge, PciDevice, PcieError, PcieLink
from weft.observe.facts.programs import SoftwareVersion

_NETWORK = re.compile(r"ethernet|infiniband|network|mellanox|connectx|mlx\d|\befa\b|\bnic\b")
_GPU = re.compile(r"3d controller|vga|\bnvidia\b|\bgpu\b|display|instinct")
_BY_NAME = re.compile(r"(?:mlx[45]|bnxt|irdma|rocep|ibp|efa|ens|enp|eth|ib)[_\dpsf]")
_NARROW = re.compile(r"Width x\d+ \(downgraded")
_MANY = 8
_BUSY_RATIO = 0.5
_NAMED = 4
"""Devices that a finding names; the rest are counted by its evidence."""
_COMPARE = "compare LnkSta with LnkCap; a device of another sort may be meant so"
_LOOK = "lspci -vv -s <bus id> | grep -e LnkCap: -e LnkSta:; dmesg | grep -i 'pcie bandwidth'"


def _check(facts: Facts) -> Iterator[Finding]:
    known = _known(facts)
    for one in _whole(facts):
        left = _left_ratio(one)
        if left >= 1:
            continue
        sort = _sort(facts, known, one)
        fewer_lanes = bool(one.lanes and one.max_lanes and one.lanes < one.max_lanes)
        if sort == "gpu" and not fewer_lanes and not _at_work(facts, one):
            continue
        if sort in {"bridge", "other"} or (not fewer_lanes and _at_its_slot(facts, one)):
            continue
        sure = sort in {"network", "gpu"} or (fewer_lanes and not _alone(one, sort))
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
    yield from _noted(facts)
    yield from _erring(facts)
    yield from _behind(facts)
    yield from _unlike(facts)


def _at_its_slot(facts: Facts, link: PcieLink) -> bool:
    """Return whether a device is as fast as the port above it can be at all."""
    bus = link.device.rpartition(":")[0].rpartition(":")[2]
    above = {one.bus_id for one in facts.of(PciBridge) if one.below == bus
             and one.host == link.host}  # fmt: skip
    return any(
        one.device in above and one.host == link.host and one.max_transfers_per_s is not None
        and (link.transfers_per_s or 0.0) >= one.max_transfers_per_s
        for one in facts.of(PcieLink)
    )  # fmt: skip


def _at_work(facts: Facts, link: PcieLink) -> bool:
    """Return whether a GPU was busy when its link was read: then it does not save power."""
    return any(
        one.name == "utilisation" and (one.value or 0.0) >= _BUSY_RATIO
        and _same(one.gpu.lower(), link.device.lower())
        for one in facts.of(GpuReading)
    )  # fmt: skip


def _noted(facts: Facts) -> Iterator[Finding]:
    """Find a width that is called too small, of a device and a slot that are not named."""
    seen = [
        one for one in facts.of(PcieLink)
        if one.max_lanes is None and not one.device
        and _NARROW.search(one.evidence.text)
    ]  # fmt: skip
    if seen:
        yield _hinted(
            seen, 0.55,
            message="a device has fewer PCI Express lanes than it can have",
            advice="reseat the card or riser, check the BIOS, try another slot",
            missing="which device it is, and what its slot can do (lspci -vv)",
            explains=(Symptom.SLOW,),
        )  # fmt: skip


def _unlike(facts: Facts) -> Iterator[Finding]:
    """Find an adapter that tells half the link, or less, of what its fellows tell."""
    told: dict[str, PcieLink] = {
        one.device: one for one in facts.of(PcieLink)
        if one.device and one.lanes and one.transfers_per_s and not one.max_lanes
        and "available PCIe bandwidth" in one.evidence.text
    }  # fmt: skip
    rates = {name: (one.lanes or 0) * (one.transfers_per_s or 0) for name, one in told.items()}
    slow = [told[name] for name, rate in rates.items() if rate <= _HALF * max(rates.values())]
    if slow and len(slow) < len(rates) / 2:
        yield _hinted(
            slow, LIKELY_RATIO, [one.device for one in slow],
            message="an adapter has half the PCI Express link of its fellows, or less",
            advice=_COMPARE,
            explains=(Symptom.SLOW,),
        )  # fmt: skip


_FEWEST = 4
_HALF = 0.5


def _behind(facts: Facts) -> Iterator[Finding]:
    """Find a device that the library sees behind half the link of its fellows, or less."""
    parts: dict[str, dict[str, TopologyPart]] = {}
    for one in facts.of(TopologyPart):
        if one.link == "PCI" and one.kind in {"GPU", "NIC"} and one.link_bytes_per_s:
            parts.setdefault(one.kind, {})[f"{one.process.host} {one.name}"] = one
    for seen in parts.values():
        rates = sorted(one.link_bytes_per_s or 0.0 for one in seen.values())
        usual = rates[len(rates) // 2]
        slow = [one for one in seen.values() if (one.link_bytes_per_s or 0) <= _HALF * usual]
        if len(rates) >= _FEWEST and slow and len(slow) < len(rates) // 2:
            yield _hinted(
                slow, LIKELY_RATIO, [one.name for one in slow],
                message="the library sees a device behind half the link of its fellows",
                advice=_COMPARE,
                explains=(Symptom.SLOW,),
            )  # fmt: skip


_ERRING = {"generation": 0.55, "slow copies": 0.55, "slot": 0.6, "replays": 0.4}
"""What a diagnosis under load says of a link, and how far it names the cause."""


def _erring(facts: Facts) -> Iterator[Finding]:
    """Find links that repeat packets, report errors, or move less than they should."""
    told = [one for one in facts.of(PcieError) if one.kind in _ERRING]
    grave = [
        one for one in facts.of(PcieError)
        if one.kind == "aer" and one.severity.startswith("uncorrect")
    ]  # fmt: skip
    many = [one for one in facts.of(PcieError) if one.kind == "aer"]
    seen = told or grave or (many if len(many) >= _MANY else [])
    if not seen:
        return
    yield _hinted(
        seen,
        max((_ERRING[one.kind] for one in told), default=0.4),
        list(dict.fromkeys(one.device for one in seen if one.device)),
        message="a PCI Express link reports errors, or moves less than it should",
        advice="reseat the card or riser, update firmware; replace what reports again",
    )


def _hinted(
    seen: Sequence[Fact], confidence_ratio: float, devices: Sequence[str] = (), *,
    message: str, advice: str,
    missing: str = "width and speed of the link now (lspci -vv)",
    explains: tuple[Symptom, ...] = (),
) -> Finding:  # fmt: skip
    """Return a warning of a link whose width and speed themselves are not all known."""
    return finding(
        "pcie-link-degraded",
        seen,
        confidence_ratio,
        severity=Severity.WARNING,
        subject=", ".join(devices[:_NAMED]),
        message=message,
        advice=advice,
        next_command=_LOOK,
        missing=(missing,),
        explains=explains,
    )


def _whole(facts: Facts) -> list[PcieLink]:
    """Return the links, of which files tell width, speed and what they could be one by one."""
    found: dict[tuple[str, str], PcieLink] = {}
    whole: list[PcieLink] = []
    for one in facts.of(PcieLink):
        told = [one.lanes, one.max_lanes, one.transfers_per_s, one.max_transfers_per_s]
        if sum(value is not None for value in told) > 1 or not one.device:
            whole.append(one)
            continue
        before = found.get((one.host, one.device), one)
        found[one.host, one.device] = replace(
            before,
            lanes=before.lanes or one.lanes,
            max_lanes=before.max_lanes or one.max_lanes,
            transfers_per_s=before.transfers_per_s or one.transfers_per_s,
            max_transfers_per_s=before.max_transfers_per_s or one.max_transfers_per_s,
        )
    return [*whole, *found.values()]


def _alone(link: PcieLink, sort: str) -> bool:
    """Return whether only the PCI core speaks of a device, which may be any disk."""
    return not sort and "available PCIe bandwidth" in link.evidence.text


def _left_ratio(link: PcieLink) -> float:
    """Return the share of the link's possible rate that is left."""
    lanes = link.lanes / link.max_lanes if link.lanes and link.max_lanes else 1.0
    speed = (
        link.transfers_per_s / link.max_transfers_per_s
        if link.transfers_per_s and link.max_transfers_per_s
        else 1.0
    )
    return lanes * speed


@dataclass(frozen=True, slots=True)
class _Known:
    """What other tools say of devices, each bus address once: thousands of hosts are alike."""

    words: dict[str, str]
    gpus: frozenset[str]
    adapters: frozenset[str]
    names: frozenset[str]


def _known(facts: Facts) -> _Known:
    firmware = [
        one.software.partition(" ")[2] for one in facts.of(SoftwareVersion)
        if one.software.startswith("firmware ")
    ]  # fmt: skip
    return _Known(
        words={
            one.bus_id.lower(): f"{one.kind} {one.name} {one.driver}"
            for one in facts.of(PciDevice)
        },
        gpus=frozenset(one.bus_id.lower() for one in facts.of(GpuSeen)),
        adapters=frozenset(
            one.lower() for one in (
                *(one.bus_id for one in facts.of(PciAddress)),
                *(one.bus_id for one in facts.of(AdapterSeen)),
                *(one.device for one in facts.of(AdapterFault)),
                *firmware,
            )
        ),
        names=frozenset(one.adapter for one in facts.of(AdapterSeen) if one.adapter),
    )  # fmt: skip


def _sort(facts: Facts, known: _Known, link: PcieLink) -> str:
    """Return what a device is, from its own name or from other tools' lists."""
    device = link.device.lower()
    named = [words for bus_id, words in known.words.items() if _same(bus_id, device)]
    words = " ".join([link.name, *named]).lower()
    if any(_same(bus_id, device) for bus_id in known.gpus):
        return "gpu"
    if any(_same(bus_id, device) for bus_id in known.adapters):
        return "network"
    if link.device in known.names or _BY_NAME.match(link.device):
        return "network"
    if words.strip():
        return _by_words(words)
    if "available PCIe bandwidth" in link.evidence.text:  # the PCI core speaks of any device
        return ""
    only_adapters = facts.any_of(AdapterFault, CableEvent) and not facts.any_of(GpuSeen)
    return "network" if only_adapters else ""


def _by_words(words: str) -> str:
    if _NETWORK.search(words):
        return "network"
    if _GPU.search(words):
        return "gpu"
    return "bridge" if "bridge" in words else "other"


def _same(bus_id: str, device: str) -> bool:
    return bool(bus_id and device) and (bus_id.endswith(device) or device.endswith(bus_id))


pcie_link = Rule(causes=("pcie-link-degraded",), check=_check)

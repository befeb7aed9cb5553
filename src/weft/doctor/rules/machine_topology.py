"""The library sees another machine than there is: its PCI tree is wrong or missing.

What it checks: links of impossibly low rate in the topology (virtual bridges without a speed),
paths that could not be read, reverse paths that were not found, and topology files that do not
fit; GPUs whose bus a container does not show; guests in which all adapters are equally far.
Why it matters: GPU and adapter are paired badly or GPUDirect is refused, and half the bandwidth
is gone without an error.
What to do: in a virtual machine give the provider's topology file for this size; on metal fix
the PCI layout; never copy a file from another machine.
References: NCCL user guide, NCCL_TOPO_FILE and NCCL_TOPO_DUMP_FILE.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
)
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCollective
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import ChannelPath, RingsConnected, TopologyPart
from weft.observe.facts.gpus import GpuSeen
from weft.observe.facts.pci import Distance, PciBus, PcieLink
from weft.observe.facts.programs import Message, SoftwareVersion
from weft.observe.facts.transports import GpuDirectState
from weft.observe.facts.verbs import CallFailed, CompletionError

_FEWEST_GPUS = 4
_COLONS = 2
_FAR = frozenset({"PHB", "NODE", "SYS"})
_FAR_RATIO = 0.65
"""How sure it is that a guest lacks a file, in which no adapter is near any GPU."""
_LONG_DOMAIN = re.compile(r"pci_bus/[1-9a-f][0-9a-f]{4}:")
"""A PCI domain beyond 16 bits: devices behind a volume manager (VMD) of the processor."""
_IMPOSSIBLE_BYTES_PER_S = 0.3e9
_LOOK = "NCCL_TOPO_DUMP_FILE=topo.xml for one run; lspci -tv; nvidia-smi topo -m"

_BROKEN_FILE = (
    r"xml (parse|import|export|topology has wrong|graph has wrong|mismatch)|"
    r"system node not found in xml|"
    r"value \S+ too long \(max|attribute \w+ of node \w+ not found"
)
_FIRST_GENERATION_TRANSFERS_PER_S = 2.5e9
_NOT_FOUND = re.compile(r"could not|couldn't|cannot|failed to|not found|no path", re.IGNORECASE)
_MISREAD = (
    r"reverse path|could not find any local path|failed to find (?:a )?path|"
    r"no path (?:computed|to|from|between)|could not find a path for pattern|"
    r"could not compute paths|could not find (?:cpu|pci sw|gpu|node of type|rev link|net id|"
    r"intermediate gpu|any nic|nic for rank|dev for gpu|cpu numa)|"
    r"ring \d+ does not (?:loop back|contain rank)|couldn't generate unique busid|"
    r"unable to find gpu/cpu for rank|unknown cpu architecture"
)


def _check(facts: Facts) -> Iterator[Finding]:
    file: list[Fact] = [
        *job.settings(facts, "NCCL_TOPO_FILE"),
        *job.settings(facts, "NCCL_GRAPH_FILE"),
    ]
    unread = job.said(
        facts, r"could not find real path|pci_bus(?!_?id)|topology file|parsing xml"
    )
    broken = job.said(facts, _BROKEN_FILE)
    slow = _impossible(facts)
    reverse = job.said(facts, _MISREAD) or ([] if file else _of_graph(facts))
    if not (file or unread or slow):
        yield from _without_tree(facts)
    absent = [one for one in unread if _is_absence(one)]
    yield from _checked(facts)
    graph = job.settings(facts, "NCCL_GRAPH_FILE")
    if graph and job.said(facts, r"xml graph file"):
        yield replace(
            _wrong("vm-topology-wrong", [*broken, *graph], LIKELY_RATIO),
            severity=Severity.WARNING,
        )
    elif broken:
        yield _broken_file(broken, file)
    elif file and absent:
        yield replace(
            _wrong("vm-topology-missing", [*absent, *file], 0.8),
            message="the topology file that is named is not there",
        )
    elif file and (unread or slow):
        yield _wrong("vm-topology-wrong", [*unread, *slow, *file], 0.85)
    elif slow:
        yield _of_slow(facts, slow)
    elif unread:
        yield _unread(facts, unread)
    elif reverse:
        yield _wrong("topology-misdetected", [*reverse, *file], 0.75)
    elif file and not _is_content(facts):
        yield _file_alone(facts, file)


def _impossible(facts: Facts) -> list[Fact]:
    """Return links of the library's drawing that are slower than any of PCI Express."""
    return [
        one for one in facts.of(TopologyPart)
        if one.link == "PCI" and one.link_bytes_per_s is not None
        and 0 < one.link_bytes_per_s <= _IMPOSSIBLE_BYTES_PER_S
    ]  # fmt: skip


def _is_absence(unread: Fact) -> bool:
    """Return whether a line says that the topology file is not there."""
    words = unread.evidence.text.lower()
    return "topology file" in words and "no such file" in words


def _checked(facts: Facts) -> Iterator[Finding]:
    """Find a machine that does not look as the file of a health check says."""
    unlike = job.said(facts, r"check_hw_topology: topology mismatch")
    if unlike:
        yield replace(
            _wrong("vm-topology-wrong", unlike, 0.6),
            severity=Severity.WARNING,
            message="GPUs and adapters do not lie as the health check's file says",
        )


def _odd_tree(facts: Facts, unread: list[Fact]) -> list[Fact]:
    """Return what shows that the tree is there and the library cannot follow it.

    A domain that it does not expect, or a GPU whose bus the container does not show.
    """
    behind = [one for one in unread if _LONG_DOMAIN.search(one.evidence.text)]
    shown = {one.bus: one for one in facts.of(PciBus)}
    hidden: list[Fact] = [
        one for one in facts.of(GpuSeen)
        if shown and one.bus_id and bus_of(one.bus_id) not in shown
    ]  # fmt: skip
    return [*unread, *hidden, *shown.values()] if hidden else behind


def bus_of(bus_id: str) -> str:
    """Return the bus of a device's address, its domain as the kernel writes it.

    >>> bus_of("00000000:8D:00.0")
    '0000:8d'
    """
    domain, bus, _ = bus_id.lower().split(":") if bus_id.count(":") == _COLONS else ("", "", "")
    return f"{domain[-4:]}:{bus}"


def _without_tree(facts: Facts) -> Iterator[Finding]:
    """Find a machine whose distances between devices show no tree."""
    flat, far = _flat(facts), _flat_guest(facts)
    drawn = _drawn_flat(facts)
    if drawn:
        yield _wrong("vm-topology-missing", drawn, _FAR_RATIO)
    elif flat:
        yield _of_flat(facts, flat)
    elif far:
        found = _wrong("vm-topology-missing", far, _FAR_RATIO)
        yield replace(found, severity=Severity.WARNING)


def _of_flat(facts: Facts, flat: list[Fact]) -> Finding:
    """Say that a machine shows no tree of PCI, surely where it is known to be a guest."""
    guest = [one for one in facts.of(SoftwareVersion) if one.software == "hypervisor"]
    return replace(
        _wrong("vm-topology-missing", [*flat, *guest], 0.75 if guest else 0.55),
        severity=Severity.ERROR if guest else Severity.WARNING,
    )


def _of_slow(facts: Facts, slow: list[Fact]) -> Finding:
    """Say whose tree is too slow to be true: a guest's, or one that was read wrongly.

    Where the links are seen to have trained well, the library did not find it.
    """
    trained: list[Fact] = [
        one for one in facts.of(PcieLink)
        if one.transfers_per_s and one.transfers_per_s > _FIRST_GENERATION_TRANSFERS_PER_S
    ]  # fmt: skip
    guest = any(one.software == "hypervisor" for one in facts.of(SoftwareVersion))
    if trained and not guest:
        return _wrong("topology-misdetected", [*slow, *trained[:1]], 0.65)
    return replace(
        _wrong("vm-topology-wrong", slow, 0.7), suspects=(_NO_FILE, *_OTHER_TREES[:1])
    )


def _of_graph(facts: Facts) -> list[Fact]:
    """Return complaints of the part of the library that searches paths, whatever they say."""
    return [
        one for one in facts.of(Message)
        if one.place.startswith("graph/") and _NOT_FOUND.search(one.text)
    ]  # fmt: skip


def _flat(facts: Facts) -> list[Fact]:
    """Return distances of a machine on which nothing is nearer than the host bridge.

    On metal some GPUs share a switch or lie on another socket; a guest often shows one bus.
    """
    seen = facts.of(Distance)
    gpus = {one.source for one in seen if one.source.startswith("GPU")}
    others = {one.target for one in seen if not one.target.startswith("GPU")}
    same = {one.connection for one in seen} == {"PHB"}
    return [*seen[:2]] if same and len(gpus) >= _FEWEST_GPUS and others else []


def _drawn_flat(facts: Facts) -> list[Fact]:
    """Return the library's drawing of a machine whose devices all hang on a processor itself.

    It could not read how their slots are linked, as in guests; metal has bridges.
    """
    parts = facts.of(TopologyPart)
    gpus = [one for one in parts if one.kind == "GPU" and one.depth == 1]
    nics = [one for one in parts if one.kind == "NIC" and one.depth == 1]
    bridges = any(one.kind == "PCI" for one in parts)
    unread = job.said(facts, r"could not read \S{1,120}max_link_(?:speed|width)")
    several = len({one.name for one in gpus}) >= _FEWEST_GPUS
    return [*unread[:2], *gpus, *nics] if several and nics and unread and not bridges else []


def _flat_guest(facts: Facts) -> list[Fact]:
    """Return how far adapters are from the GPUs of a guest, where all are alike and none near.

    GPUs of a guest may see one another's links all the same.
    """
    guest = [one for one in facts.of(SoftwareVersion) if one.software == "hypervisor"]
    seen = [
        one for one in facts.of(Distance)
        if one.source.startswith("GPU") and not one.target.startswith("GPU")
    ]  # fmt: skip
    alike = {one.connection for one in seen}
    several = len({one.target for one in seen}) > 1 and len({one.source for one in seen}) > 1
    reached = any(one.gpudirect for one in facts.of(ChannelPath))
    if not guest or not several or len(alike) != 1 or reached:
        return []
    return [*seen[:2]] if alike <= _FAR else []


_WORDS = {
    "vm-topology-wrong": "the topology does not fit this machine",
    "vm-topology-missing": (
        "the machine does not show its PCI tree, and no topology file is given"
    ),
    "topology-misdetected": "the library misreads how this machine's devices are joined",
}


def _wrong(cause: str, seen: list[Fact], confidence_ratio: float) -> Finding:
    return finding(
        cause,
        seen,
        confidence_ratio,
        message=_WORDS[cause],
        advice="use the provider's topology file for exactly this machine, or none on metal",
        next_command=_LOOK,
        explains=(Symptom.GPUDIRECT_OFF, Symptom.VERBS_CALL),
    )


def _broken_file(broken: list[Fact], file: list[Fact]) -> Finding:
    """Say that a file does not fit, as one that names devices which are not there.

    Whoever set the file is no other cause beside it.
    """
    found = _wrong("vm-topology-wrong", [*broken, *file], 0.85 if file else 0.7)
    if not file:
        return replace(found, suspects=_OTHER_TREES[:1])
    return replace(
        found,
        advice="unset NCCL_TOPO_FILE and NCCL_GRAPH_FILE, also in /etc/nccl.conf, or use the "
        "files of exactly this size of machine",
        explains=found.explains | {"nccl-env-misuse"},
    )


def _unread(facts: Facts, unread: list[Fact]) -> Finding:
    """Say that paths could not be read; where the ranks met all the same, it costs speed."""
    odd, met = _odd_tree(facts, unread), facts.any_of(RingsConnected)
    if odd:
        found = _wrong("topology-misdetected", odd, 0.75)
        return replace(found, severity=Severity.WARNING) if met else found
    guest = [one for one in facts.of(SoftwareVersion) if one.software == "hypervisor"]
    found = _wrong("vm-topology-missing", [*unread, *guest], 0.45 if met else 0.6)
    if not guest:  # on metal, and where a file is given, the same words come of it
        found = replace(found, confidence_ratio=min(found.confidence_ratio, 0.5),
                        suspects=_OTHER_TREES)  # fmt: skip
    return replace(found, severity=Severity.WARNING if met else Severity.ERROR)


_NO_FILE = Suspect(
    cause="vm-topology-missing",
    confidence_ratio=0.3,
    question="is it a guest to which no topology file is given (NCCL_TOPO_FILE)?",
    next_command="systemd-detect-virt; echo $NCCL_TOPO_FILE; cat /etc/nccl.conf",
)
_OTHER_TREES = (
    Suspect(
        cause="topology-misdetected",
        confidence_ratio=0.3,
        question="is this no virtual machine (systemd-detect-virt says none)?",
        next_command="systemd-detect-virt; lspci -tv",
    ),
    Suspect(
        cause="vm-topology-wrong",
        confidence_ratio=0.2,
        question="is NCCL_TOPO_FILE set, to a file of another machine or older addresses?",
        next_command="echo $NCCL_TOPO_FILE; lspci -D | grep -i nvidia",
    ),
)


def _is_content(facts: Facts) -> bool:
    """Return whether a benchmark ran with the file, and nothing failed or was missed."""
    missed = facts.any_of(CompletionError, CallFailed, CollectiveTimeout)
    off = any(not one.enabled for one in facts.of(GpuDirectState))
    return facts.any_of(MeasuredCollective) and not missed and not off


def _file_alone(facts: Facts, file: list[Fact]) -> Finding:
    """Say of a file that is set: it is a suspect where the library stopped and said no more.

    One for the search of rings as well is of one very machine.
    """
    stopped = job.said(facts, r"\binternal error\b")
    both = stopped and job.settings(facts, "NCCL_GRAPH_FILE")
    return finding(
        "vm-topology-wrong",
        [*file, *stopped],
        0.55 if both else 0.4 if stopped else 0.2,
        severity=Severity.ERROR if stopped else Severity.INFO,
        message="a topology file is set; it must be of exactly this machine",
        advice="compare it with NCCL_TOPO_DUMP_FILE of a run without it",
        next_command=_LOOK,
        explains=("nccl-env-misuse",) if both else (),
    )


machine_topology = Rule(causes=tuple(_WORDS), check=_check)

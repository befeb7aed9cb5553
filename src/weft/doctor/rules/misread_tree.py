"""The library reads the machine's PCI tree from bridges that do not say what they are.

What it checks: bridges of which the library takes a speed far below that of the devices under
them (it reads what a bridge says it can do, not what its link does); more channels of the same
job once it is given an edited topology; GPUs and adapters that lie crosswise under one switch
of a maker whose switches show bridges that are not on the board.
Why it matters: the library searches rings for links that it believes slow: fewer channels, or
two GPUs on one adapter, and no error anywhere.
What to do: compare the library's dump (NCCL_TOPO_DUMP_FILE) with lspci; give it a corrected
one as NCCL_TOPO_FILE, and ask the maker for firmware that reports the bridge as it is.
References: NCCL user guide, NCCL_TOPO_DUMP_FILE and NCCL_TOPO_FILE; PCI Express Base
Specification, Link Capabilities.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import combinations

from weft.doctor import job, near
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
)
from weft.observe.facts.base import Evidence, Fact, Process
from weft.observe.facts.communicators import (
    ChannelCount,
    RingSeen,
    TopologyPart,
    TopologyPath,
)
from weft.observe.facts.pci import Distance, PciDevice
from weft.observe.facts.programs import Setting, SoftwareVersion
from weft.observe.facts.reading import Opening

_SLOWER_RATIO = 1 / 4
"""Devices under a slower host lose half of their speed, those of two generations less a half
more; from here on a bridge says what it is not."""
_VIRTUAL = re.compile(r"1000:c0[0-9a-f]{2}|\bPEX ?8[89]\d{3}|\bPEX880|\bPEX890")
"""Switches that the library itself knows to show bridges in place of what is there."""
_LEAST_RATIO = 2
_FILE = "NCCL_TOPO_FILE"
_TITLED = re.compile(
    r"(?!.{0,200}\bNCCL (?:INFO|WARN)\b)(?:\s{0,8}#.{0,200}?|(?=.{0,300}:\s*$).{0,200}?)"
    r"\bNCCL_TOPO_FILE=(?P<file>[^\s:]{1,200})"
)
_OF_ALL = re.compile(r"\bChannel \d{1,5}/(?P<all>\d{1,5}) :")
_BUS_ID = re.compile(r"[0-9A-Fa-f]{1,12}")
_NUMBER = re.compile(r"\d+")
_LOOK = (
    "NCCL_TOPO_DUMP_FILE=topo.xml for one run; lspci -tv; lspci -vv | grep -e LnkCap -e LnkSta"
)
_ADVICE = "correct the bridge's speed in a dump of the topology and give it as NCCL_TOPO_FILE"
_GUEST = suspect("vm-topology-wrong", 0.3)
_DEGRADED = Suspect(
    cause="pcie-link-degraded",
    confidence_ratio=0.25,
    question="has the link of this bridge trained low (LnkSta below LnkCap)?",
    next_command="lspci -vv -s <bus id> | grep -e LnkCap: -e LnkSta:",
)


def _check(facts: Facts) -> Iterator[Finding]:
    if any(one.software == "hypervisor" for one in facts.of(SoftwareVersion)):
        return  # what a guest sees of bridges is its host's matter (machine_topology)
    slow, more = _slow_bridges(facts), _more_with_file(facts)
    if slow or more:
        yield _misread(facts, slow, more)
    else:
        yield from _crossed(facts)


def _misread(facts: Facts, slow: list[Fact], more: list[Fact]) -> Finding:
    """Say that a bridge is believed slow, surely where an edited file brings channels back."""
    names = dict.fromkeys(one.name for one in slow if isinstance(one, TopologyPart))
    given = job.settings(facts, _FILE) and not more
    return finding(
        "topology-misdetected",
        [*slow, *more],
        0.75 if slow and more else 0.6,
        severity=Severity.WARNING,
        subject=", ".join([*names][:4]),
        message="the library takes a bridge for far slower than what is below it"
        if slow
        else "the same machine gets more channels once the topology is given to the library",
        advice=_ADVICE,
        next_command=_LOOK,
        missing=("what lspci says of this bridge",),
        explains=(Symptom.SLOW, "vm-topology-wrong"),
        suspects=(*((_GUEST,) if given else ()), _DEGRADED),
    )


def _slow_bridges(facts: Facts) -> list[Fact]:
    """Return bridges whose link is taken for a small part of one below them."""
    found: dict[tuple[str, str], Fact] = {}
    for part, above in near.parents(facts):
        bridge = above[-1] if above else None
        if bridge is None or bridge.kind != "PCI" or part.link != "PCI":
            continue
        upper, lower = bridge.link_bytes_per_s, part.link_bytes_per_s
        if upper and lower and upper <= _SLOWER_RATIO * lower:
            found.setdefault((part.process.host, bridge.name), bridge)
    return [*found.values()]


def _more_with_file(facts: Facts) -> list[Fact]:
    """Return the channels of two runs on a host: few, and far more with a topology file.

    Thousands of ranks may say both: each is held against those of its own host alone.
    """
    given = _Given([*job.settings(facts, _FILE), *_titled(facts)])
    followed = [(given.above(one), one) for one in _channels(facts)]
    without: dict[str, list[ChannelCount]] = {}
    for said, count in followed:
        if said is None:
            without.setdefault(count.process.host, []).append(count)
    for said, many in followed:
        for few in without.get(many.process.host, ()) if said else ():
            more = 0 < few.collective * _LEAST_RATIO <= many.collective
            if said and more and few.process != many.process:
                return [said, few, many]
    return []


class _Given:
    """Which runs were given a file: they say so themselves, or stand below who says so."""

    def __init__(self, said: Iterable[Setting]) -> None:
        """Keep what each process says, and the first line of each text that is nobody's."""
        self._by_process: dict[tuple[str, int], Setting] = {}
        self._titles: dict[str, Setting] = {}
        for one in said:
            file, pid = one.evidence.file, one.process.pid
            if pid is not None:
                self._by_process.setdefault((one.process.host, pid), one)
            elif file not in self._titles or self._is_above(one, self._titles[file]):
                self._titles[file] = one

    def above(self, count: ChannelCount) -> Setting | None:
        """Return what says that a run was given a file, if anything does."""
        title = self._titles.get(count.evidence.file)
        if title and self._is_above(title, count):
            return title
        pid = count.process.pid
        return None if pid is None else self._by_process.get((count.process.host, pid))

    @staticmethod
    def _is_above(one: Fact, other: Fact) -> bool:
        return one.evidence.place < other.evidence.place


def _channels(facts: Facts) -> list[ChannelCount]:
    """Return how many channels each process has: by its sum, or by its rings' numbers."""
    summed = facts.of(ChannelCount)
    known = {one.process for one in summed}
    rings: dict[Process, ChannelCount] = {}
    for one in facts.of(RingSeen):
        numbered = _OF_ALL.search(one.evidence.text)
        most = rings.get(one.process)
        if (
            numbered
            and one.process not in known
            and (most is None or int(numbered["all"]) > most.collective)
        ):
            rings[one.process] = ChannelCount(
                collective=int(numbered["all"]), process=one.process, evidence=one.evidence
            )
    return [*summed, *rings.values()]


def _titled(facts: Facts) -> list[Setting]:
    """Return comments and headings above a run that say which topology file it was given."""
    return [
        Setting(name=_FILE, value=told["file"], origin="comment",
                evidence=Evidence(one.evidence.file, number, line.strip()))
        for one in facts.of(Opening)
        for number, line in enumerate(one.text.split("\n"), 1)
        if (told := _TITLED.match(line))
    ]  # fmt: skip


def _crossed(facts: Facts) -> Iterator[Finding]:
    """Remark on GPUs that are nearer to one another's adapter than to their own."""
    virtual: list[Fact] = [
        *[one for one in facts.of(TopologyPart) if _VIRTUAL.match(one.model)],
        *[one for one in facts.of(PciDevice) if _VIRTUAL.search(one.name)],
    ]
    pairs = _crossed_pairs(facts) if virtual else []
    if pairs:
        yield finding(
            "topology-misdetected",
            [*pairs, *virtual[:2]],
            0.3,
            severity=Severity.INFO,
            message="GPUs and adapters lie crosswise under a switch that shows bridges which "
            "are not on the board: the library pairs them by these",
            advice="compare with the board's drawing; where they differ, give the library a "
            "corrected topology",
            next_command=_LOOK,
            missing=("which adapter is next to which GPU on the board",),
        )


def _crossed_pairs(facts: Facts) -> list[Fact]:
    """Return two GPUs of one switch, each next to the other's adapter by their numbers."""
    near_by: dict[tuple[str, str], dict[str, Distance | TopologyPath]] = {}
    for one in facts.of(Distance):
        if one.source.startswith("GPU") and not one.target.startswith(("GPU", "CPU")):
            near_by.setdefault((one.host, one.source), {})[one.target] = one
    for way in facts.of(TopologyPath) if not near_by else ():
        # the library names a GPU by its place on the bus, in which they are numbered too
        place = (way.process.host, str(int(way.source, 16)) if _is_hex(way.source) else "")
        near_by.setdefault(place, {})[way.target] = way
    for (first, seen), (second, others) in combinations(sorted(near_by.items(), key=_order), 2):
        for low, high in combinations(sorted(seen.keys() & others.keys(), key=_numbers), 2):
            square = [seen[low], seen[high], others[low], others[high]]
            if first[0] == second[0] and [one.connection for one in square] == [
                "PXB", "PIX", "PIX", "PXB",
            ]:  # fmt: skip
                return [seen[high], others[low]]
    return []


def _is_hex(name: str) -> bool:
    return bool(_BUS_ID.fullmatch(name))


def _order(
    item: tuple[tuple[str, str], dict[str, Distance | TopologyPath]],
) -> tuple[str, list[int]]:
    (host, name), _ = item
    return host, _numbers(name)


def _numbers(name: str) -> list[int]:
    return [int(one) for one in _NUMBER.findall(name)]


misread_tree = Rule(causes=("topology-misdetected",), check=_check)

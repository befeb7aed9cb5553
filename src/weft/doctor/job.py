"""Questions about the job that many rules ask: its hosts, its network, its settings."""

import re
from collections.abc import Iterable

from weft.doctor.rule import Facts
from weft.observe.facts.adapters import AdapterInterface, AdapterPort, AdapterSeen
from weft.observe.facts.aftermath import WorkSeen
from weft.observe.facts.base import Evidence, Fact, PortState
from weft.observe.facts.benchmarks import (
    BenchmarkRank,
    BenchmarkSummary,
    MeasuredCollective,
    MeasuredLatency,
    MeasuredTransfer,
)
from weft.observe.facts.communicators import ChannelPath, CommunicatorRank, CommunicatorShape
from weft.observe.facts.interfaces import AddressAnswered
from weft.observe.facts.programs import (
    Command,
    Message,
    ProcessEnded,
    Setting,
    SoftwareVersion,
)
from weft.observe.facts.reading import Complaint, Opening
from weft.observe.facts.transports import AdapterChosen, BootstrapInterface, NetworkChosen
from weft.observe.facts.verbs import CallFailed, CompletionError

_TRY_ALL = frozenset({"ucx", "mpi", "openmpi", "open mpi"})
_MACVLAN = re.compile(r"\bmacvlan", re.IGNORECASE)
_MPI_NAMES = frozenset({"mpi", "openmpi", "open mpi", "pmix"})
_NUMBER = re.compile(r"\d+")
_GID_VARIABLE = re.compile(r"gid_(?:index|idx)$", re.IGNORECASE)
_GID_ASSIGNED = re.compile(r"gid_(?:index|idx)[= ](\d+)\b", re.IGNORECASE)
_MPI = (
    r"\bPML\b|\b(?:pml|btl|mtl|coll)_\w|\bi?_?MPI|libmpi|\bmpi(?:run|exec)\b|\borte|\bOPAL\b|"
    r"\btcp_ep\b|\bon tcp/|\bPRTE\b|\bpmix|nccl.tests|\w_perf\b"
)
"""By these words one knows that a transport was MPI's; over TCP it starts ranks as well."""
POD_FAILED = re.compile(
    r"CrashLoopBackOff|ImagePull|ErrImage|ConfigError|ContainerError|^Error"
)
"""How a pod stands that will not run without help [Kubernetes, container states]."""


def hosts(facts: Facts) -> int | None:
    """Return the largest number of hosts a communicator or benchmark had, if anything says."""
    stated = [shape.hosts for shape in facts.of(CommunicatorShape) if shape.hosts]
    named = {rank.host for rank in facts.of(BenchmarkRank)}
    written = {one.process.host for one in facts.of(NetworkChosen) if one.process.host}
    counts = [*stated, *([len(named)] if named else [])]
    if len(written) > 1:
        counts.append(len(written))
    return max(counts, default=None)


def on_one_host(facts: Facts) -> bool:
    """Return whether the job is known to be on one host, where the network does not matter.

    Old versions do not count hosts: there all ranks must be seen to meet without the network.
    """
    known = hosts(facts)
    return known == 1 if known is not None else _meet_without_network(facts)


def companies(facts: Facts, places: Iterable[str]) -> list[set[str]]:
    """Return the hosts that may belong to one job, together.

    A job is whole where every rank of its largest communicator is seen: no other host is of
    it. The rest is taken for one.
    """
    rest = set(places)
    found: list[set[str]] = []
    for whole in _whole_jobs(facts):
        if rest & whole:
            found.append(rest & whole)
            rest -= whole
    return [*found, rest] if rest else found


def _whole_jobs(facts: Facts) -> list[set[str]]:
    """Return the hosts of each communicator of several ranks that are all seen."""
    members: dict[tuple[int, str], dict[int, str]] = {}
    for one in facts.of(CommunicatorRank):
        if one.communicator and one.ranks > 1 and one.process.host:
            key = (one.ranks, one.communicator)
            members.setdefault(key, {})[one.rank] = one.process.host
    whole: list[set[str]] = []
    known: set[str] = set()
    for (ranks, _), by_rank in sorted(members.items(), reverse=True):
        hosts = set(by_rank.values())
        if len(by_rank) == ranks and not hosts & known:
            whole.append(hosts)
        known |= hosts
    return whole


def _meet_without_network(facts: Facts) -> bool:
    paths = facts.of(ChannelPath)
    ranks = max((one.ranks for one in facts.of(CommunicatorRank)), default=0)
    if not ranks or any(one.transport not in {"P2P", "SHM"} for one in paths):
        return False
    return {end for one in paths for end in (one.source, one.target)} >= set(range(ranks))


def went_on(facts: Facts, failed: Iterable[CallFailed]) -> bool:
    """Return whether a program's results stand below the failures of MPI's transports.

    UCX and Open MPI try every adapter and go on with what is left; NCCL does not.
    """
    last: dict[str, int] = {}
    for one in failed:
        if one.library.lower() not in _TRY_ALL:
            return False
        last[one.evidence.file] = max(last.get(one.evidence.file, 0), one.evidence.place)
    measured: list[Fact] = [*facts.of(MeasuredLatency), *facts.of(MeasuredTransfer)]
    below = {
        one.evidence.file for one in measured
        if one.evidence.place > last.get(one.evidence.file, one.evidence.place)
    }  # fmt: skip
    return bool(last) and below >= last.keys()


def settings(facts: Facts, name: str) -> list[Setting]:
    """Return what a variable was set to, by whomever."""
    return [one for one in facts.of(Setting) if one.name == name and not one.ignored]


def gid_indices(facts: Facts) -> list[tuple[int, Fact]]:
    """Return the entries of the GID table that somebody asked for, by whichever variable."""
    found: list[tuple[int, Fact]] = []
    for one in facts.of(Setting):
        number = _NUMBER.match(one.value)
        if _GID_VARIABLE.search(one.name) and number and not one.ignored:
            found.append((int(number[0]), one))
    for command in facts.of(Command):
        found += [(int(index), command) for index in _GID_ASSIGNED.findall(command.command)]
    return found


def uses_mpi(facts: Facts) -> bool:
    """Return whether what was said names MPI, and not a transport that others use too."""
    named = any(one.software.lower() in _MPI_NAMES for one in facts.of(Message))
    named = named or any(one.library.lower() in _MPI_NAMES for one in facts.of(CallFailed))
    if named or said(facts, _MPI):
        return True
    words = re.compile(_MPI)
    ends = (one.evidence.text for one in facts.of(ProcessEnded))
    return any(words.search(text) for text in (*ends, *(o.text for o in facts.of(Opening))))


def began(facts: Facts) -> bool:
    """Return whether the collective library wrote a word of its start."""
    return facts.any_of(BootstrapInterface, CommunicatorRank, NetworkChosen)


def switched_on(facts: Facts, name: str) -> list[Setting]:
    """Return the settings of a variable that say yes."""
    return [one for one in settings(facts, name) if one.value.lower() in ("1", "true", "yes")]


def uses_sockets(facts: Facts) -> list[NetworkChosen]:
    """Return who uses plain sockets."""
    return [one for one in facts.of(NetworkChosen) if "socket" in one.network.lower()
            and "fastsocket" not in one.network.lower()]  # fmt: skip


def uses_rdma(facts: Facts) -> list[NetworkChosen | AdapterChosen]:
    """Return who uses InfiniBand or RoCE through verbs; old versions list adapters alone."""
    chosen = facts.of(NetworkChosen)
    if not chosen:
        return [*verbs_adapters(facts)]
    return [one for one in chosen if one.network.upper().startswith("IB")]


def known_adapters(facts: Facts) -> set[str]:
    """Return the adapters that a tool of the host listed."""
    seen = {one.adapter for one in facts.of(AdapterSeen) if one.adapter}
    seen |= {one.adapter for one in facts.of(AdapterPort)}
    return seen | {one.adapter for one in facts.of(AdapterInterface)}


def active_ports(facts: Facts) -> list[AdapterPort]:
    """Return the ports that are up."""
    return [one for one in facts.of(AdapterPort) if one.state is PortState.ACTIVE]


def verbs_adapters(facts: Facts) -> list[AdapterChosen]:
    """Return the RDMA adapters that the library uses (interfaces of sockets have no port)."""
    return [one for one in facts.of(AdapterChosen) if one.port is not None]


def verbs_channels(facts: Facts) -> list[ChannelPath]:
    """Return the channels that lead over InfiniBand or RoCE."""
    return [
        one for one in facts.of(ChannelPath)
        if one.transport == "NET" and one.network.upper().startswith("IB")
    ]  # fmt: skip


def answered_by_several(facts: Facts) -> list[list[AddressAnswered]]:
    """Return the answers for each address that several adapters gave one host, one of each."""
    owners: dict[tuple[str, str], dict[str, AddressAnswered]] = {}
    for one in facts.of(AddressAnswered):
        owners.setdefault((one.host, one.address), {})[one.hardware_address] = one
    return [[*adapters.values()] for adapters in owners.values() if len(adapters) > 1]


def version(text: str) -> tuple[int, ...]:
    """Return a version as numbers that compare.

    >>> version("2.22.3+cuda12.4") > version("2.9.1")
    True
    """
    return tuple(int(part) for part in _NUMBER.findall(text.partition("+")[0])[:3])


_MPIRUN = re.compile(r"^\s*(?:\S{0,80}[$#] )?(?:mpirun|mpiexec|orterun)\s", re.MULTILINE)


def keeps_variables(facts: Facts) -> bool:
    """Return whether ``mpirun`` starts the job and passes no variable on to other hosts."""
    return any(_MPIRUN.search(one.text) and " -x " not in one.text for one in facts.of(Opening))


def said(facts: Facts, pattern: str) -> list[Fact]:
    """Return messages, failed calls and complaints whose words match, whoever wrote them.

    A line that no parser understood counts too: what a tool says is known by its words, though
    its name and stamp were cut off.
    """
    expression = re.compile(pattern, re.IGNORECASE)
    found: list[Fact] = [
        one for one in facts.of(Message)
        if expression.search(one.text) or expression.search(one.evidence.text)
    ]  # fmt: skip
    found += [
        one for one in facts.of(CallFailed)
        if expression.search(f"{one.call} {one.error}") or expression.search(one.evidence.text)
    ]  # fmt: skip
    found += [one for one in facts.of(Complaint) if expression.search(one.evidence.text)]
    return found


def told(facts: Facts, words: "re.Pattern[str]") -> list[Fact]:
    """Return the first line of each text in which words stand, understood or not.

    Unlike ``said`` it hears people too: what they ask, hope and quote as well as what is so.
    """
    return [
        Opening(found[0], _line_of(one, found))
        for one in facts.of(Opening)
        if (found := words.search(one.text))
    ]


def macvlan(facts: Facts) -> list[Fact]:
    """Return what shows that pods' interfaces are children (macvlan) of another."""
    named: list[Fact] = [one for one in facts.of(Message) if one.software == "macvlan"]
    named += [one for one in facts.of(Opening) if _MACVLAN.search(one.text)]
    failed: list[Fact] = [*facts.of(CallFailed), *facts.of(CompletionError)]
    return [*named, *(one for one in failed if _MACVLAN.search(one.evidence.text))]


def only_a_tool(facts: Facts, failed: Iterable[CompletionError]) -> bool:
    """Return whether a verbs benchmark alone fails while collectives pass over the fabric.

    The kernel's log tells of the same errors, and not whose they are.
    """
    libraries = {one.library for one in failed}
    passed = any(one.ok for one in facts.of(BenchmarkSummary))
    elsewhere = on_one_host(facts) or uses_sockets(facts)
    return "perftest" in libraries and libraries <= _TOOLS and passed and not elsewhere


def by_host(facts: Iterable[AdapterChosen]) -> dict[str, list[AdapterChosen]]:
    """Return the adapters chosen on each host that has a name."""
    found: dict[str, list[AdapterChosen]] = {}
    for one in facts:
        if one.process.host:
            found.setdefault(one.process.host, []).append(one)
    return found


def versions(facts: Facts, software: str = "NCCL") -> list[SoftwareVersion]:
    """Return what versions of a library were named."""
    return [
        one for one in facts.of(SoftwareVersion) if one.software.upper() == software.upper()
    ]


_TOOLS = frozenset({"perftest", "verbs program"})
"""Whose errors of work requests those of a benchmark may be: its own, or nobody's."""
_CONTAINER = re.compile(
    r"\b(?:docker|podman|nerdctl)(?: container)? (?:run|create)\s+"
    r"(?P<options>-(?:\\\n|[^\n]){0,1500})"
)
_PASSED_IN = re.compile(
    r"--privileged\b(?!=false)|/dev/infiniband|rdma|--device[a-z-]{0,20}[ =]"
    r"(?![\"']?(?:nvidia\.com/|amd\.com/|/dev/(?:nvidia|kfd|dri|shm|fuse)))"
)
"""Options by which a container gets more of its host's devices than GPUs."""
_LEFT_OUT = re.compile(r"\.\.\. +\S|\u2026 +\S")
"""Where whoever shows a command leaves some of it out."""
_MOST_OF_COMMAND = 300


def containers_without_devices(facts: Facts) -> list[Fact]:
    """Return the commands that start containers, where none of them passes RDMA devices in."""
    started = [
        (found["options"], Command(command=found[0], evidence=_line_of(one, found)))
        for one in facts.of(Opening) for found in _CONTAINER.finditer(one.text)
    ]  # fmt: skip
    started += [
        (found["options"], one) for one in facts.of(Command)
        if len(one.command) < _MOST_OF_COMMAND and not one.command.endswith("\\")
        and (found := _CONTAINER.search(one.command))
    ]  # fmt: skip
    passed = any(_PASSED_IN.search(said) for said, _ in started)
    return [] if passed else [one for said, one in started if not _LEFT_OUT.search(said)]


def _line_of(opening: Opening, found: "re.Match[str]") -> Evidence:
    """Return the line of a text on which something begins."""
    number = opening.text.count("\n", 0, found.start()) + 1
    return Evidence(opening.evidence.file, number, found[0].partition("\n")[0])


_RESULTS = (
    WorkSeen,
    MeasuredCollective,
    MeasuredLatency,
    MeasuredTransfer,
    BenchmarkSummary,
)


def worked_after(facts: Facts, failed: Iterable[Fact], *also: type[Fact]) -> bool:
    """Return whether in each file of these lines a program is at work below the last of them.

    A step of training, a result of a benchmark, an answer of the peer: what failed before was
    tried again. ``also`` names other facts that show it; one that says of itself that it is
    not complete does not.
    """
    last: dict[str, int] = {}
    for one in failed:
        file = one.evidence.file
        last[file] = max(last.get(file, 0), one.evidence.place)
    worked: dict[str, int] = {}
    for kind in (*_RESULTS, *also):
        seen: list[Fact] = facts.of(kind)
        for fact in seen:
            if getattr(fact, "complete", True) and getattr(fact, "kind", "") != "serving":
                file = fact.evidence.file
                worked[file] = max(worked.get(file, 0), fact.evidence.place)
    return bool(last) and all(worked.get(file, 0) > line for file, line in last.items())

"""What a rule is, what it is asked about and what it finds."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeVar, cast

from weft.inventory.severity import Severity as Severity  # noqa: PLC0414 - predicates take it from here
from weft.lint import facts
from weft.lint.facts import (
    Address,
    Described,
    Fact,
    Neighbor,
    Option,
    Port,
    Side,
    Speaker,
    Variable,
)
from weft.lint.text import Evidence

F = TypeVar("F", bound=Fact)
T = TypeVar("T")
K = TypeVar("K")
MOST_PLACES: Final = 6
"""A finding shows so many places; the rest say the same."""
OF_ETHERNET: Final = frozenset({"roce", "scheduled_ethernet", "ultra_ethernet", "tcp"})


class Layer(StrEnum):
    """What a rule is about."""

    FILES = "files"
    NCCL = "NCCL and launch"
    QOS = "quality of service"
    BUFFERS = "buffers and pause"
    LINKS = "links and MTU"
    ROUTING = "addresses and routing"
    INFINIBAND = "InfiniBand"
    HOSTS = "hosts"
    KUBERNETES = "Kubernetes and containers"
    SLURM = "Slurm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a rule says is wrong, where, and what to do."""

    seen: tuple[Fact, ...]
    message: str
    fix: str
    severity: Severity | None = None
    """Other than the rule's own."""

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the lines that show it, each once; the first is the place of the finding."""
        shown = (fact.at.evidence() for fact in self.seen[:MOST_PLACES])
        return tuple(dict.fromkeys(shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a predicate found: which message of its rule, and what the message names."""

    message: str
    seen: tuple[Fact, ...]
    words: Mapping[str, object]
    severity: Severity | None


Found = Iterator[Match]


def problem(
    message: str, *seen: Fact, severity: Severity | None = None, **words: object
) -> Match:
    """Return a match; messages name the facts ``{0}``, ``{1}`` and the words by their names."""
    return Match(message=message, seen=seen, words=words, severity=severity)


def repeated(rows: Iterable[T], key: Callable[[T], object]) -> Iterator[tuple[T, T]]:
    """Yield each row with the first before it that has the same key, where one has."""
    first: dict[object, T] = {}
    for row in rows:
        before = first.setdefault(key(row), row)
        if before is not row:
            yield row, before


def usual(values: Iterable[T]) -> tuple[T | None, int]:
    """Return the value that occurs most, and how often; None where there is none."""
    return next(iter(Counter(values).most_common(1)), (None, 0))


def path_of(fact: Fact) -> str:
    """Return the name of the file that sets a fact, with its folders."""
    return fact.at.text.name


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return rows by what they have in common, in the order in which each group begins."""
    found: dict[K, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


class _Sorted:
    """Facts by their kind."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._by_kind = grouped(facts, type)

    def of(self, kind: type[F]) -> list[F]:
        """Return the facts of a kind, in the order they were read."""
        return cast("list[F]", self._by_kind.get(kind, []))


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedQueue:
    """An ECN profile on a queue of some ports; ``ports`` empty: of all."""

    use: Fact
    marking: facts.Marking
    queue: int
    ports: tuple[str, ...]


class Device(_Sorted):
    """One switch with the facts of its files."""

    def __init__(self, name: str, fleet: str, facts: Iterable[Fact]) -> None:
        """Sort the facts of one switch."""
        known = tuple(facts)
        super().__init__(known)
        self.name, self.fleet = name, fleet
        self.texts = tuple({fact.at.text: None for fact in known})
        """The files that it was read from."""

    def table(self, kind: facts.Map) -> dict[int, facts.Mapped]:
        """Return a map of labels as its ports use it; unused tables are left out."""
        names = {use.table for use in self.of(facts.MapUse) if use.kind is kind}
        rows = (mapped for mapped in self.of(facts.Mapped) if mapped.kind is kind)
        return {row.source: row for row in rows if not names or row.table in names}

    def _targets(self, kind: facts.Map) -> frozenset[int]:
        """Return where the paused priorities lead; to the same number where a map is silent."""
        rows = self.table(kind)
        return frozenset(
            rows[number].target if number in rows else number for number in self.paused
        )

    @cached_property
    def paused(self) -> frozenset[int]:
        """The priorities that some port pauses."""
        return frozenset(n for pause in self.of(facts.Pause) for n in pause.priorities)

    @cached_property
    def lossless_queues(self) -> frozenset[int]:
        """The queues of the paused priorities."""
        return self._targets(facts.Map.PAUSE_TO_QUEUE)

    @cached_property
    def marked(self) -> list[MarkedQueue]:
        """Every queue that has an ECN profile."""
        direct = [marking for marking in self.of(facts.Marking) if not marking.name]
        named = grouped(
            (marking for marking in self.of(facts.Marking) if marking.name), lambda m: m.name
        )
        return [
            MarkedQueue(use=marking, marking=marking, queue=queue, ports=marking.ports)
            for marking in direct
            for queue in marking.queues
        ] + [
            MarkedQueue(use=use, marking=marking, queue=use.queue, ports=use.ports)
            for use in self.of(facts.QueueUse)
            for marking in named.get(use.marking, [])
        ]

    @cached_property
    def lossless_profiles(self) -> list[tuple[facts.GroupUse, facts.BufferProfile]]:
        """The buffer profiles of paused priority groups with their use."""
        profiles = {profile.name: profile for profile in self.of(facts.BufferProfile)}
        groups = self._targets(facts.Map.PAUSE_TO_GROUP)
        uses = (use for use in self.of(facts.GroupUse) if use.ingress and use.group in groups)
        return [(use, profiles[use.profile]) for use in uses if use.profile in profiles]


class Case(_Sorted):
    """All that was read: facts by kind, and what follows from several of them."""

    def __init__(self, facts: Iterable[Fact], nccl: tuple[int, ...] | None = None) -> None:
        """Sort the facts; ``nccl`` is the version in use, where the user says it."""
        self.facts = tuple(facts)
        super().__init__(self.facts)
        self._nccl = nccl

    def variables(self, *names: str) -> list[Variable]:
        """Return the variables of some names, as jobs and hosts set them."""
        return [variable for variable in self.of(Variable) if variable.name in names]

    def options(self, program: str, *names: str) -> list[Option]:
        """Return what is set of a program; all of it where no name is given."""
        return [
            option
            for option in self.of(Option)
            if option.program == program and (not names or option.name in names)
        ]

    def of_hosts(self, kind: type[F]) -> list[F]:
        """Return the facts of a kind that hosts set."""
        return [f for f in self.of(kind) if getattr(f, "side", None) is Side.HOST]

    @cached_property
    def host_pauses(self) -> list[facts.Pause]:
        """What NICs pause, where they pause anything."""
        return [host for host in self.of_hosts(facts.Pause) if host.priorities]

    @cached_property
    def host_map(self) -> dict[int, facts.Mapped]:
        """The priority that NICs give each DSCP."""
        return {host.source: host for host in self.of_hosts(facts.Mapped)}

    @cached_property
    def files(self) -> frozenset[str]:
        """The names of all files that were read, without their folders."""
        return frozenset(fact.file for fact in self.facts)

    @cached_property
    def rails(self) -> list[Address]:
        """The addresses of hosts that have a gateway."""
        return [host for host in self.of_hosts(Address) if host.gateway]

    @cached_property
    def cluster(self) -> Described | None:
        """The cluster document, where there is exactly one."""
        found = self.of(Described)
        return found[0] if len(found) == 1 else None

    @cached_property
    def nccl(self) -> tuple[int, ...] | None:
        """The version of NCCL, as far as anything says it."""
        if self._nccl is not None:
            return self._nccl
        said = [variable.value for variable in self.variables("NCCL_VERSION")]
        if self.cluster is not None:
            said.append(self.cluster.cluster.nccl.version)
        parts = [text.partition("-")[0].split(".") for text in said]
        numbers = [tuple(map(int, part)) for part in parts if all(p.isdecimal() for p in part)]
        return min(numbers) if numbers else None

    @cached_property
    def fabric(self) -> str:
        """The kind of fabric: said by a document or a file, or seen; empty where it is open."""
        if self.cluster is not None:
            return str(self.cluster.cluster.fabric.kind)
        meant = {meant.fabric for meant in self.of(facts.Meant)}
        if len(meant) == 1:
            return meant.pop()
        infiniband = self._sees_infiniband()
        roce = self._sees_roce()
        if infiniband != roce:
            return "infiniband" if infiniband else "roce"
        return ""

    @property
    def on_ethernet(self) -> bool:
        """Whether the fabric is known to be Ethernet."""
        return self.fabric in OF_ETHERNET

    def _sees_infiniband(self) -> bool:
        kinds = {network.kind for network in self.of(facts.Network)}
        links = {offered.link_type.lower() for offered in self.of(facts.Offered)}
        return bool(
            self.options("opensm")
            or self.of(facts.Partition)
            or self.of(facts.Guids)
            or kinds & {"SriovIBNetwork", "IPoIBNetwork", "ib-sriov", "ipoib"}
            or links & {"ib", "infiniband"}
        )

    def _sees_roce(self) -> bool:
        kinds = {network.kind for network in self.of(facts.Network)}
        links = {offered.link_type.lower() for offered in self.of(facts.Offered)}
        return bool(
            any(pause.priorities for pause in self.of(facts.Pause))
            or self.of(facts.Mark)
            or self.of(facts.Congestion)
            or kinds & {"SriovNetwork", "MacvlanNetwork", "OVSNetwork", "sriov", "macvlan"}
            or links & {"eth", "ethernet", "ether"}
        )

    @cached_property
    def sides(self) -> frozenset[Side]:
        """Who of those that must agree was read."""
        found = {
            port.side
            for kind in (facts.Pause, facts.Trust, facts.Mapped, Port, Address, facts.Bond)
            for port in cast("list[Port]", self.of(kind))
        }
        held = {
            Side.JOB: any(variable.name.startswith("NCCL_") for variable in self.of(Variable)),
            Side.HOST: bool(self.of(facts.Mark) or self.of(facts.Congestion)),
            Side.SWITCH: bool(self.of(Speaker)),
            Side.SUBNET: bool(self.options("opensm") or self.of(facts.Partition)),
            Side.KUBERNETES: bool(
                [
                    container
                    for container in self.of(facts.Container)
                    if container.engine != "docker"
                ]
                or self.of(facts.Workload)
            ),
            Side.SLURM: bool(self.of(facts.TreeSwitch) or self.options("slurm")),
            Side.CLUSTER: bool(self.of(Described)),
        }
        offered = bool(self.of(facts.Offered)) or bool(self.of(facts.AddressPool))
        offers = {Side.KUBERNETES} if offered else set()
        return frozenset(found | offers | {side for side, there in held.items() if there})

    @cached_property
    def switches(self) -> list[Device]:
        """Every switch, with the facts of its own files."""
        of_switches = (
            fact
            for fact in self.facts
            if fact.device and getattr(fact, "side", Side.SWITCH) is Side.SWITCH
        )
        groups = grouped(of_switches, lambda fact: (fact.device, fact.at.text.parent))
        found = [
            Device(name, _fleet(name, folder), facts)
            for (name, folder), facts in groups.items()
            if any(
                isinstance(fact, Speaker) or getattr(fact, "side", None) is Side.SWITCH
                for fact in facts
            )
        ]
        return sorted(found, key=lambda item: (item.fleet, item.name))

    @cached_property
    def absent(self) -> frozenset[str]:
        """Switches that sessions of those that were read lead to, and that no file is of.

        A name of a port's description, or the address of the session. A host is no switch.
        """
        hosts = {address.device for address in self.of(Address) if address.side is Side.HOST}
        read = {switch.name for switch in self.switches}
        own = {
            address.address.partition("/")[0]
            for switch in self.switches
            for address in switch.of(Address)
        }
        far = {name for switch in self.switches for name in _far_ends(switch)}
        return frozenset(far - hosts - read - own)

    def fleets(self) -> Iterator[list[Device]]:
        """Yield the switches that are configured together: one vendor's render, one folder."""
        yield from grouped(self.switches, lambda switch: switch.fleet).values()


def _far_ends(switch: Device) -> Iterator[str]:
    """Yield where the sessions of a switch lead, as far as its files say."""
    peers = {port.name: port.peer for port in switch.of(Port) if port.peer}
    for neighbor in switch.of(Neighbor):
        if neighbor.peer in peers:
            yield peers[neighbor.peer]
        elif "." in neighbor.peer and neighbor.peer.replace(".", "").isdecimal():
            yield neighbor.peer


def _fleet(device: str, folder: str) -> str:
    above, _, last = folder.rpartition("/")
    return above if last == device else folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One check of the tables."""

    layer: Layer
    severity: Severity
    reference: str
    """Where the rule is from: an address, or a standard."""
    check: Callable[[Case], Iterator[Problem]]
    needs: tuple[Side, ...] = ()
    """Who must have been read; with some of them missing the rule cannot be checked."""
    not_on: frozenset[str] = frozenset()
    """Kinds of fabric on which there is nothing to ask."""
    about: str
    """One line of summary and the four sections of its page."""

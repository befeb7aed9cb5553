"""Collectives compiled: rounds of sends become flows that wait for one another.

A send waits for the last writers of its chunks at its source. Channels are equal parts, each
on a NIC of its own. What switches reduce is in ``reductions``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from weft.engines.packet.reductions import Reduction, reduce_in_network
from weft.engines.packet.schedules import MOST_FLOWS, Ids, Work, too_many_flows
from weft.traffic import pxn
from weft.traffic.collective import Algorithm, Operation, Round, Send

CHAINS: Final = frozenset({Operation.BROADCAST, Operation.REDUCE})
"""Nothing but the order of sends keeps a root from sending all its chunks side by side."""
MOST_PIECES: Final = 64
"""A tree of six levels then fills for a tenth of its time; more pieces change little."""


def add_collective(
    work: Work,
    algorithm: Algorithm,
    operation: Operation,
    gpus: Sequence[int],
    size_bytes: float,
    *,
    ranks_per_domain: int,
    channels: int = 1,
    concurrency: int | None = None,
    pieces: int | None = None,
) -> None:
    """Add one collective over GPUs in rank order, in equal parts over channels.

    Channel c starts c ranks further in every domain and keeps to NIC c where ranks sit in
    domains, as NCCL's rings do. ``concurrency`` bounds the sends that one rank has under way
    where no chunk makes them wait (all-to-all). ``pieces`` go through the same rounds one after
    another: a rank sends on what it has of one while the next comes in.
    """
    whole = size_bytes / channels / _pieces(algorithm, operation, len(gpus))
    cuts = pieces or _usual_pieces(algorithm, whole)
    room = (MOST_FLOWS - len(work.source)) // (channels * cuts)
    _check_size(algorithm.schedule(operation, len(gpus), ranks_per_domain), room)
    rounds = list(algorithm.schedule(operation, len(gpus), ranks_per_domain))
    block = work.mark()
    nic = 0 if channels > 1 else None
    before: list[Ids] = []
    for _ in range(cuts):
        piece = _Compiler(
            work=work, gpus=list(gpus), chunk_bytes=whole / cuts, nic=nic, before=before,
            in_turn=operation in CHAINS,
            by_rail=algorithm.by_peers and pxn.is_used(work.fabric.cluster),
        )  # fmt: skip
        piece.add(rounds, concurrency)
        before = piece.every
    ends = work.mark()
    for channel in range(1, channels):
        turned = dict(zip(gpus, _turned(gpus, ranks_per_domain, channel), strict=True))
        _repeat(work, block, ends, channel % work.fabric.cluster.host.nics, turned)


def _usual_pieces(algorithm: Algorithm, chunk_bytes: float) -> int:
    """Return in how many pieces chunks pass: what they fill at the end of a long tree is small.

    >>> from types import SimpleNamespace
    >>> _usual_pieces(SimpleNamespace(piece_bytes=1 << 19), 3e6)
    6
    """
    if algorithm.piece_bytes is None:
        return 1
    return min(MOST_PIECES, max(1, ceil(chunk_bytes / algorithm.piece_bytes)))


def _check_size(rounds: Iterable[Round], most: int) -> None:
    """Refuse a schedule of too many sends before it fills the memory."""
    sends = 0
    for pair in rounds:
        sends += len(pair)
        if sends > most:
            raise too_many_flows()


def _repeat(
    work: Work, first: tuple[int, int], last: tuple[int, int], nic: int, turned: dict[int, int]
) -> None:
    """Add the flows of the first channel again, on another NIC and with its ranks turned.

    Ranks turn inside their host, so a flow between hosts changes its NIC alone.
    """
    begin, end = first[0], last[0]
    moved, step = len(work.source) - begin, nic * work.fabric.planes
    if len(work.source) + end - begin > MOST_FLOWS:
        raise too_many_flows()
    lines = _turned_lines(work, set(work.source[begin:end]), turned)
    for name in ("source", "target"):
        ends = getattr(work, name)
        ends += [e + step if e >= 0 else lines[e] for e in ends[begin:end]]
    for name in ("size_bytes", "begin_ps", "queue_pair", "traffic", "run"):
        values = getattr(work, name)
        values += values[begin:end]
    work.pairs += [
        (before + moved if before >= begin else before, after + moved)
        for before, after in work.pairs[first[1] : last[1]]
    ]


def _turned_lines(work: Work, sources: set[int], turned: dict[int, int]) -> dict[int, int]:
    """Map both ends of the delay lines of some flows to those of the ranks turned."""
    numbers = {number: line for line, number in work.lines.items()}
    found: dict[int, int] = {}
    for source in sorted(source for source in sources if source < 0):
        lane, delay = numbers[(-1 - source) // 2]
        line = work.lines.setdefault((turned[lane], delay), len(work.lines))
        found[source], found[source - 1] = -1 - 2 * line, -2 - 2 * line
    return found


def _pieces(algorithm: Algorithm, operation: Operation, ranks: int) -> int:
    """Return how many chunks make up the size as nccl-tests counts it, of one rank."""
    return ranks if operation is Operation.ALL_TO_ALL else algorithm.chunks(ranks)


def _turned(gpus: Sequence[int], per_domain: int, by: int) -> list[int]:
    """Turn the ranks of every domain by some places."""
    found: list[int] = []
    for first in range(0, len(gpus), per_domain):
        domain = list(gpus[first : first + per_domain])
        turn = by % len(domain)
        found += domain[turn:] + domain[:turn]
    return found


@dataclass(slots=True, kw_only=True)
class _Compiler:
    """One channel of a collective on its way from rounds to flows."""

    work: Work
    gpus: list[int]
    chunk_bytes: float
    nic: int | None
    writers: dict[tuple[int, int], Ids] = field(default_factory=dict)
    """(rank, chunk) -> flows that wrote it last."""
    sent: dict[int, list[Ids]] = field(default_factory=dict)
    """Rank -> its sends so far, where their number under way is bounded."""
    brought: set[int] = field(default_factory=set)
    """Flows from switches that feed no other flow yet."""
    reductions: int = 0
    before: list[Ids] = field(default_factory=list)
    """Flows of the same sends in the piece before; empty in the first."""
    in_turn: bool = False
    """Whether sends between the same two ranks go one after another, as along a chain."""
    by_rail: bool = False
    """Whether sends to another rail cross NVLink first (PXN)."""
    handed: dict[tuple[int, Ids], Ids] = field(default_factory=dict)
    """(source, what it waits for) -> the delay until its first piece is over NVLink."""
    ways: dict[tuple[int, int], Ids] = field(default_factory=dict)
    """(source, target) -> flows of the last send between them."""
    every: list[Ids] = field(default_factory=list)
    """Flows of each send, in order."""

    def add(self, rounds: Sequence[Round], concurrency: int | None) -> None:
        for place, pair in enumerate(rounds):
            if any(self._is_switch(send.source) for send in pair):
                continue  # what switches answer was added with what they were sent
            if any(self._is_switch(send.target) for send in pair):
                after = rounds[place + 1] if place + 1 < len(rounds) else ()
                self._reduce(pair, [send for send in after if self._is_switch(send.source)])
                continue
            inside = self._inside(pair)
            written = [(send, self._flows(send, inside, concurrency)) for send in pair]
            for send, flows in written:
                for chunk in send.chunks:
                    key = send.target, chunk
                    before = self.writers.get(key, ()) if send.reduce else ()
                    self.writers[key] = before + flows

    def _is_switch(self, rank: int) -> bool:
        return rank >= len(self.gpus)

    def _reduce(self, sends: Sequence[Send], answers: Sequence[Send]) -> None:
        """Add what goes to switches and what they answer, chunks of the same way together."""
        found = [
            (chunks, self._reduction(sources, targets, chunks))
            for (_, sources, targets), chunks in _ways(sends, answers).items()
        ]
        for chunks, flows in found:
            for rank, brought in flows.items():
                for chunk in chunks:
                    self.writers[rank, chunk] = brought

    def _reduction(self, sources: Ids, targets: Ids, chunks: Sequence[int]) -> dict[int, Ids]:
        size = len(chunks) * self.chunk_bytes
        after = {
            rank: tuple(sorted({w for c in chunks for w in self.writers.get((rank, c), ())}))
            for rank in sources
        }
        brought = {rank: self._brought(flows, size) for rank, flows in after.items()}
        one = Reduction(
            sources=tuple(self.gpus[rank] for rank in sources),
            targets=tuple(self.gpus[rank] for rank in targets),
            size_bytes=size,
            after={self.gpus[rank]: flows for rank, flows in after.items()},
            brought={self.gpus[rank]: f for rank, f in brought.items() if f is not None},
        )
        flows = reduce_in_network(self.work, one, self.reductions)
        self.reductions += 1
        rank_of = {self.gpus[rank]: rank for rank in targets}
        self.brought -= {flow for flow in brought.values() if flow is not None}
        self.brought.update(ids[0] for ids in flows.values() if len(ids) == 1)
        return {rank_of[gpu]: ids for gpu, ids in flows.items()}

    def _brought(self, flows: Ids, size_bytes: float) -> int | None:
        """Return the flow from a switch that brings just what is sent now, if one does."""
        alone = len(flows) == 1 and flows[0] in self.brought
        same = alone and self.work.size_bytes[flows[0]] == max(1, round(size_bytes))
        return flows[0] if same else None

    def _inside(self, one: Round) -> Counter[tuple[str, int]]:
        """Count the chunks that each rank moves inside its domain in one round."""
        found: Counter[tuple[str, int]] = Counter()
        for send in one:
            if self._host(send.source) == self._host(send.target):
                found["out", send.source] += len(send.chunks)
                found["in", send.target] += len(send.chunks)
        return found

    def _host(self, rank: int) -> int:
        return self.gpus[rank] // self.work.fabric.cluster.host.gpus

    def _flows(
        self, send: Send, inside: Counter[tuple[str, int]], concurrency: int | None
    ) -> Ids:
        after = {w for chunk in send.chunks for w in self.writers.get((send.source, chunk), ())}
        mine = self.sent.setdefault(send.source, []) if concurrency else []
        if concurrency and len(mine) >= concurrency:
            after.update(mine[-concurrency])
        way = send.source, send.target
        if self.in_turn:
            after.update(self.ways.get(way, ()))
        if self.before:
            after.update(self.before[len(self.every)])
        flows = self._one(send, inside, sorted(after))
        mine.append(flows)
        self.every.append(flows)
        self.ways[way] = flows
        return flows

    def _one(self, send: Send, inside: Counter[tuple[str, int]], after: list[int]) -> Ids:
        source, target = self.gpus[send.source], self.gpus[send.target]
        if self._host(send.source) == self._host(send.target):
            rate = self.work.fabric.cluster.host.scale_up.bytes_per_s
            busiest = max(inside["out", send.source], inside["in", send.target])
            return self.work.wait(source, busiest * self.chunk_bytes / rate, after)
        size = len(send.chunks) * self.chunk_bytes
        if self.by_rail and self.nic is None:
            return self._over_its_rail(source, target, size, tuple(after))
        return self.work.send(source, target, size, after=after, nic=self.nic)

    def _over_its_rail(self, source: int, target: int, size: float, after: Ids) -> Ids:
        """Send from the NIC of the receiver's rail, once NVLink has brought the first piece."""
        fabric = self.work.fabric
        near = fabric.nic_of_rail(source, target)
        if near != fabric.nic_of(source):
            handing_s = pxn.handing_over_s(fabric.cluster, size)
            if (source, after) not in self.handed:
                self.handed[source, after] = self.work.wait(source, handing_s, after)
            after = self.handed[source, after]
        return self.work.send(source, target, size, after=after, near_nic=near)


def _ways(
    sends: Sequence[Send], answers: Sequence[Send]
) -> dict[tuple[int, Ids, Ids], list[int]]:
    """Group chunks by switch, the ranks that send them there and those that get them back."""
    into: dict[tuple[int, int], list[int]] = {}
    back: dict[tuple[int, int], list[int]] = {}
    for send in sends:
        for chunk in send.chunks:
            into.setdefault((send.target, chunk), []).append(send.source)
    for send in answers:
        for chunk in send.chunks:
            back.setdefault((send.source, chunk), []).append(send.target)
    found: dict[tuple[int, Ids, Ids], list[int]] = {}
    for (switch, chunk), sources in into.items():
        targets = tuple(back.get((switch, chunk), ()))
        found.setdefault((switch, tuple(sources), targets), []).append(chunk)
    return found

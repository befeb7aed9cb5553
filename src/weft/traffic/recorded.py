"""A job as it was traced: what every rank did, in which order, and what it waited for.

A span begins when all it waits for has ended, plus a lag: what the trace leaves between the two
(launches, the host, other work). So a replay in which every span takes its traced time ends
when the trace does. A collective moves once all its ranks are there; its traced time is that
of the rank that came last, so that waiting for others is none of it.
"""

import heapq
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from weft.errors import Infeasible, SpecError
from weft.readers.trace import Call, Span, Traced
from weft.traffic.collective import Operation, operation_in

_ROUNDING_S: Final = 1e-8
"""Times of a trace are microseconds with three digits."""
_TRANSFERS: Final = frozenset({"send", "recv"})
_BARRIER_BYTES: Final = 4.0
MOST_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class Node:
    """A span of one rank in the graph of the job."""

    rank: int
    span: Span
    after: tuple[int, ...]
    """Nodes that end before."""
    lag_s: float
    """From the end of the last of them to the begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One collective, or one transfer, as its ranks ran it together."""

    operation: Operation | None
    """None for what no engine predicts: it keeps its traced time."""
    name: str
    """As the trace has it."""
    size_bytes: float
    ranks: tuple[int, ...]
    members: tuple[int, ...]
    """Nodes of the traced ranks."""
    starters: tuple[int, ...]
    """Those of them that must be there before it moves."""
    traced_s: float
    """From the arrival of the last rank to its end; 0 where no time was recorded."""
    later_s: tuple[float, ...]
    """By member: how much later than the first it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A traced job as a graph."""

    name: str
    ranks: int
    traced_ranks: tuple[int, ...]
    """One that stands for all, or all."""
    steps: int
    nodes: tuple[Node, ...]
    instances: tuple[Instance, ...]
    traced_s: float | None
    """From the first begin to the last end; none where only dependencies were recorded."""
    waits_recorded: bool
    notes: tuple[str, ...]


def recorded(
    name: str, traces: Sequence[Traced], *, ranks: int | None = None, early: bool = False
) -> Recorded:
    """Return the graph of a job.

    Where a trace does not tell which computing waited for a collective: what was idle when it
    ended waits for it; with ``early`` the next computing after its end does. Raises SpecError
    where ranks are missing, given twice, or do not fit together.
    """
    world, numbered = _numbered(traces, ranks)
    orders = {rank: _ordered(traced) for rank, traced in numbered.items()}
    calls = {rank: list(_calls(rank, traced, world, orders[rank]))
             for rank, traced in numbered.items()}  # fmt: skip
    clocks = _clocks(numbered, calls)
    zero_s = min(
        min(span.begin_s for span in traced.spans) - clocks[rank]
        for rank, traced in numbered.items()
    )
    nodes: list[Node] = []
    for rank, traced in sorted(numbered.items()):
        clock = clocks[rank] + zero_s
        nodes += _nodes_of((rank, traced), orders[rank], len(nodes), clock, early=early)
    timed = all(trace.timed for trace in traces)
    instances = tuple(_instances(nodes, numbered, calls, timed=timed))
    waits = all(trace.waits_recorded for trace in traces)
    end = max(_end(node.span) for node in nodes)
    return Recorded(
        name=name, ranks=world, traced_ranks=tuple(sorted(numbered)),
        steps=max(trace.steps for trace in traces), nodes=tuple(nodes), instances=instances,
        traced_s=end if timed else None, waits_recorded=waits,
        notes=tuple(dict.fromkeys(note for trace in traces for note in trace.notes)),
    )  # fmt: skip


def _end(span: Span) -> float:
    return span.begin_s + span.length_s


def _numbered(traces: Sequence[Traced], ranks: int | None) -> tuple[int, dict[int, Traced]]:
    """Return the number of ranks of the job, and its traces by rank."""
    found: dict[int, Traced] = {}
    for trace in traces:
        rank = 0 if trace.rank is None and len(traces) == 1 else trace.rank
        if rank is None:
            raise SpecError(
                f"{trace.source}: its rank is unknown; name it as rank0.json or job.0.et"
            )
        if rank in found:
            raise SpecError(f"{trace.source}: is rank {rank}, as is {found[rank].source}")
        found[rank] = trace
    stated = [trace.ranks or 0 for trace in traces]
    stated += [
        rank + 1 for trace in traces for group in trace.groups.values() for rank in group
    ]
    world = max(ranks or 0, *stated, max(found) + 1)
    if ranks is not None and world > ranks:
        raise SpecError(f"--ranks {ranks}: the traces are of {world} ranks")
    if world == 1:
        raise SpecError(
            f"{traces[0].source}: does not say how many ranks the job has; add --ranks"
        )
    missing = [rank for rank in range(world) if rank not in found]
    if missing and len(found) > 1:
        named = ", ".join(map(str, missing[:MOST_NAMED])) + ", ..." * (
            len(missing) > MOST_NAMED
        )
        raise SpecError(
            f"traces of {len(found)} of {world} ranks: missing are ranks {named}; give all "
            "ranks, or one that stands for all"
        )
    return world, found


def _group(call: Call, one: Traced, rank: int, world: int) -> tuple[int, ...]:
    """Return the ranks of a call."""
    if call.operation in _TRANSFERS:
        peer = call.peer
        if peer is None or peer == rank:
            return (rank,)
        return (rank, peer) if call.operation == "send" else (peer, rank)
    found = one.groups.get(call.group, ())
    if call.group and not found:
        raise SpecError(
            f"{one.source}: the ranks of process group {call.group!r} are not recorded; add a "
            'file that names them, as {"' + call.group + '": [0, 1]}'
        )
    if found and rank not in found:
        raise SpecError(
            f"{one.source}: rank {rank} calls {call.operation} in process group "
            f"{call.group!r}, which has ranks {list(found)[:MOST_NAMED]} without it"
        )
    return found or tuple(range(world))


Key = tuple[tuple[int, ...], str, int]


def _calls(
    rank: int, one: Traced, world: int, order: Sequence[int]
) -> Iterator[tuple[Key, int]]:
    """Yield the calls of a rank: ranks, name of the group and which call of it; its place."""
    count: dict[tuple[tuple[int, ...], str], int] = defaultdict(int)
    for place in order:
        call = one.spans[place].call
        if call is None:
            continue
        kind = "transfer" if call.operation in _TRANSFERS else call.group
        key = _group(call, one, rank, world), kind
        yield (*key, count[key]), place
        count[key] += 1


def _clocks(
    numbered: Mapping[int, Traced], calls: Mapping[int, list[tuple[Key, int]]]
) -> dict[int, float]:
    """Return by rank what its clock is ahead: collectives end at the same time on all ranks."""
    if len(numbered) == 1 or not all(traced.timed for traced in numbered.values()):
        return dict.fromkeys(numbered, 0.0)
    ends: dict[Key, dict[int, float]] = defaultdict(dict)
    for rank, traced in numbered.items():
        for key, place in calls[rank]:
            ends[key][rank] = _end(traced.spans[place])
    pairs: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for by_rank in ends.values():
        first, *others = by_rank
        for other in others:
            pairs[first][other].append(by_rank[other] - by_rank[first])
            pairs[other][first].append(by_rank[first] - by_rank[other])
    found: dict[int, float] = {}
    for start in numbered:
        waiting = [start] if start not in found else []
        found.setdefault(start, 0.0)
        while waiting:
            rank = waiting.pop()
            for other, ahead in pairs[rank].items():
                if other not in found:
                    found[other] = found[rank] + median(ahead)
                    waiting.append(other)
    return found


def _ordered(one: Traced) -> list[int]:
    """Return the places of the spans in an order in which they can run, by their begins."""
    waits = [len(set(span.after)) for span in one.spans]
    followers: dict[int, list[int]] = defaultdict(list)
    for place, span in enumerate(one.spans):
        for before in set(span.after):
            followers[before].append(place)
    ready = [(span.begin_s, at) for at, span in enumerate(one.spans) if not waits[at]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        place = heapq.heappop(ready)[1]
        order.append(place)
        for other in followers[place]:
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(ready, (one.spans[other].begin_s, other))
    if len(order) < len(one.spans):
        stuck = next(at for at, count in enumerate(waits) if count)
        raise SpecError(
            f"{one.source}: {len(one.spans) - len(order)} nodes wait for one another in a "
            f"cycle, among them {one.spans[stuck].name!r}; dependencies must not form a cycle"
        )
    return order


def _nodes_of(
    traced: tuple[int, Traced], order: list[int], first: int, clock_s: float, *, early: bool
) -> list[Node]:
    """Return the nodes of one rank, numbered from ``first``; at ``clock_s`` the job began."""
    rank, one = traced
    number = {place: first + at for at, place in enumerate(order)}
    after: dict[int, set[int]] = {
        place: set(span.after) for place, span in enumerate(one.spans)
    }
    last: dict[str, int] = {}
    for place in order:
        lane = one.spans[place].lane
        if lane in last:
            after[place].add(last[lane])
        last[lane] = place
    if one.timed and not one.waits_recorded:
        for place, before in _inferred(one, order, early=early):
            after[place].add(before)
    found = []
    for place in order:
        span = one.spans[place]
        earlier = sorted(after[place])
        lag_s = 0.0
        if one.timed:
            earlier = [b for b in earlier if _end(one.spans[b]) <= span.begin_s + _ROUNDING_S]
            ended = max((_end(one.spans[b]) for b in earlier), default=clock_s)
            lag_s = max(0.0, span.begin_s - ended)
        shifted = replace(span, begin_s=span.begin_s - clock_s)
        found.append(Node(rank, shifted, tuple(number[b] for b in earlier), lag_s))
    return found


def _inferred(one: Traced, order: list[int], *, early: bool) -> Iterator[tuple[int, int]]:
    """Yield (span, what it waited for) as far as times tell."""
    calls = sorted(
        (_end(span), at) for at, span in enumerate(one.spans) if span.call is not None
    )
    computed = sorted(
        (_end(span), at) for at, span in enumerate(one.spans) if span.call is None
    )
    idle_from: dict[str, float] = {}
    for place in sorted(order, key=lambda at: one.spans[at].begin_s):
        span = one.spans[place]
        free = idle_from.get(span.lane, float("-inf"))
        idle_from[span.lane] = max(free, _end(span))
        others = computed if span.call is not None else calls
        at = bisect_right(others, (span.begin_s + _ROUNDING_S, len(one.spans))) - 1
        # A call waits for computing in any case; computing for a call if that let it begin.
        if at >= 0 and (span.call is not None or others[at][0] > free):
            yield place, others[at][1]
    if early:
        starts = sorted(
            (span.begin_s, at) for at, span in enumerate(one.spans) if not span.call
        )
        for end, at in calls:
            following = bisect_left(starts, (end - _ROUNDING_S, -1))
            if following < len(starts):
                yield starts[following][1], at


def _instances(
    nodes: Sequence[Node],
    numbered: Mapping[int, Traced],
    calls: Mapping[int, list[tuple[Key, int]]],
    *,
    timed: bool,
) -> Iterator[Instance]:
    """Yield what ranks ran together: the same call of the same group."""
    keys = {rank: iter(rows) for rank, rows in calls.items()}
    together: dict[Key, list[int]] = defaultdict(list)
    for at, node in enumerate(nodes):
        if node.span.call is not None:  # nodes of a rank are in the order of its calls
            together[next(keys[node.rank])[0]].append(at)
    for key, members in together.items():
        _check(nodes, numbered, key, members)
        yield _instance(nodes, key[0], members, timed=timed)


def _check(
    nodes: Sequence[Node], numbered: Mapping[int, Traced], key: Key, members: Sequence[int]
) -> None:
    """Raise SpecError where ranks ran something else, or one of them did not run it."""
    ranks, kind, turn = key
    names: dict[str, int] = {}
    for at in members:
        call = nodes[at].span.call
        names.setdefault("" if call is None else call.operation, nodes[at].rank)
    if len(names) > 1 and kind != "transfer":
        (one, first), (other, second), *_ = names.items()
        raise SpecError(
            f"call {turn + 1} of {_named(kind)} is {one} on rank "
            f"{first} and {other} on rank {second}; the traces are not of the same steps"
        )
    if len(numbered) > 1:
        there = {nodes[at].rank for at in members}
        silent = [rank for rank in ranks if rank not in there]
        if silent:
            raise SpecError(
                f"{numbered[silent[0]].source}: rank {silent[0]} has {turn} calls of "
                f"{_named(kind)}, rank {min(there)} has more; a trace is cut short, or of "
                "other steps"
            )


def _named(kind: str) -> str:
    return f"process group {kind!r}" if kind else "the group of all ranks"


def _instance(
    nodes: Sequence[Node], ranks: tuple[int, ...], members: Sequence[int], *, timed: bool
) -> Instance:
    spans = [nodes[at].span for at in members]
    calls = [span.call for span in spans if span.call is not None]
    transfer = calls[0].operation in _TRANSFERS
    arrived = max(span.begin_s for span in spans)
    took = [
        max(0.0, _end(span) - arrived) if timed else span.length_s for span in spans
    ]  # fmt: skip
    starters = tuple(members)
    if transfer and not timed:  # a sender does not wait for its receiver
        starters = (
            tuple(
                at for at, call in zip(members, calls, strict=True) if call.operation == "send"
            )
            or starters
        )
    operation, size = _operation(calls, len(ranks))
    return Instance(
        operation=operation, name=calls[0].operation, size_bytes=size, ranks=ranks,
        members=tuple(members), starters=starters, traced_s=min(took),
        later_s=tuple(value - min(took) for value in took),
    )  # fmt: skip


def _operation(calls: Iterable[Call], ranks: int) -> tuple[Operation | None, float]:
    """Return what a call is, and its size; nothing where no engine predicts it."""
    named = list(calls)
    name = named[0].operation.lower()
    plain = name.replace("_", "")
    gathered = ranks if plain.startswith("allgather") else 1
    size = max(
        max(call.input_bytes * (1 if call.output_bytes else gathered), call.output_bytes)
        for call in named
    )
    if "barrier" in name:
        return Operation.ALL_REDUCE, _BARRIER_BYTES
    if name in _TRANSFERS and ranks > 1:
        return Operation.SEND_RECV, size
    if ranks == 1 or plain.startswith(("gather", "scatter")):
        return None, size
    return operation_in(name) if size > 0 else None, size


def check_fits(job: Recorded, gpus: int, cluster: str) -> None:
    """Raise Infeasible where a cluster has fewer GPUs than the job has ranks."""
    if job.ranks > gpus:
        raise Infeasible(
            f"{job.name} has {job.ranks} ranks and {cluster} {gpus} GPUs; give a larger "
            "cluster, as --gpus or --hosts"
        )

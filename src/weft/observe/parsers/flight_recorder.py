"""PyTorch's flight recorder, as JSON or pickled: the collectives of a rank, their states."""

from collections.abc import Iterable, Iterator
from typing import Any

from weft.observe.facts.base import Clock, Evidence, Fact, Moment, Process
from weft.observe.facts.collectives import CollectiveCall, WorkProgress
from weft.observe.parser import Parser, Source
from weft.observe.parsers._values import integer

_NANO = 1e-9
_MOST_FRAMES = 3
_KEPT = 2_000
_UNFINISHED = {"scheduled", "started"}


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict) or not isinstance(value.get("entries"), list):
        return None
    entries = [one for one in value["entries"] if isinstance(one, dict)]
    if entries and not {"profiling_name", "state", "collective_seq_id"} & entries[0].keys():
        return None
    rank = integer(value.get("rank"))
    status = value.get("pg_status")
    return [
        *_calls(entries, rank, source, number),
        *_progress(status if isinstance(status, dict) else {}, rank, source, number),
    ]


def _progress(
    status: dict[str, Any], rank: int | None, source: Source, number: int
) -> Iterator[Fact]:
    """Return how far the rank had got, by the counts of each group."""
    for group, one in list(status.items())[:_KEPT]:
        counts = one if isinstance(one, dict) else {}
        last = {
            name: integer(counts.get(f"last_{name}_collective"))
            for name in ("enqueued", "started", "completed")
        }
        if any(count is not None and count >= 0 for count in last.values()):
            text = f"rank {rank} group {group} {last}"
            yield WorkProgress(
                last_enqueued=last["enqueued"],
                last_started=last["started"],
                last_completed=last["completed"],
                process=Process(host=source.host, rank=rank),
                evidence=Evidence(source.file, number, text),
            )


def _calls(
    entries: list[dict[str, Any]], rank: int | None, source: Source, number: int
) -> Iterator[Fact]:
    unfinished = [one for one in entries if str(one.get("state")) in _UNFINISHED]
    last = entries[-_KEPT:]
    chosen = {id(one): one for one in (*last, *unfinished[:_KEPT])}
    for one in chosen.values():
        yield _call(one, rank, source, number)


def _call(one: dict[str, Any], rank: int | None, source: Source, number: int) -> CollectiveCall:
    named = str(one.get("profiling_name") or one.get("name") or "")
    sequence = integer(one.get("collective_seq_id", one.get("seq_id"))) or 0
    created = one.get("time_created_ns")
    frames = one.get("frames")
    names = [
        f"{frame.get('filename')}:{frame.get('line')}"
        for frame in (frames if isinstance(frames, list) else [])[:_MOST_FRAMES]
        if isinstance(frame, dict)
    ]
    state = str(one.get("state", ""))
    group = one.get("process_group")
    text = f"rank {rank} {named} seq {sequence} {state} {one.get('input_sizes')}"
    return CollectiveCall(
        operation=named.removeprefix("nccl:"),
        sequence=sequence,
        state=state,
        shape=str(one.get("input_sizes", "")),
        group=str(group[0] if isinstance(group, list) and group else group or ""),
        stack=" ".join(names),
        moment=Moment(created * _NANO, Clock.EPOCH) if isinstance(created, int) else None,
        process=Process(host=source.host, rank=rank),
        evidence=Evidence(source.file, number, text[:300]),
    )


flight_recorder = Parser(tool="PyTorch flight recorder", document=_document)

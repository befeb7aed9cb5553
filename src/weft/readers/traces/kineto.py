"""PyTorch's profiler (Kineto): a Chrome trace of kernels by stream, with NCCL's metadata.

What waits for what: a collective waits for the kernels of the launching thread that were
launched before it (ProcessGroupNCCL records an event on that stream), and a kernel waits for a
collective where the trace holds "Stream Wait Event" (cuda_sync). Without a GPU the host's
outermost operators and the spans of gloo take the place of kernels.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final

import re2

from weft.readers.trace import Call, Document, Format, Span, Traced
from weft.readers.untrusted import Malformed

_MICROSECOND: Final = 1e-6
_ON_GPU: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_NCCL: Final = re2.compile(r"nccl\w*?Kernel_([A-Za-z]+)")
_NUMBER: Final = re2.compile(r"\d{1,9}")
_SYNC: Final = "Stream Wait Event"
_STEP: Final = "ProfilerStep#"
_GLOO: Final = "gloo:"
_ELEMENT_BYTES: Final = {
    "float": 4, "double": 8, "half": 2, "bfloat16": 2, "long": 8, "int": 4, "short": 2,
    "char": 1, "byte": 1, "bool": 1, "complexhalf": 4, "complexfloat": 8, "complexdouble": 16,
    "uint16": 2, "uint32": 4, "uint64": 8, "long int": 8, "unsigned int": 4,
    "unsigned long": 8, "unsigned char": 1, "signed char": 1,
}  # fmt: skip
"""By c10::ScalarType, and by the C++ name that shapes are recorded with."""
HOST_ALONE: Final = (
    "no GPU in the trace: the host's operators are the computing, and collectives of gloo, "
    "which records no process group, span all ranks"
)


def _claims(document: Document) -> bool:
    value = document.value
    return isinstance(value, dict) and isinstance(value.get("traceEvents"), list)


Groups = MutableMapping[str, tuple[int, ...]]
"""Ranks by name of a process group."""


@dataclass(frozen=True, slots=True)
class _Event:
    """A complete event: a span with what tells its order of launch."""

    span: Span
    launch: int
    """Correlation of its launch; -1 where there is none."""


def _reads(document: Document) -> Traced:
    value = document.value
    events = [item for item in value["traceEvents"] if isinstance(item, dict)]
    info = value.get("distributedInfo")
    info = info if isinstance(info, dict) else {}
    groups = _groups(info)
    found = [_event(event, groups) for event in events if _is_on_gpu(event)]
    on_gpu = bool(found)
    if not on_gpu:
        found = [_event(span, groups) for span in _host_spans(events)]
    found.sort(key=lambda event: (event.span.begin_s, event.span.length_s))
    syncs = [_args(event) for event in events if event.get("name") == _SYNC]
    after = _after(found, syncs)
    spans = tuple(
        replace(event.span, after=tuple(sorted(after.get(place, ()))))
        for place, event in enumerate(found)
    )
    notes = () if on_gpu else (HOST_ALONE,)
    steps = {event.get("name") for event in events if str(event.get("name")).startswith(_STEP)}
    return Traced(
        source=document.name, rank=_whole(info.get("rank")),
        ranks=_whole(info.get("world_size")),
        groups={name: ranks for name, ranks in groups.items() if ranks}, spans=spans,
        steps=max(1, len(steps)), waits_recorded=bool(syncs), notes=notes,
    )  # fmt: skip


def _args(event: Mapping[str, Any]) -> Mapping[str, Any]:
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def _whole(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _groups(info: Mapping[str, Any]) -> Groups:
    rows = info.get("pg_config")
    found: Groups = {}
    for row in rows if isinstance(rows, list) else ():
        ranks = row.get("ranks") if isinstance(row, dict) else None
        if isinstance(ranks, list) and ranks and all(type(rank) is int for rank in ranks):
            found[str(row.get("pg_name", ""))] = tuple(ranks)
    return found


def _is_on_gpu(event: Mapping[str, Any]) -> bool:
    return event.get("ph") == "X" and event.get("cat") in _ON_GPU


def _host_spans(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans of gloo, and of each thread the operators within no other."""
    ends: dict[object, float] = {}
    whole = [event for event in events if event.get("ph") == "X"]
    for row in sorted(whole, key=lambda event: (_time(event, "ts"), -_time(event, "dur"))):
        name, thread = str(row.get("name")), str(row.get("tid"))
        if name.startswith(_GLOO):
            yield {**row, "tid": name}
        elif row.get("cat") == "cpu_op" and _time(row, "ts") >= ends.get(thread, -math.inf):
            ends[thread] = _time(row, "ts") + _time(row, "dur")
            if not name.startswith("c10d::") and "c10d" not in name:
                yield row


def _time(event: Mapping[str, Any], key: str) -> float:
    value = event.get(key, 0)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or (key == "dur" and number < 0):
        name = str(event.get("name"))[:60]
        raise Malformed(f"event {name!r}: {key} is {value!r}; write microseconds")
    return number


def _event(event: Mapping[str, Any], groups: Groups) -> _Event:
    args = _args(event)
    stream = args.get("stream", event.get("tid"))
    launch = _whole(args.get("correlation"))
    span = Span(
        name=str(event.get("name"))[:200],
        begin_s=_time(event, "ts") * _MICROSECOND,
        length_s=_time(event, "dur") * _MICROSECOND,
        lane=f"{args.get('device', event.get('pid'))}:{stream}",
        call=_call(event, args, groups),
    )
    return _Event(span, -1 if launch is None else launch)


def _call(event: Mapping[str, Any], args: Mapping[str, Any], groups: Groups) -> Call | None:
    name = str(event.get("name"))
    operation = args.get("Collective name")
    if operation is None:
        if name.startswith(_GLOO):
            return _gloo_call(name, args)
        nccl = _NCCL.search(name)
        return None if nccl is None else Call(operation=nccl[1], input_bytes=0)
    group = str(args.get("Process Group Name", ""))
    if group not in groups:
        groups[group] = _ranks(args.get("Process Group Ranks"), args.get("Group size"))
    element = _element_bytes(args.get("dtype"))
    peer = args.get("Dst Rank", args.get("Src Rank"))
    return Call(
        operation=str(operation), group=group, peer=_whole(peer),
        input_bytes=_number(args.get("In msg nelems")) * element,
        output_bytes=_number(args.get("Out msg nelems")) * element,
    )  # fmt: skip


def _gloo_call(name: str, args: Mapping[str, Any]) -> Call:
    """Return a call of gloo, which records the shapes of its input and no process group."""
    shapes, kinds = (
        value if isinstance(value := args.get(key), list) else []
        for key in ("Input Dims", "Input type")
    )
    size = 0.0
    for shape, kind in zip(shapes, kinds, strict=False):
        if isinstance(shape, list) and shape and all(type(item) is int for item in shape):
            size += math.prod(shape) * _element_bytes(kind)
    return Call(operation=name.removeprefix(_GLOO), input_bytes=size)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value >= 0 else 0.0


def _element_bytes(kind: object) -> int:
    name = str(kind).lower().removeprefix("c10::")
    return 1 if name.startswith("float8") else _ELEMENT_BYTES.get(name, 0)


def _ranks(text: object, size: object) -> tuple[int, ...]:
    """Return the ranks of a group; long ones are written "[0, 8, ..., 1016]".

    >>> _ranks("[0, 8, 16, ..., 56]", 8)
    (0, 8, 16, 24, 32, 40, 48, 56)
    """
    if isinstance(text, list):
        text = json.dumps(text)
    numbers = [int(found) for found in _NUMBER.findall(str(text or ""))]
    if len(numbers) > 2 and "..." in str(text) and isinstance(size, int):  # noqa: PLR2004
        numbers = numbers[:-1] + list(
            range(numbers[-2] + numbers[1] - numbers[0], numbers[-1] + 1,
                  max(1, numbers[1] - numbers[0]))
        )  # fmt: skip
    return tuple(numbers) if size in {None, len(numbers)} else ()


def _after(found: list[_Event], syncs: list[Mapping[str, Any]]) -> dict[int, set[int]]:
    """Return by place what each span had to wait for, as launches and recorded waits tell."""
    after: dict[int, set[int]] = {}
    by_lane: dict[str, list[tuple[int, int]]] = {}
    for place, event in enumerate(found):
        if event.launch >= 0:
            by_lane.setdefault(event.span.lane, []).append((event.launch, place))
    for lane in by_lane.values():
        lane.sort()
    computing = sorted(
        (event.launch, place)
        for place, event in enumerate(found)
        if event.launch >= 0 and event.span.call is None
    )
    for place, event in enumerate(found):
        if event.span.call is not None and event.launch >= 0:
            at = bisect_left(computing, (event.launch, -1)) - 1
            if at >= 0:
                after.setdefault(place, set()).add(computing[at][1])
    for sync in syncs:
        device = sync.get("device")
        own = by_lane.get(f"{device}:{sync.get('stream')}", [])
        other = by_lane.get(f"{device}:{sync.get('wait_on_stream')}", [])
        waits = bisect_left(own, (_whole(sync.get("correlation")) or 0, -1))
        ended = bisect_left(
            other, (_whole(sync.get("wait_on_cuda_event_record_corr_id")) or 0, -1)
        )
        if waits < len(own) and ended > 0:
            after.setdefault(own[waits][1], set()).add(other[ended - 1][1])
    return after


kineto = Format(title="PyTorch profiler (Chrome trace JSON)", claims=_claims, reads=_reads)

"""MLCommons Chakra execution traces: a graph of nodes, as protobuf (.et) or JSON.

Nodes run once their ``data_deps`` have ended; computing on one stream, and collectives on one
process group, run one after the other [et_def.proto of the Chakra schema]. JSON is read as
protobuf's own JSON, node after node, and as the ``workload_graph`` of Chakra's feeder.
"""

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weft.readers.trace import Call, Document, Format, Span, Traced
from weft.readers.untrusted import Malformed

_MICROSECOND: Final = 1e-6
_SEND, _RECV, _COLLECTIVE = 5, 6, 7
_METADATA: Final = 1
_KINDS: Final = {
    "INVALID_NODE": 0, "METADATA_NODE": 1, "MEM_LOAD_NODE": 2, "MEM_STORE_NODE": 3,
    "COMP_NODE": 4, "COMM_SEND_NODE": 5, "COMM_RECV_NODE": 6, "COMM_COLL_NODE": 7,
}  # fmt: skip
_OPERATIONS: Final = (
    "all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all",
    "reduce_scatter", "reduce_scatter", "barrier",
)  # fmt: skip
"""By CollectiveCommType."""
_ID, _NAME, _TYPE, _DEPS, _BEGIN, _LENGTH, _ATTRIBUTE = 1, 2, 3, 5, 6, 7, 10
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DOUBLE_VALUE, _FLOAT_VALUE, _STRING_VALUE = 3, 5, 29
_LONGEST_VARINT: Final = 10
_LONGEST_DECIMAL: Final = 20
"""Of 64 bits."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the graph, whichever way it was written."""

    number: int
    name: str
    kind: int
    deps: tuple[int, ...]
    begin: float
    length: float
    """Both in microseconds."""
    attributes: Mapping[str, Any]


def _claims(document: Document) -> bool:
    value = document.value
    if value is None:
        return bool(document.data) and ".et" in Path(document.name).suffixes
    return _rows(value) is not None


def _rows(value: Any) -> list[Any] | None:  # noqa: ANN401 - any JSON
    """Return the nodes of a JSON document; none where it is no Chakra trace."""
    if isinstance(value, dict):
        if isinstance(value.get("nodes"), list) and "chakra" in str(value.get("schema")):
            raise Malformed(
                "a PyTorch execution trace of the host has no times; give the Kineto trace of "
                "the same run, or link both with chakra_trace_link and chakra_converter"
            )
        rows = value.get("workload_graph")
        return rows if isinstance(rows, list) else None
    if not isinstance(value, list):
        return None
    nodes = [item for item in value if isinstance(item, dict) and "id" in item]
    return nodes or None


def _reads(document: Document) -> Traced:
    rows = None if document.value is None else _rows(document.value)
    nodes = list(_proto_nodes(document.data) if rows is None else map(_json_node, rows))
    kept = [node for node in nodes if node.kind != _METADATA]
    places = {node.number: place for place, node in enumerate(kept)}
    if len(places) < len(kept):
        raise Malformed("two nodes have the same id; one trace is one rank")
    missing = sum(dep not in places for node in kept for dep in node.deps)
    spans = tuple(
        Span(
            name=node.name[:200], begin_s=node.begin * _MICROSECOND,
            length_s=node.length * _MICROSECOND, lane=_lane(node),
            after=tuple(places[dep] for dep in node.deps if dep in places), call=_call(node),
        )
        for node in kept
    )  # fmt: skip
    notes = (f"{missing} dependencies name nodes that the trace does not hold",) * bool(missing)
    return Traced(
        source=document.name, rank=None, ranks=None, spans=spans,
        timed=any(node.begin for node in kept), notes=notes,
    )  # fmt: skip


def _lane(node: _Node) -> str:
    call = _call(node)
    if call is not None:
        return f"group {call.group} {call.operation if node.kind in {_SEND, _RECV} else ''}"
    host = node.attributes.get("is_cpu_op")
    key = "tid" if host else "stream"
    return f"{'host' if host else 'gpu'} {node.attributes.get(key, 0)}"


def _call(node: _Node) -> Call | None:
    attributes = node.attributes
    size = _positive(node, "comm_size") or 0.0
    if node.kind in {_SEND, _RECV}:
        peer = _positive(node, "comm_dst" if node.kind == _SEND else "comm_src")
        name = "send" if node.kind == _SEND else "recv"
        return Call(operation=name, input_bytes=size, peer=None if peer is None else int(peer))
    kind = _positive(node, "comm_type")
    if node.kind != _COLLECTIVE or kind is None:
        return None
    if int(kind) >= len(_OPERATIONS):
        raise Malformed(
            f"node {node.number}: comm_type is {kind}; the schema has 0 to "
            f"{len(_OPERATIONS) - 1}"
        )
    group = str(attributes.get("pg_name") or "")
    return Call(operation=_OPERATIONS[int(kind)], input_bytes=size, group=group)


def _positive(node: _Node, key: str) -> float | None:
    """Return an attribute that is a number; none where there is no such attribute."""
    value = node.attributes.get(key)
    if value is None:
        return None
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise Malformed(f"node {node.number}: {key} is {value!r}, not a number from 0")
    return float(value)


def _json_node(row: Any) -> _Node:  # noqa: ANN401 - any JSON
    if not isinstance(row, dict):
        raise Malformed(f"a node is {type(row).__name__}, not an object")
    flat = {key.replace("_", "").lower(): value for key, value in row.items()}
    attributes = {
        key: value for key, value in row.items() if not isinstance(value, list | dict)
    }
    listed = row.get("attr")
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict):
            values = [value for key, value in item.items() if key not in {"name", "docString"}]
            attributes[str(item.get("name"))] = values[0] if values else None
    kind = flat.get("nodetype", flat.get("type", 0))
    deps = flat.get("datadeps")
    try:
        begin = float(flat.get("starttimemicros") or 0)
        length = float(flat.get("durationmicros", flat.get("runtime")) or 0)
        if not (0 <= begin < math.inf and 0 <= length < math.inf):
            raise Malformed(f"node {flat['id']}: a time is below 0 or endless")  # noqa: TRY301
        return _Node(
            number=int(flat["id"]), name=str(flat.get("name", "")),
            kind=_KINDS[kind] if isinstance(kind, str) else int(kind),
            deps=tuple(int(dep) for dep in deps or ()), begin=begin, length=length,
            attributes={key: _number(value) for key, value in attributes.items()},
        )  # fmt: skip
    except Malformed:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as failure:
        raise Malformed(
            f"node {str(row.get('id', row.get('Id')))[:40]}: {failure}"
        ) from failure


def _number(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return protobuf's JSON of 64-bit integers, which are strings, as numbers."""
    whole = isinstance(value, str) and value.isdecimal() and len(value) <= _LONGEST_DECIMAL
    return int(value) if whole else value


def _proto_nodes(data: bytes) -> Iterator[_Node]:
    """Yield the nodes of messages one after the other, each behind its length."""
    place, first = 0, True
    while place < len(data):
        begin = place
        length, place = _varint(data, place)
        if place + length > len(data):
            raise Malformed(f"byte {begin}: a message of {length} bytes is cut short")
        if not first:  # the first one is GlobalMetadata
            yield _proto_node(data[place : place + length])
        first = False
        place += length


def _proto_node(data: bytes) -> _Node:
    single: dict[int, Any] = {}
    deps: list[int] = []
    attributes: dict[str, Any] = {}
    for number, value in _fields(data):
        if number == _DEPS:
            deps += _packed(value) if isinstance(value, bytes) else [value]
        elif number == _ATTRIBUTE and isinstance(value, bytes):
            name, content = _attribute(value)
            attributes[name] = content
        else:
            single[number] = value
    name = single.get(_NAME, b"")
    numbers = {key: single.get(key, 0) for key in (_ID, _TYPE, _BEGIN, _LENGTH)}
    if not isinstance(name, bytes) or any(
        isinstance(number, bytes) for number in numbers.values()
    ):
        raise Malformed("a node has a field of another type than the Chakra schema")
    return _Node(
        number=numbers[_ID], name=name.decode("utf-8", "replace"), kind=numbers[_TYPE],
        deps=tuple(deps), begin=numbers[_BEGIN], length=numbers[_LENGTH], attributes=attributes,
    )  # fmt: skip


def _attribute(data: bytes) -> tuple[str, Any]:
    name = ""
    content: Any = None
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif number == _STRING_VALUE and isinstance(value, bytes):
            content = value.decode("utf-8", "replace")
        elif number in {_DOUBLE_VALUE, _FLOAT_VALUE} and isinstance(value, bytes):
            content = struct.unpack("<d" if len(value) == 8 else "<f", value)[0]  # noqa: PLR2004
        elif number > 2 and isinstance(value, int):  # noqa: PLR2004 - after name and doc_string
            content = value
    return name, content


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a protobuf message: numbers, or bytes of all else."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        wire = tag & 7
        if wire == _VARINT:
            value, place = _varint(data, place)
            yield tag >> 3, value
            continue
        length = {_FIXED64: 8, _FIXED32: 4}.get(wire, -1)
        if wire == _BYTES:
            length, place = _varint(data, place)
        if length < 0 or place + length > len(data):
            raise Malformed("is no Chakra trace: a field is cut short or of an unknown type")
        yield tag >> 3, data[place : place + length]
        place += length


def _packed(data: bytes) -> list[int]:
    found, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        found.append(value)
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for count in range(_LONGEST_VARINT):
        if place + count >= len(data):
            break
        byte = data[place + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:  # noqa: PLR2004 - the last byte of a number
            return value, place + count + 1
    raise Malformed("is no Chakra trace: a number is cut short or longer than 64 bits")


chakra = Format(title="Chakra execution trace (.et, JSON)", claims=_claims, reads=_reads)

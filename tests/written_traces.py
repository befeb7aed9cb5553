"""Traces as Chakra and PyTorch's profiler write them, of jobs that a test makes up."""

import json

COMPUTE, SEND, RECV, COLLECTIVE = 4, 5, 6, 7
MICROSECOND = 1e-6


def _varint(number):
    out = b""
    while True:
        low, number = number & 127, number >> 7
        out += bytes([low | (128 if number else 0)])
        if not number:
            return out


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def node(number, kind=COMPUTE, deps=(), micros=0, **attributes):
    """Describe a node of a Chakra trace; ``stream``, ``comm_size`` and so on are attributes."""
    return {"id": number, "name": f"n{number}", "kind": kind, "deps": list(deps),
            "micros": micros, "attributes": attributes}  # fmt: skip


def chakra(nodes):
    """Write nodes as an .et file: a message of metadata, then one a node."""
    messages = [_field(1, "0.0.4")]
    for one in nodes:
        data = _field(1, one["id"]) + _field(2, one["name"]) + _field(3, one["kind"])
        data += _field(5, b"".join(map(_varint, one["deps"]))) + _field(7, one["micros"])
        for key, value in one["attributes"].items():
            kind = 29 if isinstance(value, str) else 9
            data += _field(10, _field(1, key) + _field(kind, value))
        messages.append(data)
    return b"".join(_varint(len(one)) + one for one in messages)


def chakra_json(nodes):
    """Write the same as the JSON of Chakra's feeder."""
    rows = [
        {"Id": one["id"], "Name": one["name"], "NodeType": one["kind"],
         "data_deps": one["deps"], "runtime": one["micros"], **one["attributes"]}
        for one in nodes
    ]  # fmt: skip
    return json.dumps({"workload_graph": rows}).encode()


def kernel(begin, micros, stream=7, correlation=None, **args):
    """Describe a kernel of a Kineto trace, in microseconds."""
    own = {"stream": stream, "device": 0, **args}
    if correlation is not None:
        own["correlation"] = correlation
    return {"ph": "X", "cat": "kernel", "name": "kernel", "pid": 0, "tid": stream,
            "ts": begin, "dur": micros, "args": own}  # fmt: skip


def nccl(begin, micros, elements, ranks, *, name="allreduce", stream=20, correlation=None):
    """Describe a kernel of NCCL with its metadata; elements are of 4 bytes."""
    return kernel(
        begin, micros, stream, correlation,
        **{"Collective name": name, "In msg nelems": elements, "Out msg nelems": elements,
           "dtype": "Float", "Group size": len(ranks), "Process Group Name": "0",
           "Process Group Ranks": str(list(ranks))},
    )  # fmt: skip


def waits(correlation, stream, on, recorded):
    """Describe a stream that waits for what another has run up to a launch."""
    return {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 0, "dur": 0,
            "args": {"stream": stream, "wait_on_stream": on, "correlation": correlation,
                     "wait_on_cuda_event_record_corr_id": recorded, "device": 0}}  # fmt: skip


def kineto(events, rank=0, ranks=2):
    """Write a Chrome trace of one rank."""
    groups = [{"pg_name": "0", "ranks": list(range(ranks))}]
    info = {"backend": "nccl", "rank": rank, "world_size": ranks, "pg_config": groups}
    return json.dumps({"distributedInfo": info, "traceEvents": events}).encode()

"""Traces of strangers: read as their makers write them, and refused with the place."""

import gzip
import json
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import SpecError, Unreadable, WeftError
from weft.readers import trace
from weft.readers.trace import read_job
from written_traces import COLLECTIVE, chakra, chakra_json, kernel, kineto, nccl, node, waits

SAMPLE = Path(__file__).parents[2] / "samples" / "traces" / "ddp"


def read(tmp_path, data, name="rank0.json"):
    (tmp_path / name).write_bytes(data)
    return read_job([tmp_path / name])[0]


def test_a_trace_of_the_profiler_has_its_ranks_groups_steps_and_collectives():
    found = read_job([SAMPLE])
    assert [one.rank for one in found] == [0, 1, 2, 3]
    for one in found:
        assert (one.ranks, one.steps) == (4, 2)
        assert one.groups == {"0": (0, 1, 2, 3)}
        calls = [span.call for span in one.spans if span.call]
        # Two steps of a model of 4 layers of 512 x 512 and their biases, in buckets of 2 MiB.
        parameters = 4 * (512 * 512 + 512)
        assert sum(call.input_bytes for call in calls) == 2 * 4 * parameters
        assert {call.operation for call in calls} == {"all_reduce"}
        assert any("no GPU" in note for note in one.notes)


def test_gathers_and_scatters_have_the_size_of_both_buffers(tmp_path):
    event = nccl(0, 9, 10, [0, 1], name="_allgather_base")
    event["args"]["Out msg nelems"] = 20
    event["args"]["dtype"] = "BFloat16"
    call = read(tmp_path, kineto([event])).spans[0].call
    assert (call.operation, call.input_bytes, call.output_bytes) == ("_allgather_base", 20, 40)


def test_a_collective_waits_for_what_was_launched_before_it(tmp_path):
    events = [kernel(0, 5, correlation=1), kernel(5, 5, correlation=3),
              nccl(5, 9, 10, [0, 1], correlation=2), kernel(14, 1, correlation=6),
              waits(5, 7, 20, 4)]  # fmt: skip
    found = read(tmp_path, kineto(events))
    after = [span.after for span in found.spans]
    assert found.waits_recorded
    call = next(at for at, span in enumerate(found.spans) if span.call)
    assert after[call] == (0,)  # the first kernel, not the one launched later
    assert after[3] == (call,)  # the kernel behind the recorded wait


@pytest.mark.parametrize("ranks", ["[0, 2, 4, ..., 62]", "[0, 2, 4, ..., 60, 62]"])
def test_long_groups_are_written_short(tmp_path, ranks):
    event = nccl(0, 9, 10, [0, 2])
    event["args"] |= {"Process Group Ranks": ranks, "Group size": 32, "Process Group Name": "7"}
    if ranks.count(",") > 4:
        event["args"]["Group size"] = 33  # no regular stride gives so many
        assert "7" not in read(tmp_path, kineto([event])).groups
    else:
        assert read(tmp_path, kineto([event])).groups["7"] == tuple(range(0, 64, 2))


def graphs():
    """Draw graphs of computing and collectives, each waiting for some before it."""

    @st.composite
    def build(draw):
        nodes = []
        for number in range(draw(st.integers(1, 8))):
            deps = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
            more = {"stream": draw(st.integers(0, 2))}
            kind = draw(st.sampled_from([4, COLLECTIVE]))
            if kind == COLLECTIVE:
                more |= {"comm_type": draw(st.sampled_from([0, 2, 5, 6, 7, 9]))}
                more |= {"comm_size": draw(st.integers(1, 1 << 40)), "pg_name": "dp"}
            nodes.append(node(number, kind, sorted(deps), draw(st.integers(0, 10**9)), **more))
        more = {"comm_type": 0, "comm_size": 4, "pg_name": "dp", "stream": 0}
        return [*nodes, node(len(nodes), COLLECTIVE, [], 1, **more)]

    return build()


@given(graphs())
def test_both_forms_of_a_chakra_trace_are_the_same_graph(tmp_path_factory, nodes):
    folder = tmp_path_factory.mktemp("et")
    proto = read(folder, chakra(nodes), "job.0.et")
    text = read(folder, chakra_json(nodes), "job.0.json")
    assert proto.spans == text.spans
    assert [span.after for span in proto.spans] == [tuple(one["deps"]) for one in nodes]
    micros = [round(span.length_s * 1e6) for span in proto.spans]
    assert micros == [one["micros"] for one in nodes]
    assert (proto.rank, proto.timed) == (0, False)


ONE = chakra([node(0), node(1, COLLECTIVE, [0], 5, comm_type=0, comm_size=64)])


def test_packed_traces_folders_and_archives_are_one_job(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    (job / "a.0.et.gz").write_bytes(gzip.compress(ONE))
    (job / "a.1.et").write_bytes(ONE)
    (job / "groups.json").write_text('{"dp": [0, 1]}')
    with tarfile.open(tmp_path / "job.tar.gz", "w:gz") as archive:
        archive.add(job, "job")
    for place in (job, tmp_path / "job.tar.gz"):
        found = read_job([place])
        assert sorted(one.rank for one in found) == [0, 1]
        assert all(one.groups == {"dp": (0, 1)} for one in found)


WRONG = {
    "cut_short": ("a.0.et", ONE[:-3], "cut short"),
    "gzip_cut_short": ("rank0.json.gz", gzip.compress(kineto([nccl(0, 1, 9, [0, 1])]))[:-30],
                       "ended before the end-of-stream marker"),
    "no_trace": ("rank0.json", b'{"a": 1}', "unknown trace format"),
    "text": ("notes.txt", b"hello", "unknown trace format"),
    "empty": ("a.0.et", b"", "unknown trace format"),
    "json_cut_short": ("rank0.json", b'{"traceEvents": [{"ph": "X"}', "rank0.json:1:"),
    "deep": ("rank0.json", b"[" * 5000, "nested too deeply"),
    "no_collective": ("rank0.json", kineto([kernel(0, 5)]), "holds no collective"),
    "time": ("rank0.json", kineto([nccl("now", 1, 9, [0, 1])]), "ts is 'now'"),
    "negative": ("rank0.json", kineto([nccl(1, -1, 9, [0, 1])]), "dur is -1"),
    "twice": ("a.0.et", chakra([node(1), node(1)]), "the same id"),
    "operation": ("a.0.et", chakra([node(1, COLLECTIVE, comm_type=77, comm_size=1)]),
                  "comm_type is 77"),
    "host_alone": ("et.json", b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}',
                   "has no times; give the Kineto trace"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_trace_is_refused_with_its_name(tmp_path, case):
    name, data, said = WRONG[case]
    with pytest.raises(SpecError) as caught:
        read(tmp_path, data, name)
    assert said in str(caught.value)
    assert name in str(caught.value)


def test_a_file_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(Unreadable):
        read_job([tmp_path / "none.json"])


def test_sizes_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(trace, "MOST_BYTES", 1000)
    with pytest.raises(SpecError, match="holds more than 0 MiB"):
        read(tmp_path, gzip.compress(b"{" + b" " * 100_000), "rank0.json.gz")
    monkeypatch.setattr(trace, "MOST_SPANS", 1)
    with pytest.raises(SpecError, match="more than 1 kernels"):
        read(tmp_path, ONE, "a.0.et")


@given(st.data())
def test_damage_is_an_error_and_never_a_failure(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    good = data.draw(st.sampled_from([
        ONE, kineto([kernel(0, 5, correlation=1), nccl(5, 9, 10, [0, 1], correlation=2),
                     waits(5, 7, 20, 4)]),
        chakra_json([node(0), node(1, COLLECTIVE, [0], 5, comm_type=0, comm_size=64)]),
    ]))  # fmt: skip
    name = "a.0.et" if good is ONE else "rank0.json"
    at = data.draw(st.integers(0, len(good) - 1))
    patch = data.draw(st.binary(max_size=4) | st.sampled_from([b"null", b"-1", b"[]", b"{}"]))
    broken = good[:at] + patch + good[at + len(patch) + data.draw(st.integers(0, 2)) :]
    with suppress(WeftError):
        read(folder, broken, name)


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["traceEvents", "args", "ph", "ts", "dur", "name", "workload_graph",
                         "nodes", "id", "data_deps", "attr", "schema"]), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_any_json_is_read_or_refused(tmp_path_factory, value):
    with suppress(WeftError):
        read(tmp_path_factory.mktemp("any"), json.dumps(value).encode())


def test_documents_one_after_the_other_are_one_trace(tmp_path):
    rows = [
        {"version": "0.0.4"},
        {"id": "7", "name": "a }{ b", "type": "COMP_NODE", "durationMicros": "12",
         "attr": [{"name": "is_cpu_op", "boolVal": False}]},
        {"id": "8", "name": "c", "type": "COMM_COLL_NODE", "dataDeps": ["7"],
         "attr": [{"name": "comm_type", "int64Val": "2"},
                  {"name": "comm_size", "int64Val": "64"},
                  {"name": "pg_name", "stringVal": "dp"}]},
    ]  # fmt: skip
    for between in ("", "\n"):
        text = between.join(json.dumps(row, indent=2) for row in rows)
        found = read(tmp_path, text.encode(), "a.0.json")
        assert [(span.length_s, span.after) for span in found.spans] == [(12e-6, ()), (0, (0,))]
        assert (found.spans[1].call.operation, found.spans[1].call.input_bytes) == (
            "all_gather", 64)  # fmt: skip
        assert found.spans[1].call.group == "dp"

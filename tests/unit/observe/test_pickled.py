"""Pickles give plain values and run nothing, however they are made."""

import os
import pickle
import random
import struct

import pytest

from weft.observe.bundle import observe
from weft.observe.facts.collectives import CollectiveCall, WorkProgress
from weft.observe.pickled import NotPlain, plain

TRACE = {
    "version": "2.4",
    "pg_status": {"0": {"last_enqueued_collective": 12, "last_completed_collective": 11}},
    "entries": [
        {
            "record_id": 11,
            "process_group": ["0", "default_pg"],
            "collective_seq_id": 12,
            "profiling_name": "nccl:all_reduce",
            "time_created_ns": 1772445601000000000,
            "input_sizes": [[1024]],
            "state": "started",
            "frames": [{"name": "f", "filename": "/x/t.py", "line": 9}],
        }
    ],
    "rank": 3,
}
RESTORE = b"ctorch.jit._pickle\nrestore_type_tag\n"


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_flight_recorder_dump_is_read(protocol, tmp_path):
    (tmp_path / "rank_3").write_bytes(pickle.dumps(TRACE, protocol=protocol))
    seen = observe(tmp_path / "rank_3")
    [call] = seen.of(CollectiveCall)
    assert (call.operation, call.sequence, call.state) == ("all_reduce", 12, "started")
    assert call.process.rank == 3
    assert [one.last_completed for one in seen.of(WorkProgress)] == [11]


def test_types_that_pytorch_restores_are_taken_as_the_values_they_are():
    body = RESTORE + b"](K\x01K\x02eX\x09\x00\x00\x00List[int]\x86R"
    assert plain(b"\x80\x02" + body + b".") == [1, 2]


class _Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/weft-was-here",)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (pickle.dumps(_Evil()), "calls"),
        (b"\x80\x02cos\nsystem\n(X\x04\x00\x00\x00truetR.", "calls os system"),
        (b"\x80\x02ctorch.jit._pickle\nunpickle\n(X\x01\x00\x00\x00atR.", "calls"),
        (b"\x80\x02cbuiltins\neval\n.", ""),
        (b"\x80\x04\x96" + struct.pack("<Q", 1 << 40) + b"x.", "damaged"),
        (b"\x80\x02r\xff\xff\xff\x7f.", "damaged"),
        (b"\x80\x02]q\x00h\x00a.", "holds itself"),
        (b"\x80\x02" + b"(" * 1000 + b"l" * 1000 + b".", "deep"),
        (b"\x80\x02K\x01", ""),
        (b"\x80\x02Vabc\n", "no end|damaged"),
    ],
)
def test_what_does_more_than_hold_values_is_refused(data, why, tmp_path):
    """A name alone is never looked up: it may end as an unknown value or as an error."""
    path = tmp_path / "x.pkl"
    path.write_bytes(data)
    assert observe(path).facts == ()
    if why:
        with pytest.raises(NotPlain, match=why):
            plain(data)


def test_a_list_that_unfolds_without_end_is_refused():
    steps = [b"\x80\x02](K\x01K\x01eq\x00"]
    steps += [b"](h%ch%ceq%c" % (n, n, n + 1) for n in range(60)]
    with pytest.raises(NotPlain, match="unfolds"):
        plain(b"".join(steps) + b".")


def test_a_damaged_pickle_states_nothing_or_what_is_left_and_never_raises(tmp_path):
    chance = random.Random(7)  # noqa: S311 - no secret
    whole = pickle.dumps(TRACE, protocol=2)
    path = tmp_path / "x"
    for _ in range(300):
        damaged = bytearray(whole[: chance.randrange(2, len(whole))])
        for _ in range(chance.randrange(3)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        assert len(observe(path).files) == 1

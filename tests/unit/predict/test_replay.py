"""Traces replayed: closed forms of chains and streams, the trace itself, and refusals."""

import itertools
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weft.cli import app
from weft.engines.analytic.collective import collective_time
from weft.errors import Infeasible, SpecError
from weft.predict.replay import replay
from weft.readers.trace import read_job
from weft.spec.load import load_cluster
from weft.traffic.collective import Group, Operation
from written_traces import (
    COLLECTIVE,
    MICROSECOND,
    RECV,
    SEND,
    chakra,
    kernel,
    kineto,
    nccl,
    node,
    waits,
)

SAMPLE = Path(__file__).parents[2] / "samples" / "traces" / "ddp"
CLUSTER = load_cluster({"preset": "dgx_h100", "hosts": 4})
MICROS = st.integers(1, 100_000)
SIZES = st.integers(1, 1 << 30)


def job(folder, **files):
    """Write the traces of one job; names hold a rank, as a_0_et for a.0.et."""
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return read_job([folder])


def expected_s(size_bytes, ranks=32, operation=Operation.ALL_REDUCE, cluster=CLUSTER):
    """Predict a collective of all ranks of the cluster, hosts filled in order."""
    group = Group(ranks=ranks, ranks_per_domain=min(8, ranks))
    return collective_time(cluster, operation, size_bytes, group).time_s.value


def all_reduce(number, deps, size, **more):
    return node(number, COLLECTIVE, deps, 1, comm_type=0, comm_size=size, **more)


@given(st.lists(st.tuples(MICROS, SIZES), min_size=1, max_size=8))
def test_a_chain_takes_the_sum(tmp_path_factory, parts):
    nodes = []
    for micros, size in parts:
        at = len(nodes)
        nodes.append(node(at, deps=[at - 1] if at else [], micros=micros))
        nodes.append(all_reduce(at + 1, [at], size))
    traces = job(tmp_path_factory.mktemp("job"), a_0_et=chakra(nodes))
    found = replay({"job": traces}, CLUSTER, ranks=32).jobs[0]
    computing = sum(micros for micros, _ in parts) * MICROSECOND
    collectives = sum(expected_s(size) for _, size in parts)
    assert found.step_s.value == pytest.approx(computing + collectives, rel=1e-9)
    assert found.compute_s == pytest.approx(computing, rel=1e-9)
    assert found.exposed_s == pytest.approx(collectives, rel=1e-9)
    assert found.step_s.low <= found.step_s.value <= found.step_s.high
    assert sum(row.predicted_s.value for row in found.collectives) == pytest.approx(collectives)


@given(st.lists(MICROS, min_size=1, max_size=6), st.lists(SIZES, min_size=1, max_size=6))
def test_two_streams_take_the_longer_one(tmp_path_factory, computing, sizes):
    nodes = [node(at, micros=one, stream=7) for at, one in enumerate(computing)]
    nodes += [all_reduce(100 + at, [], size) for at, size in enumerate(sizes)]
    traces = job(tmp_path_factory.mktemp("job"), a_0_et=chakra(nodes))
    found = replay({"job": traces}, CLUSTER, ranks=32).jobs[0]
    compute_s, network_s = sum(computing) * MICROSECOND, sum(map(expected_s, sizes))
    assert found.step_s.value == pytest.approx(max(compute_s, network_s), rel=1e-9)
    assert found.exposed_s == pytest.approx(
        max(0.0, network_s - compute_s), rel=1e-9, abs=1e-12
    )


def test_a_transfer_ends_when_its_receiver_is_there_and_its_bytes_are(tmp_path):
    size = 1 << 28
    first = [node(0, micros=300), node(1, SEND, [0], comm_size=size, comm_dst=8)]
    second = [node(0, micros=900_000), node(1, RECV, [0], comm_size=size, comm_src=0),
              node(2, deps=[1], micros=50)]  # fmt: skip
    files = {f"a_{rank}_et": chakra([all_reduce(9, [], 64)]) for rank in range(16)}
    files |= {"a_0_et": chakra([*first, all_reduce(9, [1], 64)]),
              "a_8_et": chakra([*second, all_reduce(9, [2], 64)])}  # fmt: skip
    cluster = load_cluster({"preset": "dgx_h100", "hosts": 2})
    found = replay({"job": job(tmp_path, **files)}, cluster).jobs[0]
    # The bytes are there long before the receiver.
    last = expected_s(64, ranks=16, cluster=cluster)
    assert found.step_s.value == pytest.approx(0.900_050 + last, rel=1e-9)
    assert found.traced_ranks == 16


def kineto_of(draw, rank, ranks, clock):
    """Draw what one rank computes between collectives that all ranks end together.

    Ends of collectives are the same on all ranks, as if they had been traced.
    """
    events, launch = [], itertools.count(1)
    at = clock
    for turn, (end, size) in enumerate(draw):
        busy = 10 + 7 * (rank * 31 + turn * 17) % 50
        events.append(kernel(at, busy, correlation=next(launch)))
        begin = at + busy + 3 * (rank % 2)
        events.append(nccl(begin, clock + end - begin, size, range(ranks),
                           correlation=next(launch)))  # fmt: skip
        events.append(waits(next(launch), 7, 20, next(launch)))
        at = clock + end + turn % 3
    events.append(kernel(at, 5, correlation=next(launch)))
    return kineto(events, rank, ranks)


TURNS = st.lists(
    st.tuples(st.integers(400, 5000), st.integers(1, 1 << 24)), min_size=1, max_size=6
).map(lambda rows: [
    (sum(step for step, _ in rows[: at + 1]), size) for at, (_, size) in enumerate(rows)
])  # fmt: skip


@given(TURNS, st.sampled_from([1, 2]), st.lists(st.integers(0, 10**9), min_size=2, max_size=2))
def test_on_its_own_network_a_trace_takes_its_time(tmp_path_factory, turns, files, clocks):
    folder = tmp_path_factory.mktemp("job")
    written = {f"rank{rank}_json": kineto_of(turns, rank, 2, clocks[rank])
               for rank in range(files)}  # fmt: skip
    found = replay({"job": job(folder, **written)}, CLUSTER, traced_on=CLUSTER).jobs[0]
    took = (turns[-1][0] + (len(turns) - 1) % 3 + 5) * MICROSECOND
    assert found.traced_s == pytest.approx(took, rel=1e-6)
    assert found.step_s.value == pytest.approx(found.traced_s, rel=1e-9)
    assert found.step_s.high == pytest.approx(found.step_s.low, rel=1e-9)
    assert found.exposed_s == pytest.approx(found.exposed_traced_s, rel=1e-9)


@pytest.mark.parametrize("files", [["rank0.json.gz"], [f"rank{at}.json.gz" for at in range(4)]])
def test_a_trace_of_the_profiler_takes_its_time_on_its_own_network(files):
    traces = read_job([SAMPLE / name for name in files])
    found = replay({"ddp": traces}, CLUSTER, traced_on=CLUSTER).jobs[0]
    assert (found.ranks, found.traced_ranks, found.steps) == (4, len(files), 2)
    # Ranks of gloo end a collective some 10 us apart: what is below a step is their clocks.
    assert found.step_s.value == pytest.approx(found.traced_s, rel=1e-3)
    assert 0 < found.compute_s < found.traced_s
    assert sum(row.calls * row.size_bytes for row in found.collectives) == 4 * 4 * (
        512 * 512 + 512
    )


@given(TURNS, st.sampled_from(["25Gb/s", "100Gb/s", "200Gb/s"]))
def test_a_slower_network_never_helps(tmp_path_factory, turns, rate):
    ranks = 16
    folder = tmp_path_factory.mktemp("job")
    traces = job(folder, rank0_json=kineto_of(turns, 0, ranks, 0))
    own, slow = (
        load_cluster({"preset": "dgx_h100", "hosts": 4, "host": {
            "nic": "", "server": "", "nic_bytes_per_s": one}})
        for one in ("400Gb/s", rate)
    )  # fmt: skip
    steps = [replay({"job": traces}, one, traced_on=own).jobs[0] for one in (own, slow)]
    times = [
        {row.size_bytes: row.predicted_s.value for row in one.collectives} for one in steps
    ]
    # Of a few KiB the closed forms may call a slower NIC faster by a fraction of a per cent.
    assume(all(times[1][size] >= times[0][size] for size in times[0]))
    assert steps[1].step_s.value >= steps[0].step_s.value * (1 - 1e-9)
    assert steps[1].exposed_s >= steps[0].exposed_s * (1 - 1e-9)
    assert steps[1].modelled_s == steps[0].modelled_s


def test_without_recorded_waits_the_band_holds_both_readings(tmp_path):
    # Hidden in the trace: the kernel after it may or may not need what was gathered.
    events = [kernel(0, 100, correlation=1), nccl(10, 50, 1 << 26, range(16), correlation=0),
              kernel(100, 100, correlation=3)]  # fmt: skip
    free = job(tmp_path, rank0_json=kineto(events, ranks=16))
    found = replay({"job": free}, CLUSTER).jobs[0]
    took = expected_s(1 << 28, ranks=16)
    assert found.step_s.value == pytest.approx(max(200e-6, 10e-6 + took), rel=1e-9)
    assert found.step_s.high > 110e-6 + took
    events.append(waits(2, 7, 20, 1))
    bound = job(tmp_path, rank0_json=kineto(events, ranks=16))
    found = replay({"job": bound}, CLUSTER).jobs[0]
    assert found.step_s.value == pytest.approx(110e-6 + took, rel=1e-9)


def test_what_no_engine_predicts_keeps_its_traced_time(tmp_path):
    events = [nccl(0, 700, 9, range(2), name="gather"), nccl(700, 5, 9, range(2))]
    found = replay({"job": job(tmp_path, rank0_json=kineto(events))}, CLUSTER)
    rows = {row.operation: row for row in found.jobs[0].collectives}
    assert not rows["gather"].modelled
    assert rows["gather"].predicted_s.value == pytest.approx(700e-6)
    assert any("keeps its traced time" in said for said in found.provenance.assumptions)


def two(first, second, **more):
    return {"a_0_et": chakra(first), "a_1_et": chakra(second), **more}


ONE = [all_reduce(0, [], 64)]
WRONG = {
    "cycle": ({"a_0_et": chakra([node(0, deps=[1]), node(1, deps=[0]), *[
        all_reduce(2, [], 64)]])}, "in a cycle"),
    "missing": ({"a_0_et": chakra(ONE), "a_2_et": chakra(ONE)}, "missing are ranks 1, 3"),
    "twice": ({"a_0_et": chakra(ONE), "b_0_et": chakra(ONE)}, "is rank 0, as is"),
    "unnamed": ({"x_et": chakra(ONE), "y_et": chakra(ONE)}, "its rank is unknown"),
    "other": (two(ONE, [node(0, COLLECTIVE, comm_type=2, comm_size=64)]) | {
        f"a_{at}_et": chakra(ONE) for at in (2, 3)}, "is all_reduce on rank 0 and all_gather"),
    "fewer": ({f"a_{at}_et": chakra(ONE if at < 3 else [*ONE, all_reduce(1, [0], 8)])
               for at in range(4)}, "cut short, or of other steps"),
    "group": ({"a_0_et": chakra([all_reduce(0, [], 64, pg_name="dp")])},
              "ranks of process group 'dp' are not recorded"),
    "outside": ({"a_0_et": chakra([all_reduce(0, [], 64, pg_name="dp")]),
                 "groups_json": b'{"dp": [2, 3]}'}, "without it"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_traces_that_do_not_fit_together_are_refused(tmp_path, case, capsys):
    files, said = WRONG[case]
    for name, data in files.items():
        (tmp_path / name.replace("_", ".")).write_bytes(data)
    words = ["replay", str(tmp_path), "--preset", "dgx_h100", "--hosts", "2", "--ranks", "4"]
    assert app.run(words) == 2
    assert said in capsys.readouterr().err


def test_a_job_that_is_larger_than_the_cluster_is_refused(tmp_path):
    traces = job(tmp_path, a_0_et=chakra(ONE))
    with pytest.raises(Infeasible, match=r"64 ranks and .* 32 GPUs"):
        replay({"job": traces}, CLUSTER, ranks=64)
    with pytest.raises(SpecError, match="add --ranks"):
        replay({"job": traces}, CLUSTER)


def test_the_command_says_what_was_traced_and_what_is_here(capsys):
    own = Path(__file__).parents[3] / "examples" / "llama3-405b-16k-h100-roce.yaml"
    assert app.run(["replay", str(SAMPLE), "--preset", "dgx_h100", "--hosts", "1"]) == 0
    shown = capsys.readouterr().out
    assert "shorter than traced" in shown
    assert "--traced-on" in shown
    assert app.run(["replay", "--preset", "dgx_h100", str(own)]) == 2

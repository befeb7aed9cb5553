"""Memory-bound operations: fusing them saves bytes and kernels, and never time."""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engines.analytic.step import resolve, step_time
from weft.engines.analytic.step.constants import constants
from weft.engines.analytic.step.memory import memory_bytes
from weft.engines.analytic.step.model import slowest_of
from weft.engines.analytic.step.operations import passes_of
from weft.spec import load
from weft.spec.workload import Job, Model, Parallelism

TABLE = files("weft.engines.analytic.step") / "operations.toml"
ROWS = tomllib.loads(TABLE.read_text(encoding="utf-8"))["operation"]
HOST = load.preset("dgx_h100", hosts=1)


@st.composite
def jobs(draw):
    head_dim = draw(st.sampled_from([64, 128]))
    hidden = draw(st.sampled_from([1024, 2048, 4096, 8192]))
    heads = hidden // head_dim
    model = Model(
        layers=draw(st.sampled_from([1, 4, 24])), hidden=hidden, heads=heads,
        kv_heads=draw(st.sampled_from([heads, 8])), head_dim=head_dim,
        ffn_hidden=draw(st.sampled_from([2, 4])) * hidden,
        vocab=draw(st.sampled_from([32000, 128256])), gated_ffn=draw(st.booleans()),
    )  # fmt: skip
    micro, count = draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 4]))
    gpus = draw(st.sampled_from([1, 8]))
    sharding = draw(st.sampled_from(["none", "zero1", "zero3"]))
    return Job(
        model=model, sequence_length=draw(st.sampled_from([512, 2048, 8192])),
        micro_batch=micro, global_batch=micro * count * gpus, gpus=gpus,
        framework=draw(st.sampled_from(["pytorch", "fsdp"])),
        parallelism=Parallelism(sharding=sharding),
        fused_norm=draw(st.booleans()), recompute=draw(st.sampled_from(["none", "full"])),
    )  # fmt: skip


def seconds(job):
    return step_time(HOST, resolve(HOST, job, fits=False)).step_s.value


def no_slower(job, **change):
    return seconds(job.with_(**change)) <= seconds(job) * (1 + 1e-9)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_fusing_never_moves_more_nor_starts_more(row):
    for what in ("bytes", "kernels"):
        for place in (0, 1):
            eager, compiled = row["eager"][what][place], row["compiled"][what][place]
            assert 0 <= compiled <= eager
            assert row["fused"][what][place] <= eager


@settings(max_examples=40, deadline=None)
@given(job=jobs())
def test_compiling_never_makes_a_step_slower(job):
    assert no_slower(job, compile=True)


@settings(max_examples=40, deadline=None)
@given(job=jobs())
def test_a_norm_of_one_kernel_never_makes_a_step_slower(job):
    assert no_slower(job.with_(fused_norm=False), fused_norm=True)


@settings(max_examples=40, deadline=None)
@given(job=jobs())
def test_optimiser_states_of_16_bits_never_make_a_step_slower_or_larger(job):
    assert no_slower(job, optimizer_states="bf16")
    whole, half = (
        sum(memory_bytes(resolve(HOST, one, fits=False)).values())
        for one in (job, job.with_(optimizer_states="bf16"))
    )
    assert half < whole


@settings(max_examples=40, deadline=None)
@given(job=jobs())
def test_newer_kernels_of_attention_never_make_a_step_slower(job):
    assert no_slower(job.with_(attention="flash2"), attention="flash")


@settings(max_examples=40, deadline=None)
@given(job=jobs())
def test_a_larger_micro_batch_amortises_the_starts_of_kernels(job):
    twice = job.with_(micro_batch=2 * job.micro_batch)
    if job.global_batch % (2 * job.micro_batch * job.gpus):
        twice = twice.with_(global_batch=2 * job.global_batch)
    each, together = (
        step_time(HOST, resolve(HOST, one, fits=False)).breakdown_s["launch"] / one.global_batch
        for one in (job, twice)
    )
    assert together <= each * (1 + 1e-9)


def test_eager_root_mean_square_norms_move_an_order_more_than_fused_ones():
    """36 and 84 bytes an element against 4 and 10, twice a layer."""
    job = Job(model=load.model("llama2_13b"), global_batch=8, parallelism=Parallelism())
    written = passes_of(job.with_(fused_norm=False), "eager").backward["hidden"].bytes_each
    fused = passes_of(job, "eager").backward["hidden"].bytes_each
    assert written - fused == 2 * (84 - 10)


@pytest.mark.parametrize(("sharding", "is_added"), [("none", True), ("zero3", False)])
def test_gradients_are_added_up_between_micro_batches_unless_they_are_sharded(
    sharding, is_added
):
    job = Job(
        model=load.model("llama2_7b"), global_batch=8, gpus=8, framework="fsdp",
        parallelism=Parallelism(sharding=sharding),
    )  # fmt: skip
    one, four = (
        step_time(HOST, resolve(HOST, job.with_(global_batch=n), fits=False)) for n in (8, 32)
    )
    added = four.breakdown_s["memory_bound"] - 4 * one.breakdown_s["memory_bound"]
    least = 3 * 6 * job.model.parameters() / 3.35e12
    assert added == pytest.approx(0, abs=1e-9) or is_added
    assert least < added < 2 * least or not is_added


def test_every_class_of_software_runs_operations_in_a_known_way():
    ways = {software.operations for software in constants().software.values()}
    assert ways <= {"fused", "compiled", "eager"}


def test_the_slowest_of_many_gpus_is_slower_than_of_few():
    assert slowest_of(1) == 0
    assert slowest_of(8) == pytest.approx(1.42, abs=0.02)  # Expected greatest of 8 normals.
    assert slowest_of(8) < slowest_of(512) < slowest_of(65536) < 5

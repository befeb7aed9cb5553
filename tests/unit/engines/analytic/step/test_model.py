"""The step as a whole: it adds up, every knob moves it, and limits hold."""

import pytest

from weft.engines.analytic.step import step_time
from weft.engines.analytic.step.search import resolve
from weft.spec import load
from weft.spec.workload import Job, Parallelism


def dense(**fields):
    base = {
        "model": load.model("megatron_22b"),
        "sequence_length": 4096,
        "global_batch": 256,
        "parallelism": Parallelism(tp=4, pp=4, cp=2),
    }
    return Job(**{**base, **fields})


def sparse(**fields):
    base = {
        "model": load.model("mixtral_8x7b"),
        "sequence_length": 4096,
        "global_batch": 256,
        "parallelism": Parallelism(ep=8, pp=2),
    }
    return Job(**{**base, **fields})


def predicted(job, cluster=None):
    cluster = cluster or load.preset("dgx_h100", hosts=8)
    return step_time(cluster, resolve(cluster, job, fits=False))


@pytest.mark.parametrize("job", [dense(), sparse(), dense(recompute="full")])
def test_the_parts_add_up_to_the_step(job):
    step = predicted(job)
    assert sum(step.breakdown_s.values()) == pytest.approx(step.step_s.value)
    assert step.step_s.low < step.step_s.value < step.step_s.high
    assert all(value >= 0 for value in step.breakdown_s.values())


@pytest.mark.parametrize("job", [dense(), sparse()])
def test_exposed_traffic_is_no_more_than_all_of_it(job):
    for item in predicted(job).traffic:
        assert 0 <= item.exposed_s <= item.total_s
        assert 0 <= item.fabric_ratio <= 1


SPREADS = [
    {"tp": 8}, {"sequence_parallel": False}, {"cp": 1}, {"pp": 8}, {"virtual_stages": 4},
    {"schedule": "zero_bubble"}, {"sharding": "none"}, {"sharding": "zero3"},
    {"overlap_dp": False}, {"overlap_tp": True}, {"overlap_pp": False},
]  # fmt: skip


@pytest.mark.parametrize("change", SPREADS, ids=str)
def test_every_knob_of_the_parallelism_moves_the_step(change):
    job = dense()
    changed = job.with_(parallelism=job.parallelism.with_(**change))
    assert predicted(changed).step_s.value != pytest.approx(
        predicted(job).step_s.value, rel=1e-6
    )


@pytest.mark.parametrize(
    "change", [{"ep": 4}, {"overlap_ep": True}, {"dispatch": "hosts"}], ids=str
)
def test_every_knob_of_expert_parallelism_moves_the_step(change):
    job = sparse(parallelism=Parallelism(ep=8, tp=2))
    cluster = load.preset("dgx_h100", hosts=8)
    small = cluster.with_(host=cluster.host.with_(gpus=4))
    changed = job.with_(parallelism=job.parallelism.with_(**change))
    assert predicted(changed, small).step_s.value != pytest.approx(
        predicted(job, small).step_s.value, rel=1e-6
    )


@pytest.mark.parametrize(
    "change",
    [
        {"precision": "fp8"}, {"sequence_length": 8192}, {"global_batch": 512},
        {"micro_batch": 2}, {"recompute": "selective"}, {"recompute": "full"},
        {"gradient_bytes": 8.0}, {"framework": "fsdp"}, {"framework": "jax"},
        {"attention": "unfused"}, {"attention": "flash2"}, {"attention": "flash1"},
        {"optimizer_states": "bf16"}, {"framework": "pytorch"},
    ],
    ids=str,
)  # fmt: skip
def test_every_knob_of_the_job_moves_the_step(change):
    job = dense()
    assert predicted(job.with_(**change)).step_s.value != pytest.approx(
        predicted(job).step_s.value, rel=1e-6
    )


@pytest.mark.parametrize("change", [{"compile": True}, {"fused_norm": False}], ids=str)
def test_every_knob_of_pytorch_moves_its_step(change):
    job = dense(framework="fsdp", model=load.model("llama2_13b"))
    assert predicted(job.with_(**change)).step_s.value != pytest.approx(
        predicted(job).step_s.value, rel=1e-6
    )


def test_cuda_graphs_help_where_the_cpu_holds_up_the_gpu():
    small = dense(model=load.model("gpt3_126m"), sequence_length=512, parallelism=Parallelism())
    assert predicted(small.with_(cuda_graphs=True)).step_s.value < predicted(small).step_s.value


def test_adapters_are_faster_than_full_training():
    job = dense()
    lora = job.with_(model=job.model.with_(trainable_ratio=0.01))
    assert predicted(lora).step_s.value < 0.9 * predicted(job).step_s.value


def test_the_busiest_expert_sets_the_pace():
    job = sparse()
    experts = job.model.experts.with_(capacity_imbalance=1.5)
    skewed = job.with_(model=job.model.with_(experts=experts))
    assert predicted(skewed).step_s.value > predicted(job).step_s.value


def launch_s(job):
    return predicted(job).breakdown_s["launch"]


def test_more_experts_of_a_gpu_take_the_cpu_longer():
    few, many = (sparse(parallelism=Parallelism(ep=ep)) for ep in (8, 2))
    assert launch_s(many) > launch_s(few)


def test_another_micro_batch_in_flight_hides_the_wait_for_the_router():
    waiting = sparse(parallelism=Parallelism(ep=8))
    busy = sparse(parallelism=Parallelism(ep=8, overlap_ep=True))
    assert launch_s(busy) < launch_s(waiting)


def test_whole_graphs_of_experts_need_no_cpu_and_quantise_as_they_write():
    job = sparse(precision="fp8")
    graphs = job.with_(cuda_graphs=True)
    assert predicted(graphs).step_s.value < predicted(job).step_s.value
    parts = (predicted(one).breakdown_s["memory_bound"] for one in (graphs, job))
    assert next(parts) < next(parts)


def test_latent_attention_recomputes_its_up_projections_alone():
    job = dense(model=load.model("deepseek_v2_lite"), parallelism=Parallelism(ep=8))
    none, some, full = (
        predicted(job.with_(recompute=kind)) for kind in ("none", "selective", "full")
    )
    assert none.step_s.value < some.step_s.value < full.step_s.value
    assert none.hardware_flops < some.hardware_flops < full.hardware_flops

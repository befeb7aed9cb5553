"""Rows of published tables, seen and unseen, become the right clusters and jobs."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.accuracy.rows.machines import cluster_of, machine_of
from weft.accuracy.rows.shapes import shape_of
from weft.accuracy.rows.training import MEASURES, case_of

BASE = {
    "row_id": "x1", "family": "new-table", "model": "GPT h3072 L30 a32", "params_B": "3.6",
    "gpu": "A100", "gpus": "64", "nodes": "8", "fabric": "InfiniBand HDR 8x200G per node",
    "framework": "Megatron-LM", "precision": "fp16", "seq_len": "2048", "global_batch": "512",
    "micro_batch": "4", "TP": "2", "PP": "1", "CP": "1", "DP": "32", "EP": "", "VP": "",
    "sharding": "", "act_ckpt": "full", "other": "", "step_s": "4.0782", "tokens_per_s": "",
    "tokens_per_s_gpu": "", "samples_per_s": "", "tflops_per_gpu": "", "mfu_pct": "",
    "hfu_pct": "", "source": "", "confidence": "3", "notes": "",
}  # fmt: skip


def case(**cells):
    found = case_of({**BASE, **cells})
    assert not isinstance(found, str), found
    return found


def refused(**cells):
    found = case_of({**BASE, **cells})
    assert isinstance(found, str)
    return found


def test_a_row_with_everything_is_taken_as_it_stands():
    found = case()
    spread = found.job.parallelism
    assert (spread.tp, spread.pp, found.job.micro_batch, found.job.gpus) == (2, 1, 4, 64)
    assert found.job.recompute == "full"
    assert found.job.attention == "unfused"
    assert found.measured_s == 4.0782
    assert found.cluster.nic_bytes_per_s_per_gpu == 25e9
    assert found.labels["assumed"] == "nothing"


@pytest.mark.parametrize(
    ("cells", "expected_s"),
    [
        ({"step_s": "", "tokens_per_s": "262144"}, 4.0),
        ({"step_s": "", "tokens_per_s_gpu": "4096"}, 4.0),
        ({"step_s": "", "samples_per_s": "128"}, 4.0),
    ],
)
def test_throughput_becomes_a_step_time(cells, expected_s):
    assert case(**cells).measured_s == pytest.approx(expected_s)


def test_megatron_s_own_tflops_count_what_is_recomputed():
    """SC'21, table 1, row 2: 138 TFLOP/s of a 312 peak is 44 %."""
    stated = {"step_s": "", "tflops_per_gpu": "138", "hfu_pct": "44", "TP": "2"}
    tokens = 512 * 2048
    flops = 96 * tokens * 30 * 3072**2 * (1 + 2048 / (6 * 3072) + 51200 / (16 * 30 * 3072))
    assert case(**stated).measured_s == pytest.approx(flops / 138e12 / 64, rel=1e-3)


@pytest.mark.parametrize(
    ("gpu", "name", "host_gpus"),
    [
        ("H100-80GB-HBM3-700W", "h100_sxm", 8), ("NVIDIA H200-SXM5-141GB", "h200_sxm", 8),
        ("A100-80GB (Selene)", "a100_sxm_80", 8), ("a100_40gb", "a100_sxm_40", 8),
        ("V100-32GB (Jean Zay, 4 GPU/node)", "v100", 4), ("DGX-2H", "v100", 16),
        ("NVIDIA Blackwell GPU (GB200)", "gb200", 72), ("DGX-B300", "b300", 8),
        ("NVIDIA Blackwell GPU (B200-SXM-180GB)", "b200", 8), ("H800", "h800_sxm", 8),
        ("AMD Instinct MI300X", "mi300x", 8),
    ],
)  # fmt: skip
def test_gpu_texts_name_devices_of_the_catalogue(gpu, name, host_gpus):
    machine = machine_of(gpu)
    assert (machine.gpu, machine.gpus) == (name, host_gpus)


@pytest.mark.parametrize("gpu", ["TPU v5p-128", "Intel Gaudi2", "Ascend 910B", "Groq"])
def test_other_accelerators_are_left_out(gpu):
    assert "accelerator" in refused(gpu=gpu)


@pytest.mark.parametrize(
    ("fabric", "kind", "nic_gbit"),
    [
        ("RoCEv2 400G per GPU, 3-layer Clos", "roce", 400),
        ("Compute: 8x ConnectX-7 IB NDR 400Gb/s, Management: 100Gb/s", "infiniband", 400),
        ("InfiniBand, 800 Gb/s per node", "infiniband", 100),
        ("Omni-Path 4x100 Gb/s per node", "infiniband", 50),
        ("EFA (SRD/Ethernet)", "efa", 400), ("", "infiniband", 400),
    ],
)  # fmt: skip
def test_fabric_texts_give_a_fabric_and_a_rate(fabric, kind, nic_gbit):
    cluster = cluster_of(machine_of("H100"), fabric, 64)
    assert cluster.fabric.kind == kind
    assert cluster.nic_bytes_per_s_per_gpu == pytest.approx(nic_gbit * 1e9 / 8)


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("Llama3.1-405B", 405, 405e9), ("LLAMA3_70B", None, 70.6e9), ("MPT-7b", 6.9, 6.7e9),
        ("llama2_70b_lora", 70, 69e9), ("DeepSeekV3", None, 671e9), ("gpt3", 175, 175e9),
        ("GPT-530B", 530, 530e9), ("Nemotron-340B", 340, 340e9), ("GPT 39B", 39, 39e9),
        ("Qwen3_30B_a3B", None, 30.5e9), ("175B", 175, 175e9), ("Some 62B", 62, 62e9),
    ],
)  # fmt: skip
def test_model_names_have_about_their_parameters(name, size, expected):
    shape = shape_of(name, size, "", 1)
    assert not isinstance(shape, str), shape
    assert shape.model.parameters() == pytest.approx(expected, rel=0.08)


def test_a_part_of_the_layers_is_cut_out():
    shape = shape_of("Llama 3.1 405b BF16", None, "layers=7; on 32 GPUs", 1)
    assert shape.model.layers == 7


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"step_s": ""}, "time to train only"),
        ({"gpus": ""}, "number of GPUs"),
        ({"notes": "same logs as v5.0 (resubmitted)"}, "same logs"),
        ({"model": "stable_diffusion"}, "not a language model"),
        ({"model": "Nemotron_3_Nano"}, "state-space"),
        ({"model": "Mystery", "params_B": ""}, "not known"),
        ({"global_batch": ""}, "batch not stated"),
        ({"step_s": "0.01"}, "more than the peak"),
        ({"model": "GPT 44B", "params_B": "44", "TP": "", "PP": "", "DP": ""}, "layout"),
    ],
)
def test_what_is_left_out_says_why(cells, reason):
    assert reason in refused(**cells)


def test_an_unstated_layout_is_searched_and_labelled():
    found = case(TP="", PP="", DP="", gpu="H100", model="LLAMA3_70B", step_s="40",
                 precision="bf16", framework="NeMo")  # fmt: skip
    assert found.job.parallelism == "auto"
    assert found.labels["assumed"] == "layout"


def test_tensor_parallelism_is_what_the_other_sizes_leave():
    found = case(TP="", PP="4", DP="2")
    assert found.job.parallelism.tp == 8


WORDS = ["", "0", "-1", "1e400", "nan", "inf", "16", "½", "TP=0", "1,024", "B200", "x", "²"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(sorted(BASE)), st.sampled_from(WORDS)))
def test_no_row_breaks_the_reader(cells):
    found = case_of({**BASE, **cells})
    assert isinstance(found, str) or found.measured_s > 0


def test_all_measures_are_read():
    assert set(MEASURES) <= set(BASE)


def test_what_megatron_recomputes_where_it_does_not_say_depends_on_its_age():
    assert case(act_ckpt="").job.recompute == "selective"
    assert case(act_ckpt="", framework="Megatron-DeepSpeed").job.recompute == "full"
    assert case(act_ckpt="", framework="NeMo", gpu="H100").job.recompute == "none"


BRIDGE = {
    "family": "nvidia-megatron-bridge", "model": "Qwen3_30B_a3B", "params_B": "",
    "gpu": "DGX-GB300", "gpus": "8", "fabric": "", "precision": "MXFP8", "seq_len": "4096",
    "micro_batch": "8", "TP": "1", "DP": "", "EP": "8", "act_ckpt": "", "step_s": "5.9",
}  # fmt: skip


def test_what_tables_leave_to_their_recipes_is_read_from_the_recipes():
    old = case(**BRIDGE, framework="Megatron Bridge 26.04 NeMo Container").job
    new = case(**BRIDGE, framework="Megatron Bridge 26.06 NeMo Container").job
    assert (old.cuda_graphs, old.parallelism.overlap_ep) == (False, False)
    assert (new.cuda_graphs, new.parallelism.overlap_ep) == (True, True)
    assert old.parallelism.dispatch == new.parallelism.dispatch == "hosts"


def test_a_figure_that_its_source_doubts_is_marked():
    assert case().doubt is None
    assert case(source="github.com/bigscience-workshop/x:experiments/gpt2.md line 1").doubt
    assert case(notes="footnoted").labels["health"] == case(notes="footnoted").doubt


def test_bert_in_bins_of_length_is_shorter_than_its_longest_sequence():
    bert = {"model": "BERT-large", "seq_len": "512", "TP": "", "PP": "", "DP": "64"}
    assert case(**bert, framework="PyTorch").job.sequence_length == 320
    assert case(**bert, framework="TensorFlow").job.sequence_length == 512


def test_the_section_of_a_table_names_the_part_of_its_machine():
    found = case(gpu="DGX A100", notes="section: multi-node on DGX A100 40GB")
    assert found.labels["gpu"] == "a100_sxm_40"

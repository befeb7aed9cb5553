"""Resolving and searching: what divides, what fits, and what is said when it does not."""

import pytest

from weft.engines.analytic.step import resolve, search
from weft.errors import Infeasible
from weft.spec import load
from weft.spec.workload import Job, Parallelism


def job(**fields):
    base = {"model": load.model("llama3_70b"), "sequence_length": 4096, "global_batch": 512}
    return Job(**{**base, **fields})


@pytest.fixture
def cluster():
    return load.preset("dgx_h100", hosts=16)


def test_data_parallelism_is_what_remains(cluster):
    spread = resolve(cluster, job(parallelism=Parallelism(tp=8, pp=4))).parallelism
    assert spread.dp == 4


def test_the_search_takes_the_fastest_that_fits(cluster):
    found = search(cluster, job())
    times = [step.step_s.value for _, step in found]
    assert times == sorted(times)
    assert all(sum(step.memory_bytes.values()) <= 80e9 for _, step in found)
    best = resolve(cluster, job())
    assert best.parallelism == found[0][0] or best.recompute != "none"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"parallelism": Parallelism(tp=3)}, "does not divide 128 GPUs"),
        ({"parallelism": Parallelism(tp=8, dp=5)}, "leave dp out"),
        ({"parallelism": Parallelism(tp=1), "gpus": 256}, "the cluster has 128"),
        ({"parallelism": Parallelism(tp=1), "global_batch": 64}, "without a sequence"),
        ({"parallelism": Parallelism(tp=8, pp=16, virtual_stages=6)}, "at most 80"),
        ({"parallelism": Parallelism(ep=8)}, "no experts"),
        ({"parallelism": Parallelism(dp=128)}, "the fullest GPU needs"),
        ({"gpus": 1, "global_batch": 1}, "does not fit on"),
    ],
)
def test_what_cannot_run_is_refused_with_what_to_do(cluster, fields, message):
    with pytest.raises(Infeasible, match=message):
        resolve(cluster, job(**fields))


def test_memory_may_be_left_unchecked(cluster):
    assert resolve(cluster, job(parallelism=Parallelism(dp=128)), fits=False).gpus == 128


@pytest.mark.parametrize(
    "name", ["llama3_405b", "deepseek_v3", "gemma2_27b", "qwen3_235b_a22b"]
)
def test_a_layout_that_was_searched_is_accepted_as_it_stands(name):
    """compare and need search once and use the layout again on other networks."""
    cluster = load.preset("dgx_h100", hosts=64)
    wanted = load.load_job({"model": name, "global_batch": 512, "sequence_length": 4096})
    found = resolve(cluster, wanted)
    assert resolve(cluster, found).parallelism == found.parallelism


def test_a_batch_that_divides_in_no_way_is_told_from_a_lack_of_memory():
    cluster = load.preset("dgx_h100", hosts=125)
    wanted = load.load_job({"model": "llama3_8b", "global_batch": 7, "sequence_length": 4096})
    with pytest.raises(Infeasible, match="no layout divides both"):
        resolve(cluster, wanted)

"""Sizes that must divide, names that must exist."""

import pytest

from weft.spec import checks
from weft.spec.cluster import Tenant
from weft.spec.load import load_job, preset
from weft.spec.workload import Parallelism

CLUSTER = preset("dgx_h100", hosts=4)


def _job(model="llama3_8b", batch=64, **spread):
    job = load_job({"model": model, "global_batch": batch})
    return job.with_(parallelism=Parallelism(**spread))


def _paths(job, cluster=CLUSTER):
    found = [*checks.job_problems(job), *checks.pair_problems(cluster, job)]
    return sorted({".".join(p.path) for p in found})


@pytest.mark.parametrize(
    ("spread", "paths"),
    [
        ({"tp": 2, "pp": 2}, []),
        ({"tp": 3}, ["parallelism", "parallelism.tp"]),
        ({"pp": 64}, ["parallelism", "parallelism.pp"]),
        ({"pp": 2, "virtual_stages": 3}, ["parallelism.pp"]),
        ({"pp": 2, "virtual_stages": 3, "uneven_stages": True}, []),
        ({"pp": 2, "schedule": "interleaved"}, ["parallelism.virtual_stages"]),
        ({"ep": 2}, ["parallelism.ep"]),
        ({"dp": 32}, []),
        ({"dp": 16}, ["parallelism.dp"]),
        ({"sharding": "hsdp", "shard_ranks": 8, "dp": 32}, []),
        ({"sharding": "hsdp", "shard_ranks": 5, "dp": 32}, ["parallelism.shard_ranks"]),
        ({"sharding": "zero3", "shard_ranks": 8}, ["parallelism.shard_ranks"]),
        ({"cp": 3}, ["parallelism", "parallelism.cp"]),
    ],
)
def test_a_spread_divides_the_model_and_the_gpus(spread, paths):
    assert _paths(_job(**spread)) == paths


def test_experts_divide_over_the_ranks_that_hold_them():
    assert _paths(_job("mixtral_8x7b", ep=8)) == []
    assert _paths(_job("mixtral_8x7b", ep=3)) == ["parallelism.ep"]
    assert _paths(_job("mixtral_8x7b", ep=8, pp=8)) == ["parallelism.ep"]


def test_a_batch_divides_by_the_replicas_that_remain():
    """global_batch = k x dp x micro_batch, with dp = 32 / (tp x pp x cp)."""
    assert _paths(_job(batch=24, tp=2)) == ["global_batch"]
    assert _paths(_job(batch=24, tp=4)) == []


def test_a_precision_is_one_that_the_gpu_has():
    a100 = preset("dgx_a100", hosts=4)
    for precision, known in (("bf16", True), ("fp8", False), ("mxfp8", False)):
        problems = checks.pair_problems(a100, _job().with_(precision=precision))
        assert (problems == []) is known


@pytest.mark.parametrize(("name", "known"), [("dgx_h100", False), ("dgx_b200", True)])
def test_scaled_formats_need_a_unit_that_scales(name, known):
    """FP8 came with Hopper, MXFP8 and NVFP4 with Blackwell."""
    cluster = preset(name, hosts=4)
    for precision in ("mxfp8", "nvfp4"):
        problems = checks.pair_problems(cluster, _job().with_(precision=precision))
        assert (problems == []) is known


def test_a_job_has_no_more_gpus_than_the_cluster():
    assert _paths(_job().with_(gpus=64)) == ["gpus"]
    assert _paths(_job(tp=2).with_(gpus=16)) == []


def test_names_of_plugins_are_the_files_of_their_folder():
    assert {"rail_optimized", "fat_tree"} <= set(checks.plugin_names("topologies"))
    assert checks.plugin_names("no_such_folder") == []


def test_a_domain_divides_its_host():
    cluster = preset("dgx_h100").with_(host=CLUSTER.host.with_(gpus=12))
    assert [p.path for p in checks.problems(cluster)] == [("host", "scale_up", "gpus")]


def test_a_model_is_whole():
    shape = _job("mixtral_8x7b").model
    experts = shape.experts.with_(experts_per_token=9)
    job = _job("mixtral_8x7b").with_(model=shape.with_(kv_heads=3, experts=experts))
    assert _paths(job) == ["model.experts.experts_per_token", "model.kv_heads"]


def test_only_pytorch_s_own_operations_are_compiled():
    job = _job().with_(compile=True)
    (problem,) = checks.job_problems(job.with_(framework="megatron"))
    assert problem.path == ("compile",)
    assert not list(checks.job_problems(job.with_(framework="fsdp")))


TENANTS = {
    "more hosts than there are": ("dgx_h100", [("red", 5, None)], "have 5 hosts together"),
    "one name twice": ("dgx_h100", [("red", 1, None), ("red", 1, None)], "is given twice"),
    "one key twice": ("dgx_h100", [("red", 1, 5), ("blue", 1, 5)], "is given twice"),
    "a key on Ethernet": ("hgx_h100_roce", [("red", 1, 5)], "is a key of InfiniBand"),
    "a VRF of the switch": ("hgx_h100_roce", [("mgmt", 1, None)], "switches have already"),
    "a VRF with a long name": ("hgx_h100_roce", [("a-long-tenant", 1, None)], "at most 12"),
    "a provider's network": ("azure_nd_h100_v5", [("red", 1, None)], "keeps its tenants apart"),
}


@pytest.mark.parametrize("case", TENANTS)
def test_tenants_that_cannot_be_kept_apart_are_refused(case):
    name, rows, said = TENANTS[case]
    tenants = tuple(Tenant(name=who, hosts=hosts, p_key=key) for who, hosts, key in rows)
    cluster = preset(name, hosts=4).with_(tenants=tenants)
    assert any(said in problem.message for problem in checks.problems(cluster))

"""What one step sends, against the counts of the papers."""

import pytest

from weft.engines.analytic.step import resolve, step_time
from weft.spec import load
from weft.spec.workload import Job, Parallelism
from weft.traffic import demand
from weft.traffic.collective import Group, Operation
from weft.traffic.demand import demands, group_of


def job(model="megatron_22b", **spread):
    return Job(
        model=load.model(model),
        sequence_length=2048,
        global_batch=64,
        micro_batch=4,
        parallelism=Parallelism(**{"dp": 2, **spread}),
    )


def by_dimension(found, dimension):
    return [d for d in found if d.dimension == dimension]


def test_tensor_parallelism_moves_four_reductions_a_layer_without_sequence_parallelism():
    """Two all-reduces of s b h forward and two backward [Shoeybi 2019, section 3]."""
    spread = job(tp=8, sequence_parallel=False)
    (tensor,) = by_dimension(demands(spread, 8), "tp")
    layers, micro = 48, 64 // (2 * 4)
    assert tensor.operation is Operation.ALL_REDUCE
    assert tensor.calls == 4 * layers * micro
    assert tensor.size_bytes == 2048 * 4 * 6144 * 2


def test_full_recomputation_repeats_the_forward_reductions():
    plain = job(tp=8, sequence_parallel=False)
    again = plain.with_(recompute="full")
    (first,), (second,) = (by_dimension(demands(j, 8), "tp") for j in (plain, again))
    assert second.calls == first.calls * 6 / 4


def test_the_optimiser_s_shards_send_what_an_all_reduce_would():
    """ZeRO-1 splits one all-reduce into reduce-scatter and all-gather [Rajbhandari 2020]."""
    reduced = by_dimension(demands(job(sharding="none").with_(gradient_bytes=2), 8), "dp")
    split = by_dimension(demands(job(sharding="zero1").with_(gradient_bytes=2), 8), "dp")
    moved = sum(d.size_bytes * d.calls * d.operation.bus_factor(2) for d in reduced)
    moved_split = sum(d.size_bytes * d.calls * d.operation.bus_factor(2) for d in split)
    assert moved_split == pytest.approx(moved)


def test_fully_sharded_parameters_move_one_and_a_half_times_as_much():
    """3 Psi against 2 Psi of plain data parallelism, at one micro-batch."""
    one = {"dp": 16}
    plain = job(sharding="none", **one).with_(gradient_bytes=2)
    sharded = job(sharding="zero3", **one).with_(gradient_bytes=2)
    volumes = [
        sum(d.size_bytes * d.calls * d.operation.bus_factor(16) for d in demands(j, 8))
        for j in (plain, sharded)
    ]
    assert volumes[1] == pytest.approx(1.5 * volumes[0])


def test_adapters_reduce_their_own_gradients_only():
    whole = job(dp=8)
    adapter = whole.with_(model=whole.model.with_(trainable_ratio=0.01))
    full, small = (
        sum(d.size_bytes * d.calls for d in by_dimension(demands(j, 8), "dp"))
        for j in (whole, adapter)
    )
    assert small == pytest.approx(0.01 * full, rel=1e-6)


def test_experts_send_every_copy_or_one_for_each_host():
    moe = job(model="deepseek_v3", ep=64, dp=64)
    (copies,) = by_dimension(demands(moe, 8), "ep")
    hosts = moe.parallelism.with_(dispatch="hosts")
    (fewer,) = by_dimension(demands(moe.with_(parallelism=hosts), 8), "ep")
    assert fewer.size_bytes < copies.size_bytes
    assert copies.operation is Operation.ALL_TO_ALL


@pytest.mark.parametrize(
    ("ranks", "stride", "expected"),
    [
        (8, 1, Group(ranks=8, ranks_per_domain=8, neighbours=1)),
        (64, 8, Group(ranks=64, ranks_per_domain=1, neighbours=8)),
        (64, 4, Group(ranks=64, ranks_per_domain=2, neighbours=4)),
        (16, 1, Group(ranks=16, ranks_per_domain=8, neighbours=1)),
    ],
)
def test_groups_lie_as_megatron_places_ranks(ranks, stride, expected):
    assert group_of(ranks, stride, 8) == expected


def test_no_dimension_of_one_sends_anything():
    assert demands(job(dp=1), 8) == ()


def test_a_job_that_is_not_resolved_is_refused():
    with pytest.raises(AssertionError, match="resolve the job first"):
        demand.spread_of(job().with_(parallelism="auto"))


def test_a_pipeline_that_is_wider_than_a_domain_crosses_the_network():
    """Even where most neighbours share a host, the slowest pair does not."""
    cluster = load.preset("dgx_h100", hosts=16)
    wanted = load.load_job(
        {
            "model": "llama3_70b", "global_batch": 64, "sequence_length": 4096,
            "parallelism": {"tp": 4, "pp": 16, "dp": 2},
        }
    )  # fmt: skip
    found = [d for d in demands(resolve(cluster, wanted), 8) if d.dimension == "pp"]
    assert [d.group.domains for d in found] == [2]


def test_stages_that_lie_far_apart_feel_oversubscribed_uplinks():
    """A stage of 64 hosts sends to hosts 64 further on: through the spines."""
    wanted = load.load_job(
        {
            "model": "llama3_70b", "global_batch": 512, "sequence_length": 4096,
            "parallelism": {"tp": 8, "pp": 4, "overlap_pp": False},
        }
    )  # fmt: skip

    def step_s(ratio):
        topology = {"oversubscription": ratio}
        cluster = load.preset("hgx_h100_roce", hosts=256, topology=topology)
        return step_time(cluster, resolve(cluster, wanted)).step_s.value

    assert step_s(7.0) > 1.001 * step_s(1.0)

"""What a search finds, within what is pinned and what the owner allows."""

import pytest

from weft.advise.attachment import attachments
from weft.advise.best import Goal, Weighted, best
from weft.advise.candidate import candidates, find
from weft.advise.compare import Word, compare
from weft.advise.need import Target, need
from weft.advise.pins import NOTHING, Pins
from weft.advise.wiring import wirings
from weft.design.tariff import tariff
from weft.engines.analytic.step import all_ways
from weft.errors import Infeasible, UnknownName
from weft.predict.training import predict
from weft.spec import load
from weft.spec.constraints import Constraints
from weft.units import rate_from_gbit


@pytest.fixture(scope="module")
def small():
    return load.preset("dgx_h100", hosts=4)


@pytest.fixture(scope="module")
def training():
    return load.load_job({"model": "llama3_8b", "global_batch": 128, "sequence_length": 4096})


def found(cluster, job, name="roce_tuned", pins=(), **fields):
    return best(find(name), cluster, [Weighted(job=job)], Pins.of(pins), **fields)


def exhausted(cluster, job, name):
    """The least cost of a token over every NIC, wiring and parallelism: no bounds at all."""
    candidate, least = find(name), float("inf")
    ways = all_ways(cluster, job)
    for choice in candidate.choices(cluster):
        base = cluster.with_(fabric=choice)
        prices = tariff(base)
        for attachment in attachments(base, NOTHING):
            host = attachment.on(base, pinned_gpudirect=False)
            try:
                ways_to_wire = wirings(candidate, base, attachment, NOTHING)
            except Infeasible:
                continue
            for wiring in ways_to_wire:
                built = base.with_(host=host, topology=wiring.choice)
                hourly = predict(built, ways.prepared[0].job).cost.usd_per_gpu_hour.value
                step_s = min(ways.steps_s(built))
                least = min(least, hourly * step_s)
        assert prices.fixed_usd > 0
    tokens = job.global_batch * job.sequence_length
    return least * cluster.gpus / 3600 / tokens


@pytest.mark.parametrize("name", ["infiniband", "tcp", "ultra_ethernet"])
def test_the_bounds_of_the_search_miss_nothing(small, training, name):
    assert found(small, training, name).score == pytest.approx(
        exhausted(small, training, name), rel=1e-9
    )


def test_a_small_cluster_gets_a_small_switch(small, training):
    """Four hosts of 100G NICs need 32 ports: nobody buys 128 for them."""
    pins = ["host.nic_bytes_per_s"]
    slow = small.with_(host=small.host.with_(nic_bytes_per_s=rate_from_gbit(100)))
    one = found(slow, training, pins=pins)
    assert one.cluster.topology.switch in {"sn4600c", "sn3700"}


def test_what_is_pinned_stays(small, training):
    host = small.host.with_(nics=2)
    topology = small.topology.with_(kind="fat_tree")
    pinned = found(
        small.with_(host=host, topology=topology), training, pins=["host.nics", "topology"]
    )
    assert (pinned.cluster.host.nics, pinned.cluster.topology.kind) == (2, "fat_tree")


def test_parallelism_that_is_given_stays(small, training):
    given = training.with_(parallelism=load.load_job(
        {"model": "llama3_8b", "global_batch": 128, "parallelism": {"tp": 4}}
    ).parallelism)  # fmt: skip
    assert found(small, given).jobs[0].parallelism.tp == 4


def test_a_pinned_switch_of_another_fabric_gives_way(small, training):
    topology = small.topology.with_(switch="qm9700")
    one = found(small.with_(topology=topology), training, pins=["topology.switch"])
    assert one.cluster.topology.switch != "qm9700"


def test_a_target_takes_the_cheapest_network_that_reaches_it(small, training):
    free = found(small, training)
    easy = found(small, training, goal=Goal(step_s=10 * free.steps_s[0]))
    assert easy.usd_per_gpu_hour <= free.usd_per_gpu_hour
    with pytest.raises(Infeasible, match="reaches the target"):
        found(small, training, goal=Goal(step_s=free.steps_s[0] / 10))


def test_rails_apart_need_links_between_the_gpus_of_a_host():
    pcie = load.preset("l40s_tcp_100g", hosts=16)
    one = find("infiniband")
    base = pcie.with_(fabric=one.choices(pcie)[0])
    kinds = {
        w.choice.kind
        for a in attachments(base, NOTHING)
        for w in wirings(one, base, a, NOTHING)
    }
    assert "rail_only" not in kinds


def test_a_slot_of_pcie_4_feeds_200_gbit():
    old = load.preset("dgx_a100", hosts=4)
    base = old.with_(fabric=find("ultra_ethernet").choices(old)[0])
    rates = {a.bytes_per_s for a in attachments(base, NOTHING)}
    assert rates == {rate_from_gbit(200)}


def test_vendors_limit_switches_and_nics(small, training):
    nvidia = small.with_(constraints=Constraints(vendors=("NVIDIA",)))
    one = found(nvidia, training).cluster
    assert one.host.nic.startswith("connectx")
    assert one.topology.switch.startswith("sn")
    with pytest.raises(Infeasible, match="ultra_ethernet"):
        found(nvidia, training, "ultra_ethernet")


def test_over_budget_nothing_is_recommended_and_every_row_says_so(small, training):
    poor = small.with_(constraints=Constraints(budget_usd="100kUSD"))
    result = compare(poor, training, ["infiniband", "tcp"])
    assert result.recommendation.fabric is None
    assert "over budget" in result.recommendation.sentence
    assert {line.verdict for line in result.lines} == {Word.EXCLUDED}


@pytest.mark.parametrize(
    ("skill", "excluded"), [("none", {"roce_tuned", "roce_default"}), ("some", {"roce_tuned"})]
)
def test_skill_limits_what_is_recommended(small, training, skill, excluded):
    limited = small.with_(constraints=Constraints(skills={"roce": skill}))
    result = compare(limited, training, ["infiniband", "roce_tuned", "roce_default"])
    assert {x.name for x in result.lines if x.verdict is Word.EXCLUDED} == excluded


def test_several_jobs_share_one_network_and_count_by_weight(small, training):
    other = load.load_job({"model": "qwen3_14b", "global_batch": 64, "weight": 3})
    result = compare(small, [training, other], ["infiniband", "tcp"])
    assert result.weights == (0.25, 0.75)
    for line in result.lines:
        first, second = line.prediction, line.others[0]
        assert first.cluster == second.cluster
        mixed = 0.25 * first.usd_per_1t_tokens.value + 0.75 * second.usd_per_1t_tokens.value
        assert line.usd_per_1t_tokens.value == pytest.approx(mixed)


def test_clusters_side_by_side_are_compared_as_they_are(small, training):
    other = load.preset("hgx_h100_roce", hosts=4, host={"nics": 2})
    result = compare([small, other], training)
    assert [line.prediction.cluster.host.nics for line in result.lines] == [8, 2]
    for line, cluster in zip(result.lines, (small, other), strict=True):
        assert line.step_s == predict(cluster, training).step_s


def test_need_names_the_cheapest_network_that_reaches_the_target(small, training):
    now = predict(small, training).step_s.value
    one = need(small, training, Target(metric="step_s", value=1.2 * now)).cheapest
    assert one.prediction.step_s.value <= 1.2 * now
    assert (
        one.prediction.cost.network_usd.value < predict(small, training).cost.network_usd.value
    )
    assert need(small, training, Target(metric="step_s", value=0.1 * now)).cheapest is None


def test_every_candidate_names_a_fabric_or_none_and_says_what_it_asks():
    for name, one in candidates().items():
        assert one.name == name
        assert one.title
        assert one.knowledge
        assert one.resembles is None or one.resembles in candidates()


def test_unknown_groups_are_refused(small, training):
    with pytest.raises(UnknownName, match="parallelism"):
        compare(small, training, same=["layout"])


def test_keys_of_a_preset_are_not_written():
    tree = load.written(
        "Cluster", {"preset": "dgx_h100", "topology": {"kind": "fat_tree"}}, "x"
    )
    assert load.keys_written([tree], ["host.nics=4"]) == {
        "preset", "topology.kind", "host.nics",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "networks"),
    [
        ("aws_p5", ["efa", "tcp"]),
        ("azure_nd_h100_v5", ["infiniband", "tcp"]),
        ("gcp_a3_mega", ["as_given", "tcp"]),
        ("oci_h100", ["roce_tuned", "tcp"]),
    ],
)
def test_a_cloud_gets_the_network_that_it_rents_and_no_other(name, networks, training):
    result = compare(load.preset(name, hosts=4), training)
    assert [line.name for line in result.lines] == networks
    assert len({line.prediction.cost.usd_per_gpu_hour.value for line in result.lines}) == 1
    assert result.recommendation.fabric == networks[0]

"""What a comparison must not get wrong, whatever the cluster and the job.

Cases are drawn by seed from machines, sizes, models and fabrics; each checks one relation that
holds between two answers, or between an answer and its own figures.
"""

import random
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from weft.advise.best import Weighted, best
from weft.advise.candidate import find
from weft.advise.compare import DEFAULT, Word, compare
from weft.advise.pins import Pins
from weft.advise.recommendation import is_dominated
from weft.design.cost import total_cost
from weft.doctor.cost import Fault
from weft.doctor.price import price
from weft.errors import WeftError
from weft.predict.training import predict
from weft.spec import load
from weft.spec.cluster import FabricChoice

MACHINES = ("dgx_h100", "dgx_a100", "dgx_b200", "mi300x_roce", "gb200_nvl72", "l40s_tcp_100g")
MODELS = ("llama3_8b", "llama3_2_1b", "qwen3_14b", "mixtral_8x7b", "llama3_70b")
KINDS = ("infiniband", "roce", "tcp", "ultra_ethernet", "scheduled_ethernet")
RDMA = ("infiniband", "roce_tuned", "ultra_ethernet")
SAME = 1e-9
MODEL_STEPS = 2e-3
"""NCCL's own choice may be worse with more of something, by so much of a step."""


def dice(seed):
    return random.Random(seed)  # noqa: S311 - cases, not secrets


@cache
def drawn(seed):
    """A cluster and a job that runs on it: small and large, thin and fat."""
    rng = dice(seed)
    while True:
        machine = rng.choice(MACHINES)
        hosts = rng.choice((2, 3, 4, 8, 16, 32) if machine != "gb200_nvl72" else (2, 4))
        cluster = load.preset(machine, hosts=hosts)
        sequences = cluster.gpus * rng.choice((1, 2, 4, 8))
        job = load.load_job({
            "model": rng.choice(MODELS), "global_batch": sequences,
            "sequence_length": rng.choice((2048, 4096, 8192)),
        })  # fmt: skip
        try:
            best(find("tcp"), cluster, [Weighted(job=job)])
        except WeftError:
            continue
        return cluster, job


@cache
def compared(seed):
    return compare(*drawn(seed))


def searched(name, cluster, job, pins=()):
    return best(find(name), cluster, [Weighted(job=job)], Pins.of(pins))


@pytest.mark.parametrize("seed", range(30))
def test_rows_do_not_depend_on_the_fabric_that_is_written(seed):
    cluster, job = drawn(seed)
    rng = dice(seed)
    mode = {"roce": "ecmp", "infiniband": "static"}
    kind = rng.choice(KINDS)
    fabric = FabricChoice(kind=kind, load_balancing=mode.get(kind), tuning="default")
    other = cluster.with_(fabric=fabric)
    for name in rng.sample(("infiniband", "roce_tuned", "tcp", "scheduled_ethernet"), 2):
        ours, theirs = searched(name, cluster, job), searched(name, other, job)
        assert ours.cluster == theirs.cluster
        assert (ours.jobs, ours.steps_s, ours.score) == (
            theirs.jobs, theirs.steps_s, theirs.score,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_a_prediction_of_the_cluster_and_job_of_a_row_is_that_row(seed):
    for line in compared(seed).lines:
        again = predict(line.prediction.cluster, line.prediction.job)
        assert again.step_s == line.step_s
        assert again.usd_per_1t_tokens.value == pytest.approx(line.usd_per_1t_tokens.value)
        assert again.cost.network_usd == line.network_usd


@pytest.mark.parametrize("seed", range(20))
def test_what_the_search_found_is_what_a_prediction_gives(seed):
    """The search prices by a sum over parts and times by prepared ways: both are the model."""
    cluster, job = drawn(seed)
    for name in ("roce_tuned", "tcp"):
        found = searched(name, cluster, job)
        again = predict(found.cluster, found.jobs[0])
        assert again.step_s.value == pytest.approx(found.steps_s[0], rel=SAME)
        usd = total_cost(found.cluster).usd_per_gpu_hour.value
        assert usd == pytest.approx(found.usd_per_gpu_hour, rel=SAME)


@pytest.mark.parametrize("seed", range(12))
def test_what_costs_more_and_is_slower_is_never_recommended(seed):
    result = compared(seed)
    lines = {line.name: line for line in result.lines}
    taken = lines[result.recommendation.fabric]
    for line in result.lines:
        if line.objections or find(line.name).resembles:
            continue
        worse = taken.usd_per_1t_tokens.value > line.usd_per_1t_tokens.value
        assert not (worse and taken.speed_ratio < line.speed_ratio), line.name


@pytest.mark.parametrize("seed", range(12))
def test_the_sentence_and_the_verdicts_follow_from_the_table(seed):
    result = compared(seed)
    advice = result.recommendation
    verdicts = {line.name: line.verdict for line in result.lines}
    choices = [line for line in result.lines if not line.objections]
    cheapest = min(choices, key=lambda line: line.usd_per_1t_tokens.value)
    assert advice.cheapest == cheapest.name
    assert [n for n, v in verdicts.items() if v is Word.ADVISED] == [advice.fabric]
    assert advice.fabric in {cheapest.name, *advice.tied_with}
    assert f"Take {find(advice.fabric).short}" in advice.sentence
    for name in advice.tied_with:
        assert find(name).short.lower() in advice.sentence.lower()
    taken, rival = (next(x for x in result.lines if x.name == n)
                    for n in (advice.fabric, advice.rival))  # fmt: skip
    less = taken.usd_per_1t_tokens.value < rival.usd_per_1t_tokens.value
    assert ("% less (" if less else "% more (") in advice.sentence


@pytest.mark.parametrize("seed", range(24))
def test_freedom_never_makes_the_answer_worse(seed):
    """A search with one key pinned is among those of the search without the pin."""
    cluster, job = drawn(seed)
    rng = dice(seed)
    name = rng.choice(RDMA[:2])
    free = searched(name, cluster, job)
    kind = rng.choice(("rail_optimized", "leaf_spine", "fat_tree"))
    ratio = rng.choice((1.0, 2.0, 4.0))
    topology = cluster.topology.with_(kind=kind, oversubscription=ratio)
    keys = rng.sample(("topology.kind", "topology.oversubscription"), 1)
    try:
        pinned = searched(name, cluster.with_(topology=topology), job, keys)
    except WeftError:
        return  # it cannot be built so
    assert free.score <= pinned.score * (1 + SAME)


@pytest.mark.parametrize("seed", range(24))
def test_less_oversubscription_never_makes_a_step_longer(seed):
    cluster, job = drawn(seed)
    found = searched("roce_tuned", cluster, job)
    built, way = found.cluster, found.jobs[0]
    steps = []
    for ratio in (1.0, 2.0, 4.0):
        topology = built.topology.with_(oversubscription=ratio)
        try:
            steps.append(predict(built.with_(topology=topology), way).step_s.value)
        except WeftError:
            continue
    assert all(a <= b * (1 + MODEL_STEPS) for a, b in pairwise(steps))


@pytest.mark.parametrize("seed", range(24))
def test_more_bandwidth_never_makes_a_step_longer(seed):
    """Twice the rate of every NIC and link, on the same switches joined in the same way."""
    cluster, job = drawn(seed)
    found = searched(dice(seed).choice(("roce_tuned", "tcp")), cluster, job)
    built, way = found.cluster, found.jobs[0]
    link = built.host.nic_bytes_per_s
    steps = [
        predict(
            built.with_(
                host=built.host.with_(nic_bytes_per_s=link * r, pcie_bytes_per_s=None),
                fabric=built.fabric.with_(link_bytes_per_s=link),
            ),
            way,
        ).step_s.value
        for r in (0.25, 0.5, 1.0)
    ]
    assert all(b <= a * (1 + MODEL_STEPS) for a, b in pairwise(steps))


@pytest.mark.parametrize("seed", range(20))
def test_lower_prices_never_make_the_answer_worse(seed):
    cluster, job = drawn(seed)
    rng = dice(seed)
    name = rng.choice(RDMA[:2])
    now = searched(name, cluster, job)
    own = 0.083
    prices = [
        cluster.prices.with_(electricity_usd_per_kwh=own * ratio) for ratio in (0.5, 1.0, 2.0)
    ]
    scores = [searched(name, cluster.with_(prices=one), job).score for one in prices]
    assert scores == sorted(scores)
    assert scores[1] == pytest.approx(now.score)


@pytest.mark.parametrize("seed", range(20))
def test_equal_hardware_costs_the_same(seed):
    """Fabrics that run on the same NICs, switches and cables differ in staff alone."""
    cluster, job = drawn(seed)
    found = searched("roce_tuned", cluster, job)
    built = found.cluster.with_(prices=cluster.prices.with_(fabric_engineers=1.0))
    tcp = built.with_(fabric=FabricChoice(kind="tcp"))
    ours, theirs = total_cost(built), total_cost(tcp)
    assert ours.total_usd.value == pytest.approx(theirs.total_usd.value, rel=SAME)


@pytest.mark.parametrize("seed", range(8))
def test_jobs_that_stay_in_a_domain_need_no_network(seed):
    cluster, job = drawn(seed)
    batch = max(1, job.global_batch // cluster.hosts)
    small = load.model("llama3_2_1b")
    alone = job.with_(model=small, global_batch=batch)
    try:
        result = compare(cluster.with_(hosts=1), alone)
    except WeftError:
        return
    assert "no scale-out network is needed" in result.recommendation.sentence
    assert [line.network_usd.value for line in result.lines] == [0.0]


@pytest.mark.parametrize("seed", range(12))
def test_a_row_is_called_slower_only_where_another_choice_beats_it_twice(seed):
    result = compared(seed)
    rows = {line.name: line for line in result.lines}
    slower = [n for n, line in rows.items() if line.verdict is Word.SLOWER]
    for name in slower:
        assert any(
            other.usd_per_1t_tokens.value < rows[name].usd_per_1t_tokens.value
            and other.speed_ratio > rows[name].speed_ratio
            for other in result.lines
        )


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_share_everything_differ_in_the_fabric_alone(seed):
    cluster, job = drawn(seed)
    same = ["parallelism", "topology", "nics"]
    lines = compare(cluster, job, ["infiniband", "roce_tuned", "tcp"], same=same).lines
    shapes = {
        (
            line.prediction.job.parallelism, line.prediction.cluster.topology.kind,
            line.prediction.cluster.host.nics, line.prediction.cluster.host.nic_bytes_per_s,
        )
        for line in lines
    }  # fmt: skip
    assert len(shapes) <= 1


def test_dominated_is_strict():
    """A row does not dominate itself, nor one that is equal."""
    case = compared(0)
    assert not any(is_dominated(row, [row]) for row in map(_as_row, case.lines))


def _as_row(line):
    class Row:
        usd_per_1t_tokens = line.usd_per_1t_tokens.value
        progress_tokens_per_s = line.speed_ratio
        candidate = replace(find(line.name), resembles=None)

    return Row


def test_the_six_networks_are_those_of_the_table():
    assert tuple(find(name).name for name in DEFAULT) == DEFAULT


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["roce", "infiniband"])
def test_bands_of_both_engines_overlap_where_both_model_the_network(kind):
    """The analytic band holds what it does not know of queues; packets simulate them."""
    cluster = load.preset("hgx_h100_roce", hosts=4).with_(fabric=FabricChoice(kind=kind))
    job = load.load_job({"model": "llama3_8b", "global_batch": 32, "parallelism": {}})
    closed, packets = predict(cluster, job), predict(cluster, job, fidelity="packet")
    assert packets.packets.said
    assert closed.step_s.low <= packets.step_s.high
    assert packets.step_s.low <= closed.step_s.high


@pytest.mark.parametrize("fault", [Fault.RAIL_LOST, Fault.LINK_NARROW, Fault.PCIE_NARROW])
def test_the_price_of_a_fault_grows_with_its_size(fault):
    """Between a tenth and three quarters of the rate lost, dollars a day never fall."""
    usd = [price(fault, left).usd.value for left in (0.9, 0.7, 0.5, 0.25)]
    assert usd == sorted(usd)
    assert usd[-1] > usd[0]

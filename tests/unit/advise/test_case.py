"""The table behind the advice: rows, rivals, sizes."""

from functools import partial

import pytest

from weft.advise.case import fitted, resized
from weft.advise.knobs import with_bandwidth
from weft.errors import Infeasible
from weft.network.network import layout
from weft.spec.cluster import FabricChoice, TopologyChoice
from weft.spec.workload import Parallelism


def test_the_best_is_the_one_whose_tokens_cost_least(case):
    """Cost of a token goes as step x price: roce 9.053 x 10.0, infiniband 9.0 x 10.3."""
    assert case.best.name == "roce_tuned"


def test_rivals_are_the_next_in_cost_and_the_best_of_another_family(case):
    assert [row.name for row in case.rivals] == ["ultra_ethernet", "infiniband"]


def test_a_row_knows_the_cost_of_a_trillion_tokens_as_its_prediction_does(case):
    row = case.row("tcp")
    assert row.usd_per_1t_tokens == pytest.approx(row.prediction.usd_per_1t_tokens.value)


def test_each_prediction_is_made_once(case):
    case.rows  # noqa: B018 - worked out on first use
    before = case.oracle.calls
    case.row("tcp")
    assert case.oracle.calls == before == 6


def test_a_job_resized_keeps_the_batch_of_each_replica(job):
    half = resized(job, gpus=128, own=256)
    assert (half.global_batch, half.gpus, half.parallelism.dp) == (128, 128, None)


def test_sizes_are_whole_replicas_and_hosts(cluster, job, held):
    wide = held(cluster, job.with_(parallelism=Parallelism(tp=8, pp=4, dp=8)))
    assert wide.replica_gpus == 32
    assert wide.sizes((16, 50, 100)) == [64, 96, 256]


def test_a_candidate_that_cannot_run_is_no_row(case, cluster, job, held):
    def without_tcp(cluster, job):
        if cluster.fabric.kind == "tcp":
            raise Infeasible("not here")
        return case.oracle.ask(cluster, job)

    kept = held(cluster, job, ask=without_tcp)
    assert "tcp" not in [row.name for row in kept.rows]
    assert kept.attempt(partial(kept.row, "tcp")) is None


def test_nothing_to_compare_is_said(cluster, job, held):
    def never(_cluster, _job):
        raise Infeasible("no")

    empty = held(cluster, job, ask=never, names=("tcp",))
    with pytest.raises(Infeasible, match="can run this job: tcp: no"):
        empty.best  # noqa: B018 - raises


def test_a_change_is_made_once(case):
    """Half the bandwidth twice would be a quarter."""
    halved = case.row("roce_tuned", change=lambda c: with_bandwidth(c, 0.5)).prediction
    assert halved.cluster.host.nic_bytes_per_s == 25e9
    assert case.pace("roce_tuned", change=lambda c: with_bandwidth(c, 0.5)).step_s == (
        pytest.approx(halved.step_s.value)
    )


def test_slower_nics_keep_the_switches_and_faster_ones_get_more_planes(cluster):
    """What is asked is bandwidth alone: hops and ports per link stay as they are."""
    slow, fast = with_bandwidth(cluster, 0.25), with_bandwidth(cluster, 3.0)
    assert slow.fabric.link_bytes_per_s == 50e9
    assert layout(slow).hops == layout(cluster).hops
    assert (fast.host.nic_bytes_per_s, fast.topology.planes) == (150e9, 3)
    assert layout(fast).link_bytes_per_s == 50e9


def test_pods_too_large_for_another_switch_become_as_large_as_it_allows(cluster):
    """A radix of 64 reaches 224 hosts on fewer leaves than the 384 asked for."""
    asked = TopologyChoice(kind="fat_tree", hosts_per_pod=384, pod_oversubscription=7)
    big = cluster.with_(hosts=2048, topology=asked, fabric=FabricChoice(kind="infiniband"))
    assert fitted(big).topology.hosts_per_pod is None
    assert fitted(cluster) is cluster

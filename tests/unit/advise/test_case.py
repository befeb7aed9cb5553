"""The table behind the advice: rows, rivals, sizes."""

from functools import partial

import pytest

from weft.advise.case import Case, resized
from weft.advise.oracle import Oracle
from weft.errors import Infeasible
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


def test_sizes_are_whole_replicas_and_hosts(case):
    wide = Case(
        cluster=case.cluster,
        job=case.job.with_(parallelism=Parallelism(tp=8, pp=4, dp=8)),
        years=4.0,
        names=case.names,
        oracle=case.oracle,
    )
    assert wide.replica_gpus == 32
    assert wide.sizes((16, 50, 100)) == [64, 96, 256]


def test_a_candidate_that_cannot_run_is_no_row(case):
    def without_tcp(cluster, job):
        if cluster.fabric.kind == "tcp":
            raise Infeasible("not here")
        return case.oracle.ask(cluster, job)

    kept = Case(
        cluster=case.cluster, job=case.job, years=4.0, names=case.names,
        oracle=Oracle.of(without_tcp),
    )  # fmt: skip
    assert "tcp" not in [row.name for row in kept.rows]
    assert kept.attempt(partial(kept.row, "tcp")) is None


def test_nothing_to_compare_is_said(case):
    def never(_cluster, _job):
        raise Infeasible("no")

    empty = Case(
        cluster=case.cluster, job=case.job, years=4.0, names=("tcp",), oracle=Oracle.of(never)
    )
    with pytest.raises(Infeasible, match="none of tcp can run"):
        empty.best  # noqa: B018 - raises

"""A model of a step that can be worked out by hand, in place of predict()."""

from types import SimpleNamespace

import pytest

from weft.advise.best import Found, Weighted
from weft.advise.case import Case
from weft.advise.compare import DEFAULT, compared
from weft.advise.oracle import Oracle
from weft.advise.quantity import Trial
from weft.engines.engine import StepTime, Traffic
from weft.predict.training import Prediction
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster, FabricChoice, Host, Reliability, ScaleUp, TopologyChoice
from weft.spec.workload import Job, Model, Parallelism
from weft.traffic.collective import Group, Operation

COMPUTE_S = 8.0
EFFICIENCY = {
    "infiniband": 1.0,
    "roce": 0.95,
    "scheduled_ethernet": 0.96,
    "ultra_ethernet": 0.94,
    "tcp": 0.2,
}
NETWORK_USD = {
    "infiniband": 1.3e6,
    "roce": 1.0e6,
    "scheduled_ethernet": 1.2e6,
    "ultra_ethernet": 1.1e6,
    "tcp": 0.9e6,
}
TUNING = {"tuned": 1.0, "default": 0.7, "misconfigured": 0.4}
REST_USD = 9.0e6
YEAR_S = 31536000.0


def make_cluster(**changes) -> Cluster:
    own = Cluster(
        name="fake",
        hosts=32,
        host=Host(
            server="dgx_h100",
            gpu="h100_sxm",
            gpus=8,
            nic="connectx7",
            nics=8,
            nic_bytes_per_s="400Gb/s",
            scale_up=ScaleUp(bytes_per_s="450GB/s"),
        ),
        fabric=FabricChoice(kind="roce"),
        topology=TopologyChoice(kind="rail_optimized"),
        reliability=Reliability(),
    )
    return own.with_(**changes)


def make_job(**changes) -> Job:
    own = Job(
        name="fake",
        model=Model(
            layers=8, hidden=512, heads=8, kv_heads=8, head_dim=64, ffn_hidden=2048, vocab=1000
        ),
        parallelism=Parallelism(tp=8, dp=32),
        sequence_length=4096,
        global_batch=256,
    )
    return own.with_(**changes)


def fake_predict(cluster: Cluster, job: Job) -> Prediction:
    """Step = compute of the batch + 1 s of communication at 400 Gb/s and full efficiency."""
    gpus = job.gpus or cluster.gpus
    fabric = cluster.fabric
    share = EFFICIENCY[fabric.kind] * TUNING[fabric.tuning]
    share *= (0.9 if fabric.load_balancing == "ecmp" else 1.0) * (1 - fabric.load_ratio)
    rate = cluster.host.nic_bytes_per_s * cluster.host.nics / 8 / 50e9
    exposed_s = 1.0 / share / rate * cluster.topology.oversubscription
    compute_s = COMPUTE_S * job.global_batch / gpus
    step_s = compute_s + exposed_s
    tokens = job.global_batch * job.sequence_length
    years = cluster.prices.years
    network = NETWORK_USD[fabric.kind] * (1.1 if cluster.storage_fabric else 1.0)
    total = (network + REST_USD) * cluster.gpus / 256
    usd_per_gpu_hour = total / cluster.gpus / (years * YEAR_S / 3600)
    tokens_per_s = tokens / step_s
    return Prediction(
        cluster=cluster,
        job=job,
        gpus=gpus,
        step=_step(step_s, compute_s, exposed_s, tokens, gpus),
        step_s=_about(step_s),
        mfu_ratio=_about(0.5 * compute_s / step_s),
        hfu_ratio=_about(0.5 * compute_s / step_s),
        tokens_per_s=_about(tokens_per_s),
        goodput_ratio=Estimate(1.0, 1.0, 1.0),
        exposed_ratio=_about(exposed_s / step_s),
        cost=SimpleNamespace(
            usd_per_gpu_hour=_about(usd_per_gpu_hour),
            network_usd=_about(network * cluster.gpus / 256),
            network_hardware_usd=_about(0.8 * network),
            total_usd=_about(total),
            parts={"switches": _about(network), "servers": _about(total - network)},
            power_w=_about(1e3 * cluster.gpus),
            rented=False,
            assumptions=(),
            years=years,
        ),
        usd_per_1t_tokens=_about(usd_per_gpu_hour * gpus / 3600 / tokens_per_s * 1e12),
        energy_j_per_token=_about(1e3 * gpus / tokens_per_s),
        run_s=None,
        provenance=Provenance(
            weft="0",
            engine="fake",
            models=frozenset(),
            spec_sha256="",
            catalogue_sha256="",
        ),
    )


def _about(value: float) -> Estimate:
    return Estimate(value, 0.9 * value, 1.1 * value)


def _step(
    step_s: float, compute_s: float, exposed_s: float, tokens: float, gpus: int
) -> StepTime:
    return StepTime(
        step_s=_about(step_s),
        breakdown_s={"matrix": compute_s, "exposed_dp": exposed_s},
        traffic=(
            Traffic(
                dimension="dp",
                operation=Operation.ALL_REDUCE,
                group=Group(ranks=gpus // 8, ranks_per_domain=1, neighbours=8),
                size_bytes=1e9,
                calls=1.0,
                total_s=2 * exposed_s,
                exposed_s=exposed_s,
                fabric_ratio=1.0,
            ),
        ),
        model_flops=6e9 * tokens,
        hardware_flops=6e9 * tokens,
        memory_bytes={"weights": 1e9, "optimizer": 1e9},
        reasons=(),
        assumptions=(),
    )


@pytest.fixture
def ask():
    """predict(), so to speak."""
    return fake_predict


@pytest.fixture
def cluster():
    """256 GPUs in 32 hosts on RoCE."""
    return make_cluster()


@pytest.fixture
def job():
    """Eight seconds of computation and about one of communication a step."""
    return make_job()


def as_it_is(candidate, cluster, jobs, pins) -> Found:
    """The fabric of a candidate on a cluster of which all but the NIC stays."""
    del pins
    own = candidate.with_storage(
        cluster.with_(
            fabric=candidate.choices(cluster)[0], topology=cluster.topology.with_(switch=None)
        )
    )
    return Found(
        cluster=own.with_(host=own.host.with_(nic="")), jobs=tuple(one.job for one in jobs),
        steps_s=(1.0,), usd_per_gpu_hour=1.0, score=1.0,
    )  # fmt: skip


def held_equal(cluster: Cluster, job: Job, ask=fake_predict, names=DEFAULT, **fields) -> Case:
    """A case whose rows differ in the fabric alone: nothing is searched."""
    return Case(
        cluster=cluster, jobs=(Weighted(job=job),), years=4.0, names=names,
        oracle=Oracle.of(ask), seek=as_it_is, **fields,
    )  # fmt: skip


@pytest.fixture
def held():
    return held_equal


@pytest.fixture
def case(cluster, job):
    return held_equal(cluster, job)


@pytest.fixture
def trial(case):
    return Trial(case=case, break_evens={})


@pytest.fixture(scope="module")
def comparison():
    """A whole comparison on the fake."""
    return compared(held_equal(make_cluster(), make_job()))

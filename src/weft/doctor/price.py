"""What a fault costs: the same job with and without it, through the model."""

from functools import cache

from weft.doctor.cost import Fault, Price
from weft.engines.analytic.step.goodput import stop_s
from weft.errors import WeftError
from weft.predict.training import Prediction, predict
from weft.results import Estimate, combine
from weft.spec.cluster import Cluster
from weft.spec.load import load_job, preset
from weft.spec.workload import Job
from weft.units import SECONDS

_HOURS_PER_DAY = SECONDS["d"] / SECONDS["h"]
_STATED_HOSTS = 16
_SLOWED_CLOCK_RATIO = 0.5
"""NVML, nvmlClocksEventReasonHwSlowdown: hardware lowers clocks "by a factor of 2 or more"."""
_COMPUTED = ("matrix", "attention", "memory_bound", "recompute", "bubble", "optimizer")
"""Parts of a step that follow the clock of the slowest GPU."""


@cache
def default_case() -> tuple[Cluster, Job]:
    """Return the cluster and the job that stand in where the user names none.

    A dense model of 70 billion parameters on 16 hosts of 8 H100 with one 400 Gb/s NIC a GPU.
    """
    cluster = preset("dgx_h100", hosts=_STATED_HOSTS)
    job = load_job(
        {
            "model": "llama3_70b",
            "global_batch": 512,
            "sequence_length": 4096,
            "parallelism": {"tp": 8, "pp": 2},
        }
    )
    return cluster, job


def with_fault(cluster: Cluster, fault: Fault, left_ratio: float = 1.0) -> Cluster | None:
    """Put a fault into a cluster, or return None where the model has no such change.

    The slowest rail sets the pace of a ring over all of them, so a rail that is narrow on one
    host is narrow for the job; of a lost rail the others take over the traffic.
    """
    host = cluster.host
    rate = host.nic_bytes_per_s
    if fault is Fault.SOCKETS and cluster.fabric.kind != "tcp":
        plain = cluster.fabric.with_(
            kind="tcp", load_balancing=None, in_network_reduction=False
        )
        return cluster.with_(fabric=plain, host=host.with_(gpudirect=False))
    if fault is Fault.GPUDIRECT_OFF and host.gpudirect:
        return cluster.with_(host=host.with_(gpudirect=False))
    if fault is Fault.RAIL_LOST and host.nics > 1:
        left = left_ratio if left_ratio < 1 else (host.nics - 1) / host.nics
        return cluster.with_(host=host.with_(nic_bytes_per_s=rate * left))
    if fault in {Fault.LINK_NARROW, Fault.PCIE_NARROW, Fault.PAUSED} and 0 < left_ratio < 1:
        return cluster.with_(host=host.with_(nic_bytes_per_s=rate * left_ratio))
    if fault is Fault.MISTUNED and cluster.fabric.kind == "roce":
        return cluster.with_(fabric=cluster.fabric.with_(tuning="misconfigured"))
    return None


def price(
    fault: Fault,
    left_ratio: float = 1.0,
    cluster: Cluster | None = None,
    job: Job | None = None,
) -> Price | None:
    """Price a fault for a job, or for the default one; None where the model cannot say."""
    stated = cluster is not None and job is not None
    default_cluster, default_job = default_case()
    sound = cluster or default_cluster
    work = job or default_job
    if fault is Fault.MISTUNED and cluster is None:
        sound = preset("hgx_h100_roce", hosts=_STATED_HOSTS)
    try:
        return _priced(fault, left_ratio, predict(sound, work), stated=stated)
    except WeftError:  # the job does not fit this cluster: no price is better than a wrong one
        return None


def _priced(
    fault: Fault, left_ratio: float, sound: Prediction, *, stated: bool
) -> Price | None:
    stop = ratio = None
    if fault is Fault.STOP:
        stop = stop_s(sound.cluster, sound.gpus, sound.step_s.value)
        hours = stop.map(lambda s: s / SECONDS["h"])
    else:
        ratio = _longer(fault, left_ratio, sound)
        if ratio is None:
            return None
        hours = ratio.map(lambda more: _HOURS_PER_DAY * more / (1 + more))
    per_hour = sound.cost.usd_per_gpu_hour
    return Price(
        fault=fault,
        step_ratio=ratio,
        stop_s=stop,
        usd=combine(lambda hours, usd: hours * usd * sound.gpus, hours, per_hour),
        cluster=sound.cluster.name,
        job=sound.job.model.name,
        gpus=sound.gpus,
        stated=stated,
    )


def _longer(fault: Fault, left_ratio: float, sound: Prediction) -> Estimate | None:
    """Return by how much the step grows."""
    if fault is Fault.GPU_SLOW:
        grown = _of_slow_gpu(sound, left_ratio if left_ratio < 1 else _SLOWED_CLOCK_RATIO)
        spread = _relative_spread(sound.step_s)
    else:
        faulty = with_fault(sound.cluster, fault, left_ratio)
        if faulty is None:
            return None
        after = predict(faulty, sound.job).step_s
        grown = after.value / sound.step_s.value - 1.0
        # Both predictions err alike, so their ratio is surer than either: the band of the
        # waiting alone is carried, which is what the fault changes.
        spread = _relative_spread(after)
    return Estimate(grown, max(0.0, grown * (1 - spread)), grown * (1 + spread))


def _of_slow_gpu(sound: Prediction, left_ratio: float) -> float:
    """Return the growth of a step in which all wait for one GPU; communication is as before."""
    computed_s = sum(sound.step.breakdown_s.get(name, 0.0) for name in _COMPUTED)
    return computed_s * (1 / left_ratio - 1) / sound.step_s.value


def _relative_spread(estimate: Estimate) -> float:
    return min(1.0, (estimate.high - estimate.low) / 2 / estimate.value)

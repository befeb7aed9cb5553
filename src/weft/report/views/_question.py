"""The question in a few lines: the head of every report on a training job."""

from weft.advise.wording import figure
from weft.report.numbers import show_rate
from weft.spec.cluster import Cluster
from weft.spec.workload import Job, Parallelism


def brief(cluster: Cluster, job: Job) -> tuple[tuple[str, str], ...]:
    """Describe a cluster and a job in three lines, as pairs of names and values."""
    host, fabric = cluster.host, cluster.fabric
    network = f"{fabric.kind}, {host.nics} x {show_rate(host.nic_bytes_per_s)} per host"
    tokens = f"{figure(job.global_batch, 'sequences')} of {job.sequence_length} tokens"
    return (
        ("cluster", f"{figure(cluster.hosts, 'hosts')} of {host.gpus} {host.gpu}"),
        ("network", f"{network}, {cluster.topology.kind.replace('_', ' ')}"),
        ("job", f"{tokens}, {job.precision}; {spread(job)}"),
    )


def spread(job: Job) -> str:
    """Say how a job is spread over its GPUs.

    >>> from weft.spec.load import load_job
    >>> spread(load_job({"model": "llama3_8b", "global_batch": 64}))
    'auto'
    """
    how = job.parallelism
    if not isinstance(how, Parallelism):
        return how
    ranks = {"TP": how.tp, "CP": how.cp, "PP": how.pp, "EP": how.ep, "DP": how.dp or 0}
    words = [f"{name} {count}" for name, count in ranks.items() if count > 1]
    if how.pp > 1:
        chunks = f", {how.virtual_stages} chunks" if how.virtual_stages > 1 else ""
        words.append(f"{how.schedule.replace('_', ' ')}{chunks}")
    return ", ".join([*words, how.sharding])

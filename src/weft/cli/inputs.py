"""Documents in, specs out: which files hold the cluster and the job, what is laid over them."""

from collections.abc import Sequence
from pathlib import Path

from weft.errors import SpecError
from weft.spec.cluster import Cluster
from weft.spec.load import load_case, load_cluster, load_documents, split_sets
from weft.spec.workload import Job


def cluster_and_job(
    files: Sequence[Path], sets: Sequence[str], overlay: Path | None = None
) -> tuple[Cluster, Job]:
    """Load the cluster and the job of the files given, with the user's own measurements."""
    _need(files, "a cluster and a job document")
    cluster, job = load_case(files, sets)
    return _overlaid(cluster, overlay), job


def cluster_alone(
    files: Sequence[Path], sets: Sequence[str], overlay: Path | None = None
) -> Cluster:
    """Load the cluster of the files given; a job beside it is not looked at."""
    _need(files, "a cluster document")
    holds = [f for f in files if len(files) == 1 or _has_cluster(f)]
    if len(holds) != 1:
        raise SpecError(
            f"{len(holds)} of the files {', '.join(map(str, files))} hold a cluster; give one"
        )
    return _overlaid(load_cluster(holds[0], split_sets(sets)[0]), overlay)


def _has_cluster(file: Path) -> bool:
    return any(isinstance(part, Cluster) for part in load_documents(file))


def _need(files: Sequence[Path], what: str) -> None:
    if not files:
        raise SpecError(f"no documents are given; name {what} with -f FILE, or write one with "
                        "`weft init`")  # fmt: skip


def _overlaid(cluster: Cluster, overlay: Path | None) -> Cluster:
    return cluster

"""Documents in, specs out: which files hold the cluster and the job, what is laid over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import SpecError
from weft.spec.cluster import Cluster
from weft.spec.load import (
    kind_of,
    load_case,
    load_cluster,
    load_documents,
    load_scenario,
    load_tuning,
    split_sets,
)
from weft.spec.overlay import load_overlay
from weft.spec.scenario import Scenario
from weft.spec.workload import Job


def cluster_and_job(
    files: Sequence[Path], sets: Sequence[str], overlay: Path | None = None
) -> tuple[Cluster, Job]:
    """Load the cluster and the job of the files given, with the user's own measurements."""
    _need(files, "a cluster and a job document")
    cluster, job = load_case(files, sets)
    return _overlaid(cluster, overlay), job


def cluster_alone(
    files: Sequence[Path],
    sets: Sequence[str],
    overlay: Path | None = None,
    *,
    tuning: Path | None = None,
) -> Cluster:
    """Load the cluster of the files given; a job beside it is not looked at."""
    _need(files, "a cluster document")
    holds = [f for f in files if len(files) == 1 or _has_cluster(f)]
    if len(holds) != 1:
        raise SpecError(
            f"{len(holds)} of the files {', '.join(map(str, files))} hold a cluster; give one"
        )
    cluster = load_cluster(holds[0], split_sets(sets)[0])
    return _tuned(_overlaid(cluster, overlay), tuning)


def cluster_and_perhaps_job(
    files: Sequence[Path], sets: Sequence[str], overlay: Path | None = None
) -> tuple[Cluster, Job | None]:
    """Load the cluster of the files given, and the job where one of them holds it."""
    if any(isinstance(part, Job) for file in files for part in load_documents(file)):
        return cluster_and_job(files, sets, overlay)
    return cluster_alone(files, sets, overlay), None


def scenarios_or_cluster(
    files: Sequence[Path], sets: Sequence[str]
) -> tuple[tuple[Scenario, ...], tuple[str, ...]]:
    """Load scenarios, or make up usual ones for a cluster and say what they leave out."""
    from weft.predict.part import model_of  # noqa: PLC0415 - one command needs it
    from weft.tune.usual import MOST_NICS, scenarios_for  # noqa: PLC0415 - as above

    kinds = [kind_of(file) for file in files]
    if kinds == ["Cluster"]:
        cluster = load_cluster(files[0], sets)
        return scenarios_for(cluster), (model_of(cluster, MOST_NICS)[1],)
    if "Cluster" in kinds:
        raise SpecError(
            f"{len(files)} files, one of them a cluster: give scenarios, or one cluster alone"
        )
    return tuple(load_scenario(file, sets) for file in files), ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of nccl-tests: who took part, and the time of every size."""

    ranks: int
    ranks_per_host: int
    times_s: Mapping[float, float]


def measured_run(file: Path, operation: str) -> Run:
    """Read a run of one operation; its ranks are those of the file."""
    from weft.calibrate.calibration import read_file  # noqa: PLC0415 - few commands need it
    from weft.calibrate.reader import CollectiveReading  # noqa: PLC0415 - as above

    readings = [one for one in read_file(file)[1] if isinstance(one, CollectiveReading)]
    fitting = [one for one in readings if one.operation.value == operation]
    if not fitting:
        found = sorted({one.operation.value for one in readings}) or ["no collective"]
        raise SpecError(
            f"{file}: holds {', '.join(found)}, not {operation}; name what it holds"
        )
    first = fitting[0]
    return Run(
        ranks=first.ranks,
        ranks_per_host=-(-first.ranks // first.hosts),
        times_s={one.size_bytes: one.time_s for one in fitting},
    )


def _has_cluster(file: Path) -> bool:
    return any(isinstance(part, Cluster) for part in load_documents(file))


def _need(files: Sequence[Path], what: str) -> None:
    if not files:
        raise SpecError(f"no documents are given; name {what} with -f FILE, or write one with "
                        "`weft init`")  # fmt: skip


def _overlaid(cluster: Cluster, overlay: Path | None) -> Cluster:
    return cluster if overlay is None else cluster.with_(overlay=load_overlay(overlay))


def _tuned(cluster: Cluster, tuning: Path | None) -> Cluster:
    if tuning is None:
        return cluster
    return cluster.with_(fabric=cluster.fabric.with_(settings=load_tuning(tuning)))

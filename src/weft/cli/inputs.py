"""Documents in, specs out: which files hold the cluster and the job, what is laid over them."""

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from weft.cli.documents import is_given
from weft.errors import SpecError
from weft.spec.cluster import Cluster
from weft.spec.document import Tree
from weft.spec.inference import Inference
from weft.spec.load import (
    keys_written,
    kind_of,
    kinds_in,
    load_case,
    load_cases,
    load_cluster,
    load_scenario,
    load_service,
    load_tuning,
    split_sets,
    written,
)
from weft.spec.overlay import load_overlay
from weft.spec.scenario import Scenario
from weft.spec.workload import Job

if TYPE_CHECKING:
    from weft.advise.compare import Comparison
    from weft.advise.need import Need
    from weft.cli.options import CaseGiven, ClusterGiven
    from weft.predict.training import Prediction

R = TypeVar("R", "Prediction", "Need", "Comparison")

USUAL_SEQUENCES: Final = 1024
"""Of one step where nobody says: 4 M tokens at 4,096 tokens each, as large models are trained
(Llama 2, section 2.2: 4 M; GPT-3, Table 2.1: 3.2 M)."""
_STATED: Final = ("global_batch", "sequence_length", "precision", "framework")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A cluster, a job, and which of their values are defaults that nobody gave."""

    cluster: Cluster
    job: Job
    defaults: tuple[str, ...] = ()
    pins: frozenset[str] = frozenset()
    """Keys that the user wrote, without those of a preset."""
    clusters: tuple[Cluster, ...] = ()
    """All of them, where a command takes several."""
    jobs: tuple[Job, ...] = ()


def case_of(
    given: "CaseGiven",
    documents: Sequence[Path] = (),
    more: Sequence[str] = (),
    *,
    several: bool = False,
) -> Case:
    """Load the cluster and the job that the words of a command give; ``more`` are sets.

    Without a job document the name of a model is enough: the rest has defaults. ``several``:
    documents may hold more than one cluster and more than one job.
    """
    files = [*documents, *given.files]
    kinds = _kinds(files)
    found: list[Path | Tree] = [*files, *_preset_document(given, kinds)]
    if "Cluster" not in kinds and given.preset is None:
        raise SpecError(
            "no cluster is given; name its file, or a shipped cluster, as "
            "--preset dgx_h200 --gpus 512 --model llama3_70b"
        )
    sets = [*_sized(given, found), *given.sets, *more]
    defaults = _cluster_defaults(given)
    if "Inference" in kinds and "Job" not in kinds:
        raise SpecError(
            "the files hold a service (kind: Inference), and this needs a training job "
            "(kind: Job); weft predict and weft compare take a service"
        )
    if "Job" in kinds:
        sets = [*([] if given.model is None else [_model_set(given.model)]), *sets]
    elif given.model is None:
        raise SpecError(
            "no job is given; name its file, or a model, as --model llama3_70b or "
            "--model meta-llama/Llama-3.1-70B"
        )
    else:
        found.append(_usual_job(given.model, _the_cluster(found, sets)))
    if several:
        clusters, jobs = load_cases(found, sets)
    else:
        cluster, job = load_case(found, sets)
        clusters, jobs = (cluster,), (job,)
    if "Job" not in kinds:
        defaults = (*defaults, *_job_defaults(jobs[0], sets))
    clusters = tuple(_overlaid(cluster, given.overlay) for cluster in clusters)
    return Case(
        cluster=clusters[0], job=jobs[0], clusters=clusters, jobs=jobs, defaults=defaults,
        pins=keys_written(files, [*given.sets, *more]),
    )  # fmt: skip


def is_service(given: "CaseGiven", documents: Sequence[Path] = ()) -> bool:
    """Tell whether the files hold an inference service in place of a training job."""
    return "Inference" in _kinds([*documents, *given.files])


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCase:
    """A cluster, an inference service, and the keys that the user wrote."""

    cluster: Cluster
    service: Inference
    pins: frozenset[str]


def service_of(given: "CaseGiven", documents: Sequence[Path] = ()) -> ServiceCase:
    """Load the cluster and the inference service that the words of a command give."""
    files = [*documents, *given.files]
    found: list[Path | Tree] = [*files, *_preset_document(given, _kinds(files))]
    named = [] if given.model is None else [_model_set(given.model)]
    for_cluster, for_service = split_sets([*named, *given.sets], Inference)
    sized = _sized(replace(given, sets=for_cluster), found)
    cluster, service = load_service(found, [*sized, *for_cluster, *for_service])
    return ServiceCase(
        cluster=_overlaid(cluster, given.overlay), service=service,
        pins=keys_written(files, given.sets),
    )  # fmt: skip


def cluster_of(
    given: "ClusterGiven",
    documents: Sequence[Path] = (),
    *,
    overlay: Path | None = None,
    tuning: Path | None = None,
    more: Sequence[str] = (),
) -> Cluster:
    """Load the cluster that the words of a command give; a job beside it is not looked at."""
    files = [*documents, *given.files]
    found: list[Path | Tree] = [*files, *_preset_document(given, _kinds(files))]
    if not found:
        raise SpecError(
            "no cluster is given; name its file, or a shipped cluster, as "
            "--preset dgx_h200 --hosts 16"
        )
    sets = [*_sized(given, found), *given.sets, *more]
    return _tuned(_overlaid(_the_cluster(found, sets), overlay), tuning)


def perhaps_case_of(
    given: "CaseGiven", documents: Sequence[Path] = ()
) -> tuple[Cluster | None, Job | None]:
    """Load the cluster that the words of a command give, if any, and the job, if any."""
    if not is_given(given, documents):
        return None, None
    if given.model or "Job" in _kinds([*documents, *given.files]):
        case = case_of(given, documents)
        return case.cluster, case.job
    return cluster_of(given, documents, overlay=given.overlay), None


def with_defaults(result: R, defaults: Sequence[str]) -> R:
    """Return a result that names the values which nobody gave."""
    made = replace(result.provenance, defaults=tuple(defaults))
    return replace(result, provenance=made)


def _kinds(files: Sequence[Path]) -> set[str]:
    return {kind for file in files for kind in kinds_in(file)}


def _preset_document(given: "ClusterGiven", kinds: Container[str]) -> list[Tree]:
    if given.preset is None:
        return []
    if "Cluster" in kinds:
        raise SpecError(
            f"--preset {given.preset}: a file already holds a cluster; give one of them"
        )
    return [written("Cluster", {"preset": given.preset}, f"--preset {given.preset}")]


def _sized(given: "ClusterGiven", documents: Sequence[Path | Tree]) -> list[str]:
    """Return what --hosts and --gpus set."""
    if given.gpus is None:
        return [] if given.hosts is None else [f"hosts={given.hosts}"]
    if given.hosts is not None:
        raise SpecError(f"--hosts {given.hosts} --gpus {given.gpus}: give one of them")
    each = _the_cluster(documents, given.sets).host.gpus
    hosts, left = divmod(given.gpus, each)
    if left:
        near = [f"{count * each}" for count in (hosts, hosts + 1) if count]
        raise SpecError(
            f"--gpus {given.gpus}: a host has {each} GPUs; use a multiple, as "
            f"{' or '.join(near)}"
        )
    return [f"hosts={hosts}"]


def _the_cluster(documents: Sequence[Path | Tree], sets: Sequence[str]) -> Cluster:
    holding = [
        document for document in documents
        if isinstance(document, Tree) or len(documents) == 1 or "Cluster" in kinds_in(document)
    ]  # fmt: skip
    if len(holding) != 1:
        names = ", ".join(str(file) for file in documents if not isinstance(file, Tree))
        raise SpecError(f"{len(holding)} of the files {names} hold a cluster; give one")
    return load_cluster(holding[0], split_sets(sets)[0])


def _model_set(model: str) -> str:
    """Return the set for a model; a path is from here, not from the folder of the job."""
    found = Path(model)
    return f"model={json.dumps(str(found.resolve()) if found.exists() else model)}"


def _usual_job(model: str, cluster: Cluster) -> Tree:
    """Return a job of which only the model is known, its batch divisible by every host."""
    unit = cluster.gpus if cluster.gpus <= USUAL_SEQUENCES else cluster.hosts
    batch = -(-USUAL_SEQUENCES // unit) * unit
    return written("Job", {"model": model, "global_batch": batch}, f"--model {model}")


def _cluster_defaults(given: "ClusterGiven") -> tuple[str, ...]:
    named = any(text.removeprefix("cluster.").startswith("hosts=") for text in given.sets)
    if given.preset is None or given.hosts or given.gpus or named:
        return ()
    return ("hosts of the preset",)


def _job_defaults(job: Job, sets: Sequence[str]) -> tuple[str, ...]:
    """Name the values of a job that nobody gave."""
    given = {text.partition("=")[0].removeprefix("job.") for text in sets}
    stated = [f"{key}={getattr(job, key)}" for key in _STATED if key not in given]
    searched = not any(key.startswith("parallelism") for key in given)
    return (*stated, *(("parallelism=auto",) if searched else ()))


def scenarios_or_cluster(
    files: Sequence[Path], sets: Sequence[str]
) -> tuple[tuple[Scenario, ...], tuple[str, ...]]:
    """Load scenarios, or make up usual ones for a cluster and say what they leave out."""
    from weft.predict.part import model_of
    from weft.tune.usual import MOST_NICS, scenarios_for

    if not files:
        raise SpecError("no scenario is given; name its file, or that of a cluster")
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
    from weft.calibrate.calibration import read_file
    from weft.calibrate.reader import CollectiveReading

    readings = [run for run in read_file(file)[1] if isinstance(run, CollectiveReading)]
    fitting = [run for run in readings if run.operation.value == operation]
    if not fitting:
        found = sorted({run.operation.value for run in readings}) or ["no collective"]
        raise SpecError(
            f"{file}: holds {', '.join(found)}, not {operation}; name what it holds"
        )
    first = fitting[0]
    return Run(
        ranks=first.ranks,
        ranks_per_host=-(-first.ranks // first.hosts),
        times_s={run.size_bytes: run.time_s for run in fitting},
    )


def _overlaid(cluster: Cluster, overlay: Path | None) -> Cluster:
    return cluster if overlay is None else cluster.with_(overlay=load_overlay(overlay))


def _tuned(cluster: Cluster, tuning: Path | None) -> Cluster:
    if tuning is None:
        return cluster
    return cluster.with_(fabric=cluster.fabric.with_(settings=load_tuning(tuning)))

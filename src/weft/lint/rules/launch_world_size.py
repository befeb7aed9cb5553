"""A launch starts another number of ranks than it has GPUs for.

What it checks: mpirun's -np and -N against slotsPerWorker x workers, --nnodes against the pods
that run at once, nproc_per_node and slotsPerWorker
against the GPUs of a container, and --ntasks-per-node against --gpus-per-node of Slurm.
Why it matters: ranks beyond the GPUs share one (NCCL stops: duplicate GPU); ranks short of them
leave GPUs idle that are paid for.
What to do: start one rank a GPU.
References: Kubeflow MPI operator; torchrun; sbatch(1).
"""

from weft.lint.document import whole
from weft.lint.facts import Container, Launch, Option, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    gpus: dict[str, tuple[int, Container]] = {}
    for one in case.of(Container):
        count = whole(dict(one.limits).get("nvidia.com/gpu", ""))
        if count:
            gpus.setdefault(one.device.partition(" ")[0], (count, one))
    yield from _slots(case, gpus)
    for launch in case.of(Launch):
        own = gpus.get(launch.device.partition(" ")[0])
        each = whole(_value(launch.words, "--nproc-per-node", "--nproc_per_node"))
        if own and each is not None and each != own[0] and launch.tool == "torchrun":
            yield problem(
                [launch, own[1]],
                f"{each} ranks a pod, and it has {own[0]} GPUs",
                f"start {own[0]}",
            )
    yield from _slurm(case)
    yield from _pods(case)


def _pods(case: Case) -> Found:
    """Compare the pods that torchrun waits for with those that there are."""
    pods = {one.device: one for one in case.of(Workload)}
    groups: dict[tuple[str, str, int], list[tuple[Launch, Workload]]] = {}
    for launch in case.of(Launch):
        nodes = whole(_value(launch.words, "--nnodes"))
        pod = pods.get(launch.device)
        if launch.tool == "torchrun" and nodes and pod:
            meet = _value(launch.words, "--rdzv-id", "--rdzv_id")
            key = (launch.at.text.name, meet or launch.device.partition(" ")[0], nodes)
            groups.setdefault(key, []).append((launch, pod))
    for (_, _, nodes), found in groups.items():
        counts = [pod.replicas for _, pod in found]
        total = sum(count or 0 for count in counts)
        if None not in counts and total != nodes:
            yield problem(
                [found[0][0], *(pod for _, pod in found)],
                f"torchrun waits for {nodes} pods, and {total} run at once",
                f"write --nnodes={total}, or run {nodes} pods",
            )


def _slots(case: Case, gpus: dict[str, tuple[int, Container]]) -> Found:
    for one in case.of(Workload):
        job = one.device.partition(" ")[0]
        settings = dict(one.settings)
        slots = whole(settings.get("slotsPerWorker", "") or settings.get("nprocPerNode", ""))
        if slots is None or job not in gpus or "orker" not in one.role:
            continue
        count, container = gpus[job]
        if slots != count:
            yield problem(
                [one, container],
                f"{slots} ranks a worker, and it has {count} GPUs",
                f"give {count} slots",
            )
        if one.replicas is None:
            continue
        for launch in case.of(Launch):
            ranks = whole(_value(launch.words, "-np", "-n", "--np"))
            mine = launch.device.partition(" ")[0] == job and launch.tool == "mpirun"
            each = (
                whole(_value(launch.words, "-N", "--npernode", "-npernode")) if mine else None
            )
            if each is not None and each != slots:
                yield problem(
                    [launch, one],
                    f"mpirun places {each} ranks a worker, and it has {slots} slots",
                    f"place {slots}",
                )
            if mine and ranks is not None and ranks != slots * one.replicas:
                yield problem(
                    [launch, one],
                    f"mpirun starts {ranks} ranks for {one.replicas} workers of {slots}",
                    f"start {slots * one.replicas}",
                )


def _slurm(case: Case) -> Found:
    by_file: dict[str, dict[str, Option]] = {}
    for one in case.options("sbatch"):
        by_file.setdefault(one.at.text.name, {})[one.name] = one
    for found in by_file.values():
        tasks, gpus = found.get("ntasks-per-node"), found.get("gpus-per-node")
        count = whole(gpus.value.rpartition(":")[2]) if gpus else None
        ranks = whole(tasks.value) if tasks else None
        if tasks and gpus and ranks is not None and count and ranks not in {1, count}:
            yield problem(
                [tasks, gpus],
                f"{ranks} tasks a node, and {count} GPUs",
                "start one task a GPU, or one for torchrun",
            )


def _value(words: tuple[str, ...], *names: str) -> str:
    for number, word in enumerate(words):
        head, equals, value = word.partition("=")
        if head in names:
            return value if equals else words[number + 1] if number + 1 < len(words) else ""
    return ""


launch_world_size = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://github.com/kubeflow/mpi-operator",
    check=_check,
)

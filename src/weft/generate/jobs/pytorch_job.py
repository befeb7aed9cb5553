"""Training as a PyTorchJob of the Kubeflow training operator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest, Value
from weft.generate.pod import labels, template, worker
from weft.generate.target import Proof

if TYPE_CHECKING:
    from weft.generate.plan import Plan

NAME: Final = "train"


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    script = (
        "exec torchrun \\",
        f"  --nnodes={part.pods.text()} --nproc-per-node={part.gpus_per_pod.text()} \\",
        '  --node-rank="$PET_NODE_RANK" \\',
        '  --master-addr="$PET_MASTER_ADDR" --master-port="$PET_MASTER_PORT" \\',
        f"  {part.script.text()}",
    )
    # The operator looks for a container of this name.
    container = worker(plan, "pytorch", part.image.text(), script)
    pods = part.pods.whole()
    replicas: dict[str, Value] = {"Master": _replicas(plan, container, 1)}
    if pods > 1:
        replicas["Worker"] = _replicas(plan, container, pods - 1)
    yield {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "nprocPerNode": part.gpus_per_pod.text(),
            "runPolicy": {"cleanPodPolicy": "None"},
            "pytorchReplicaSpecs": replicas,
        },
    }


def _replicas(plan: "Plan", container: dict[str, Value], count: int) -> dict[str, Value]:
    return {
        "replicas": count,
        "restartPolicy": "OnFailure",
        "template": template(plan, NAME, container),
    }


pytorch_job = Job(
    title="training as a PyTorchJob",
    file="train-pytorchjob.yaml",
    needs="the Kubeflow training operator (kubeflow.org/v1)",
    proof=Proof.GOLDEN,
    manifests=_manifests,
)

"""Training as a TrainJob of Kubeflow Trainer, with the runtime that it refers to."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest, Value
from weft.generate.pod import SHELL, labels, template, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

API: Final = "trainer.kubeflow.org/v1alpha1"
NAME: Final = "train"
RUNTIME: Final = "weft-torch"
NODE: Final = "node"
"""Trainer looks for a job and a container of this name."""
STEP_LABEL: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
FRAMEWORK_LABEL: Final = "trainer.kubeflow.org/framework"


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    yield {
        "apiVersion": API,
        "kind": "TrainingRuntime",
        "metadata": {
            **meta(RUNTIME, part.namespace.text()),
            "labels": {**labels(plan, NAME), FRAMEWORK_LABEL: "torch"},
        },
        "spec": {
            "mlPolicy": {"numNodes": part.pods.whole(), "torch": {}},
            "template": {"spec": {"replicatedJobs": [_nodes(plan)]}},
        },
    }
    script = (
        "exec torchrun \\",
        '  --nnodes="$PET_NNODES" --nproc-per-node="$PET_NPROC_PER_NODE" \\',
        '  --node-rank="$PET_NODE_RANK" \\',
        '  --master-addr="$PET_MASTER_ADDR" --master-port="$PET_MASTER_PORT" \\',
        f"  {part.script.text()}",
    )
    yield {
        "apiVersion": API,
        "kind": "TrainJob",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "runtimeRef": {"kind": "TrainingRuntime", "name": RUNTIME},
            "trainer": {
                "numNodes": part.pods.whole(),
                "numProcPerNode": part.gpus_per_pod.whole(),
                "image": part.image.text(),
                "command": list(SHELL),
                "args": ["\n".join(script) + "\n"],
            },
        },
    }


def _nodes(plan: "Plan") -> dict[str, Value]:
    container = worker(plan, NODE, kubernetes(plan).image.text(), ())
    pod = template(plan, NAME, container, {"restartPolicy": "Never"})
    return {
        "name": NODE,
        "template": {
            "metadata": {"labels": {STEP_LABEL: "trainer"}},
            "spec": {"backoffLimit": 0, "template": pod},
        },
    }


train_job = Job(
    title="training as a TrainJob, and the runtime that it refers to",
    file="train-trainjob.yaml",
    needs="Kubeflow Trainer (trainer.kubeflow.org/v1alpha1) and JobSet",
    manifests=_manifests,
)

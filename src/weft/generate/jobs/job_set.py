"""Training as a JobSet: one indexed job, its first pod is the meeting point."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest, Value
from weft.generate.pod import MASTER_PORT, labels, template, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

NAME: Final = "train"
NODE: Final = "node"
RESTARTS: Final = 3
"""A host that breaks should not end a training; a fault of the program should."""


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    script = (
        "exec torchrun \\",
        f"  --nnodes={part.pods.text()} --nproc-per-node={part.gpus_per_pod.text()} \\",
        '  --node-rank="$JOB_COMPLETION_INDEX" \\',
        f"  --master-addr={NAME}-{NODE}-0-0.{NAME} --master-port={MASTER_PORT} \\",
        f"  {part.script.text()}",
    )
    container = worker(plan, "trainer", part.image.text(), script)
    pods = part.pods.whole()
    job: dict[str, Value] = {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        # A part of a collective cannot be run again alone: the whole set is.
        "backoffLimit": 0,
        "template": template(plan, NAME, container, {"restartPolicy": "Never"}),
    }
    yield {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "failurePolicy": {"maxRestarts": RESTARTS},
            "replicatedJobs": [{"name": NODE, "replicas": 1, "template": {"spec": job}}],
        },
    }


job_set = Job(
    title="training as a JobSet",
    file="train-jobset.yaml",
    needs="JobSet",
    manifests=_manifests,
)

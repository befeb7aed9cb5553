"""Training as Deployments: one pod that the others meet at, and the others."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest
from weft.generate.pod import JOB_LABEL, RENDEZVOUS_PORT, labels, template, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

NAME: Final = "train"
ROLE_LABEL: Final = "app.kubernetes.io/component"


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    pods = part.pods.whole()
    first = {JOB_LABEL: NAME, ROLE_LABEL: "first"}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": first,
            "ports": [{"name": "rendezvous", "port": RENDEZVOUS_PORT}],
        },
    }
    yield _deployment(plan, "first", 1)
    if pods > 1:
        yield _deployment(plan, "other", pods - 1)


def _deployment(plan: "Plan", role: str, replicas: int) -> Manifest:
    part = kubernetes(plan)
    script = (
        "exec torchrun \\",
        f"  --nnodes={part.pods.text()} --nproc-per-node={part.gpus_per_pod.text()} \\",
        f"  --rdzv-id={NAME} --rdzv-backend=c10d \\",
        f"  --rdzv-endpoint={NAME}:{RENDEZVOUS_PORT} \\",
        f"  --rdzv-conf=is_host={'true' if role == 'first' else 'false'} \\",
        f"  {part.script.text()}",
    )
    container = worker(plan, "trainer", part.image.text(), script)
    own = {JOB_LABEL: NAME, ROLE_LABEL: role}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            **meta(f"{NAME}-{role}", part.namespace.text()),
            "labels": {**labels(plan, NAME), ROLE_LABEL: role},
        },
        "spec": {
            "replicas": replicas,
            # All pods are one job: a new one can start when the old one has given its GPUs.
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": own},
            "template": template(plan, NAME, container, own_labels={ROLE_LABEL: role}),
        },
    }


deployment = Job(
    title="training as Deployments",
    note="Kubernetes starts again what ends: delete them when the training has.",
    file="train-deployment.yaml",
    needs="nothing but Kubernetes",
    manifests=_manifests,
)

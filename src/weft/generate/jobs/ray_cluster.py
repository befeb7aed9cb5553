"""A Ray cluster: a head without GPUs, and a worker for each pod of the plan."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.job import Job
from weft.generate.manifest import Manifest
from weft.generate.pod import labels, template, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

NAME: Final = "train"


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    pods, image = part.pods.whole(), part.ray_image.text()
    head = {"name": "ray-head", "image": image}
    container = worker(plan, "ray-worker", image, ())
    yield {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {**meta(NAME, part.namespace.text()), "labels": labels(plan, NAME)},
        "spec": {
            "headGroupSpec": {
                # No task lands on the head: it has neither GPUs nor rails.
                "rayStartParams": {"num-cpus": "0"},
                "template": {
                    "metadata": {"labels": labels(plan, f"{NAME}-head")},
                    "spec": {"containers": [head]},
                },
            },
            "workerGroupSpecs": [
                {
                    "groupName": "hosts",
                    "replicas": pods,
                    "minReplicas": pods,
                    "maxReplicas": pods,
                    "rayStartParams": {"num-gpus": part.gpus_per_pod.text()},
                    "template": template(plan, NAME, container),
                }
            ],
        },
    }


ray_cluster = Job(
    title="a Ray cluster for training",
    file="train-raycluster.yaml",
    needs="KubeRay",
    manifests=_manifests,
)

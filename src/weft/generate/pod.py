"""The pod that jobs share: GPUs, rails, locked memory, /dev/shm, variables, neighbours."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes
from weft.generate.cloud import cloud_of
from weft.generate.kubernetes import TENANT_LABEL
from weft.generate.manifest import Value
from weft.generate.template import manifests_of

if TYPE_CHECKING:
    from weft.generate.plan import Plan

JOB_LABEL: Final = "app.kubernetes.io/name"
CLUSTER_LABEL: Final = "app.kubernetes.io/part-of"
SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - where processes of a host share memory
SHELL: Final = ("/bin/bash", "-c")
LEAF_WEIGHT: Final = 100
SPINE_WEIGHT: Final = 50


def labels(plan: "Plan", job: str) -> dict[str, Value]:
    """Return the labels of a job and of its pods."""
    return {JOB_LABEL: job, CLUSTER_LABEL: plan.names.label.text()}


def template(
    plan: "Plan",
    job: str,
    container: Mapping[str, Value],
    further: Mapping[str, Value] | None = None,
    own_labels: Mapping[str, Value] | None = None,
) -> dict[str, Value]:
    """Return the template of a pod that takes part on the rails."""
    part, mode = kubernetes(plan), kubernetes(plan).attached()
    [found] = manifests_of(
        "kubernetes_jobs/pod.yaml.j2", part=part, mode=mode, mounts=_mounts(plan), job=job,
        labels={**labels(plan, job), **(own_labels or {})}, container=dict(container),
        further=further or {}, job_label=JOB_LABEL, tenant_label=TENANT_LABEL,
        places={LEAF_WEIGHT: part.leaf_label, SPINE_WEIGHT: part.spine_label},
    )  # fmt: skip
    return found


def worker(
    plan: "Plan",
    name: str,
    image: str,
    script: str,
    *,
    with_nccl: bool = True,
) -> dict[str, Value]:
    """Return the container that holds the GPUs and NICs of a pod; an empty script is none."""
    container: dict[str, Value] = {
        "name": name,
        "image": image,
        **({"env": variables(plan)} if with_nccl else {}),
        "resources": _resources(plan),
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": [
            {"name": "shm", "mountPath": SHARED_MEMORY},
            *({"name": name, "mountPath": there} for name, (_, there) in _mounts(plan).items()),
        ],
    }
    if script:
        container["command"] = list(SHELL)
        container["args"] = [script]
    return container


def _mounts(plan: "Plan") -> Mapping[str, tuple[str, str]]:
    cloud = cloud_of(plan.cluster)
    return cloud.mounts if cloud is not None else {}


def variables(plan: "Plan") -> list[Value]:
    """Return the variables of NCCL and others as a container takes them."""
    nccl = kubernetes(plan).environment(plan.nccl)
    merged = {name: planned.text() for name, planned in nccl.items()}
    cloud = cloud_of(plan.cluster)
    if cloud is not None and cloud.mounts:
        merged["LD_LIBRARY_PATH"] = ":".join(cloud.libraries)
    return [{"name": name, "value": value} for name, value in merged.items()]


def reasons(plan: "Plan") -> Iterator[str]:
    """Yield why each variable of NCCL is as it is, as comments of a file."""
    part = kubernetes(plan)
    for name, planned in part.environment(plan.nccl).items():
        yield f"{name}: {planned.reason}"
    for name, setting in part.settings.items():
        if name not in part.environment(plan.nccl):
            yield f"{name} is left out: {setting.reason}"


def _resources(plan: "Plan") -> dict[str, Value]:
    part, mode = kubernetes(plan), kubernetes(plan).attached()
    asked: dict[str, Value] = {part.gpu_resource.text(): part.gpus_per_pod.whole()}
    nics = len(plan.names.device_list())
    asked |= dict.fromkeys(part.resource_list(), nics if mode.whole_resource else 1)
    # What is limited and no more is asked for alike; devices allow nothing else.
    resources: dict[str, Value] = {"limits": asked}
    if part.claim is not None:
        resources["claims"] = [{"name": part.claim.text()}]
    return resources

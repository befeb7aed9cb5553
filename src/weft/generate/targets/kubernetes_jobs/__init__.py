"""Kubernetes: the training job in six kinds, nccl-tests and perftest, on the rails."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

from weft.generate import pod
from weft.generate.attachment import by_tenant, kubernetes, meta
from weft.generate.kubernetes import against
from weft.generate.manifest import Manifest, Value, text
from weft.generate.plan import Plan
from weft.generate.pod import reasons
from weft.generate.target import Files, Proof, declared, header
from weft.generate.template import manifests_of
from weft.records import records
from weft.spec.kubernetes import Kubernetes as Wishes


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file of manifests that runs something on the whole cluster."""

    name: str
    title: str
    file: str
    """Name of the file."""
    needs: str
    """What must be installed before it can be applied."""
    note: str = ""
    """What else a reader has to know."""
    rdma_alone: bool = False
    """It needs RDMA devices, and nothing of NCCL."""
    proof: str = Proof.SCHEMA.name
    """Name of how far the kind is proven; its pods are so by the schemas of Kubernetes."""

    def manifests(self, plan: Plan) -> Iterator[Manifest]:
        """Yield the manifests for a plan."""
        part = kubernetes(plan)
        yield from manifests_of(
            f"kubernetes_jobs/{self.name}.yaml.j2", part=part, pods=part.pods.whole(),
            gpus=part.gpus_per_pod.whole(), names=list(part.environment(plan.nccl)),
            devices=_devices(plan), meta=partial(_meta, plan),
            labels=partial(pod.labels, plan), worker=partial(pod.worker, plan),
            pod=partial(pod.template, plan), variables=partial(pod.variables, plan),
            **{"class": _class(plan)},
        )  # fmt: skip


@cache
def all_jobs() -> dict[str, Job]:
    """Return every kind of job by its name."""
    return records("weft.generate", "jobs", Job)


def _meta(
    plan: Plan, name: str, job: str = "", own_labels: Mapping[str, Value] | None = None
) -> dict[str, Value]:
    """Return the metadata of an object of a job, which is called as it unless given."""
    found = {**pod.labels(plan, job or name), **(own_labels or {})}
    return {**meta(name, kubernetes(plan).namespace.text()), "labels": found}


def _devices(plan: Plan) -> str:
    """Return the devices of the rails: by their names, or as the pod's interfaces have them."""
    if kubernetes(plan).attached().keeps_device_names:
        return " ".join(plan.names.device_list())
    return "$(for one in /sys/class/net/net*/device/infiniband/*; do basename $one; done)"


def _class(plan: Plan) -> str:
    """Return what marks the packets as those of collectives are."""
    if plan.labels is not None:
        return f" --tclass={plan.labels.traffic_class.text()}"
    return f" --sl={plan.subnet.sl.text()}" if plan.subnet is not None else ""


def _files(plan: Plan) -> Files:
    jobs = [
        job
        for job in all_jobs().values()
        if plan.link.path_mtu_bytes is not None or not job.rdma_alone
    ]
    for tenant, own in by_tenant(plan):
        for job in jobs:
            path = f"{tenant}/{job.file}" if tenant else job.file
            yield path, text(job.manifests(own), _head(own, job))


def _head(plan: Plan, job: Job) -> list[str]:
    part = kubernetes(plan)
    return [
        header(plan, job.title).removeprefix("# "),
        f"Needs {job.needs}, and the files of target kubernetes.",
        *([job.note] if job.note else []),
        f"The pod reaches the fabric by {part.attached().title}.",
        *([] if job.rdma_alone else reasons(plan)),
    ]


def _refuses(plan: Plan) -> str | None:
    if plan.kubernetes is None:
        return against(plan.cluster)
    wishes, usual = plan.cluster.kubernetes or Wishes(), Wishes()
    if plan.kubernetes.gpu_resource.text() == "nvidia.com/gpu":
        return None
    for key in ("image", "tools_image", "ray_image"):
        if getattr(wishes, key) == getattr(usual, key):
            return f"kubernetes.{key} is an image for NVIDIA's GPUs; give one for these"
    return None


kubernetes_jobs = declared(
    "kubernetes_jobs",
    files=_files,
    refuses=_refuses,
    proofs={job.file: Proof[job.proof] for job in all_jobs().values()},
)

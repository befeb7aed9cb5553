"""Kubernetes: the training job in six kinds, nccl-tests and perftest, on the rails."""

from weft.generate.attachment import by_tenant, kubernetes
from weft.generate.job import Job, all_jobs
from weft.generate.kubernetes import against
from weft.generate.manifest import text
from weft.generate.plan import Plan
from weft.generate.pod import reasons
from weft.generate.target import Files, Proof, declared, header
from weft.spec.kubernetes import Kubernetes as Wishes


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

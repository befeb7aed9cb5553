"""What a kind of job is: the rows of ``jobs.toml``, each with a template of its manifests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from weft.generate import pod
from weft.generate.attachment import kubernetes, meta
from weft.generate.manifest import Manifest, Value
from weft.generate.target import Proof
from weft.generate.template import manifests_of
from weft.records import records

if TYPE_CHECKING:
    from weft.generate.plan import Plan


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

    def manifests(self, plan: "Plan") -> Iterator[Manifest]:
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
    plan: "Plan", name: str, job: str = "", own_labels: Mapping[str, Value] | None = None
) -> dict[str, Value]:
    """Return the metadata of an object of a job, which is called as it unless given."""
    found = {**pod.labels(plan, job or name), **(own_labels or {})}
    return {**meta(name, kubernetes(plan).namespace.text()), "labels": found}


def _devices(plan: "Plan") -> str:
    """Return the devices of the rails: by their names, or as the pod's interfaces have them."""
    if kubernetes(plan).attached().keeps_device_names:
        return " ".join(plan.names.device_list())
    return "$(for one in /sys/class/net/net*/device/infiniband/*; do basename $one; done)"


def _class(plan: "Plan") -> str:
    """Return what marks the packets as those of collectives are."""
    if plan.labels is not None:
        return f" --tclass={plan.labels.traffic_class.text()}"
    return f" --sl={plan.subnet.sl.text()}" if plan.subnet is not None else ""

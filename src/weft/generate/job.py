"""What a kind of job is: the pods of a training run or a test, as one operator takes them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft import plugins
from weft.generate import jobs
from weft.generate.manifest import Manifest
from weft.generate.target import Proof

if TYPE_CHECKING:
    from weft.generate.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One file of manifests that runs something on the whole cluster."""

    title: str
    file: str
    """Name of the file."""
    needs: str
    """What must be installed before it can be applied."""
    note: str = ""
    """What else a reader has to know."""
    rdma_alone: bool = False
    """It needs RDMA devices, and nothing of NCCL."""
    proof: Proof = Proof.SCHEMA
    """How far the kind is proven; its pods are by the schemas of Kubernetes in any case."""
    manifests: Callable[["Plan"], Iterator[Manifest]]


def all_jobs() -> dict[str, Job]:
    """Return every kind of job by its name."""
    return {name: plugins.load(jobs, name, Job) for name in plugins.names(jobs)}

"""The tests of NCCL as an MPIJob: all-reduce over every GPU of the cluster."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes
from weft.generate.job import Job
from weft.generate.manifest import Manifest
from weft.generate.mpi import mpi_manifest

if TYPE_CHECKING:
    from weft.generate.plan import Plan

BINARY: Final = "/opt/nccl_tests/build/all_reduce_perf"
SIZES: Final = "-b 8 -e 8G -f 2 -g 1"
"""8 B to 8 GiB by powers of two, a GPU a process: the small end shows latency."""


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    yield mpi_manifest(
        plan, name="nccl-tests", image=kubernetes(plan).tools_image.text(),
        command=f"{BINARY} {SIZES}",
    )  # fmt: skip


nccl_tests = Job(
    title="all_reduce_perf of nccl-tests over every GPU",
    file="nccl-tests.yaml",
    needs="the MPI operator (kubeflow.org/v2beta1)",
    manifests=_manifests,
)

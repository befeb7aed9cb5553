"""Training as an MPIJob: mpirun starts a process a GPU."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.generate.attachment import kubernetes
from weft.generate.job import Job
from weft.generate.manifest import Manifest
from weft.generate.mpi import mpi_manifest
from weft.generate.pod import MASTER_PORT

if TYPE_CHECKING:
    from weft.generate.plan import Plan


def _manifests(plan: "Plan") -> Iterator[Manifest]:
    part = kubernetes(plan)
    before = (
        "MASTER_ADDR=$(head -n 1 /etc/mpi/hostfile | cut -d ' ' -f 1)",
        f"export MASTER_ADDR MASTER_PORT={MASTER_PORT}",
    )
    ranks = (
        "exec env RANK=$OMPI_COMM_WORLD_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE "
        f"LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK python {part.script.text()}"
    )
    yield mpi_manifest(
        plan, name="train", image=part.image.text(), before=before,
        forwarded=("MASTER_ADDR", "MASTER_PORT"), command=f"/bin/bash -c '{ranks}'",
    )  # fmt: skip


mpi_job = Job(
    title="training as an MPIJob",
    note="The image needs Open MPI and sshd besides the script.",
    file="train-mpijob.yaml",
    needs="the MPI operator (kubeflow.org/v2beta1)",
    manifests=_manifests,
)

"""Launch lines: torchrun on every host, or mpirun from one, with the environment of the job."""

from typing import Final

from weft.generate.cloud import cloud_of
from weft.generate.plan import Plan
from weft.generate.rails import used_addresses
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.network import naming

PORT: Final = 29500
"""Where the hosts meet: PyTorch's usual port."""
HEADS: Final = {"torchrun.sh": "torchrun", "mpirun.sh": "mpirun of Open MPI", "hostfile": ""}


def _files(plan: Plan) -> Files:
    cluster = plan.cluster
    rails = None if plan.underlay is None else tuple(used_addresses(plan))
    for tenant, hosts in cluster.groups():
        for name, what in HEADS.items():
            yield f"{tenant}/{name}" if tenant else name, text_of(
                f"launch/{name}.j2", head=header(plan, what), port=PORT,
                hosts=[naming.host(host, cluster.hosts) for host in hosts],
                gpus=cluster.host.gpus, settings=plan.nccl.settings,
                cloud=cloud_of(cluster), rails=rails,
            )  # fmt: skip


def _refuses(plan: Plan) -> str | None:
    if plan.cluster.fabric.kind == "slingshot":
        return "the environment of slingshot comes with its plug-in"
    return None


launch = declared("launch", files=_files, refuses=_refuses)

"""NCCL's example tuner: the sizes at which weft's model prefers another choice than NCCL's."""

from typing import Final

from weft.generate.cloud import cloud_of
from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.predict.preferred import choices
from weft.traffic.collective import Operation

NAMES: Final = {
    Operation.ALL_REDUCE: "allreduce", Operation.ALL_GATHER: "allgather",
    Operation.REDUCE_SCATTER: "reducescatter", Operation.BROADCAST: "broadcast",
    Operation.REDUCE: "reduce",
}  # fmt: skip
OWN_TUNERS: Final = {
    "efa": "aws-ofi-nccl brings a tuner of its own, and only one can be loaded",
    "tcpx": "Google's plug-in brings a tuner of its own, and only one can be loaded",
    "tcpxo": "Google's plug-in brings a tuner of its own, and only one can be loaded",
}
"""By kind of fabric."""


def _files(plan: Plan) -> Files:
    made = choices(plan.cluster)
    head = header(plan, f"choices for {made.ranks} ranks on {made.hosts} hosts")
    yield "tuner.csv", text_of("nccl_tuner/tuner.csv.j2", head=head, made=made, names=NAMES)


def _refuses(plan: Plan) -> str | None:
    cluster = plan.cluster
    if cluster.host.nics == 0 or cluster.gpus == 1:
        return "a tuner chooses for two ranks or more that a network joins"
    cloud = cloud_of(cluster)
    own = cloud.tuner if cloud is not None else ""
    return own or OWN_TUNERS.get(cluster.fabric.kind)


nccl_tuner = declared("nccl_tuner", files=_files, refuses=_refuses)

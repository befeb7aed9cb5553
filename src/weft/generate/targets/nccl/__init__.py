"""NCCL: the variables of the job, as a shell file and as /etc/nccl.conf."""

from typing import Final

from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.readers.rendered import FABRIC, UNSEEN

OWN_PLUGINS: Final = {
    "slingshot": "aws-ofi-nccl on Slingshot takes the site's own settings of libfabric",
}
"""Fabrics whose plug-in brings settings along that weft does not know."""
HEADS: Final = {"nccl.env": "environment of NCCL", "nccl.conf": "/etc/nccl.conf"}

NOTHING: Final = {
    "ultra_ethernet": "nothing is set: the plug-in of the NIC's maker that NCCL needs here "
    "brings its own settings along",
}
"""Why no variable is set, by fabric."""


def _files(plan: Plan) -> Files:
    kind = plan.cluster.fabric.kind
    for name, what in HEADS.items():
        yield name, text_of(
            f"nccl/{name}.j2", head=header(plan, what), nccl=plan.nccl,
            nothing=NOTHING.get(kind, "nothing is set: NCCL's defaults are right"),
            # A fabric that no setting shows is named, for people and for lint.
            fabric=[f"{FABRIC}{kind}"] if kind in UNSEEN else [],
        )  # fmt: skip


nccl = declared(
    "nccl", files=_files, refuses=lambda plan: OWN_PLUGINS.get(plan.cluster.fabric.kind)
)

"""NCCL: the variables of the job, as a shell file and as /etc/nccl.conf."""

from collections.abc import Iterator
from typing import Final

from weft.generate.plan import Feature, Plan
from weft.generate.rendered import FABRIC, UNSEEN
from weft.generate.target import Files, Proof, Target, header

OWN_PLUGINS: Final = {
    "slingshot": "aws-ofi-nccl on Slingshot takes the site's own settings of libfabric",
}
"""Fabrics whose plug-in brings settings along that weft does not know."""


NOTHING: Final = {
    "ultra_ethernet": "nothing is set: the plug-in of the NIC's maker that NCCL needs here "
    "brings its own settings along",
}
"""Why no variable is set, by fabric."""


def _refuses(plan: Plan) -> str | None:
    return OWN_PLUGINS.get(plan.cluster.fabric.kind)


def _files(plan: Plan) -> Files:
    settings = plan.nccl.settings
    lines = [header(plan, "environment of NCCL"), *_fabric(plan)]
    for name, one in settings.items():
        lines += [f"# {one.reason}", f'export {name}="{one.text()}"']
    lines += [f"# {one}" for one in _nothing(plan)]
    yield "nccl.env", "\n".join(lines + _left_out(plan)) + "\n"
    # NCCL takes a line as it stands: no quotes, no spaces round =, # in the first column only.
    conf = [
        f"{name}={one.text()}" for name, one in settings.items() if name.startswith("NCCL_")
    ]
    if not conf:
        conf = [f"# {one}" for one in _nothing(plan)]
    yield "nccl.conf", "\n".join([header(plan, "/etc/nccl.conf"), *_fabric(plan), *conf]) + "\n"


def _fabric(plan: Plan) -> Iterator[str]:
    """Name a fabric that no setting shows, for people and for lint."""
    kind = plan.cluster.fabric.kind
    if kind in UNSEEN:
        yield f"{FABRIC}{kind}"


def _nothing(plan: Plan) -> Iterator[str]:
    """Say why no variable is set, where none is."""
    if not plan.nccl.settings:
        yield NOTHING.get(plan.cluster.fabric.kind, "nothing is set: NCCL's defaults are right")


def _left_out(plan: Plan) -> list[str]:
    """Say what was asked for and refused; names and values have been checked."""
    lines = [f"# left out {one.name}={one.value}: {one.reason}" for one in plan.nccl.refused]
    gid, beside = plan.nccl.gid_index, plan.nccl.beside
    if gid is not None:
        lines.append(f"# NCCL_IB_GID_INDEX {gid.text()}: {gid.reason}")
    if beside is not None:
        lines.append(f"# {beside.text()}: {beside.reason}")
    return lines


nccl = Target(
    title="NCCL: nccl.env and /etc/nccl.conf",
    supports=frozenset(Feature) - {Feature.RACK},
    refuses=_refuses,
    files=_files,
    proofs={"nccl.env": Proof.SCHEMA, "nccl.conf": Proof.SCHEMA},
)

"""NVIDIA UFM: what to set in it, and what its own subnet manager knows beyond OpenSM."""

from weft.generate.plan import Feature, Plan
from weft.generate.rendered import PLACEHOLDER
from weft.generate.target import Files, Proof, Target, header
from weft.generate.template import text_of


def _files(plan: Plan) -> Files:
    subnet = plan.subnet
    assert subnet is not None, "an InfiniBand plan has a subnet"
    head = header(plan, "what NVIDIA's subnet manager (MLNXSM, UFM) has beyond opensm.conf")
    managers = [
        plan.guids.get(name, f"{PLACEHOLDER}GUID_OF_{name.upper().replace('-', '_')}")
        for name in subnet.managers.text().split(", ")
    ]
    for name in ("mlnxsm-overlay.conf", "ufm.md"):
        yield (
            name,
            text_of(f"ufm/{name}.j2", plan=plan, subnet=subnet, managers=managers, head=head),
        )


ufm = Target(
    title="UFM: what to set, adaptive routing, SHARP",
    supports=frozenset({Feature.SUBNET, Feature.RACK}),
    needs=frozenset({Feature.SUBNET}),
    files=_files,
    proofs={"mlnxsm-overlay.conf": Proof.GOLDEN, "ufm.md": Proof.GOLDEN},
)

"""NVIDIA UFM: what to set in it, and what its own subnet manager knows beyond OpenSM."""

from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.readers.rendered import PLACEHOLDER


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


ufm = declared("ufm", files=_files)

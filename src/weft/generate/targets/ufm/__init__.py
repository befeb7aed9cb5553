"""NVIDIA UFM: what to set in it, and what its own subnet manager knows beyond OpenSM."""

from collections.abc import Iterator

from weft.generate.plan import Feature, Plan
from weft.generate.rendered import PLACEHOLDER
from weft.generate.subnet import Subnet
from weft.generate.target import Files, Proof, Target, header


def _files(plan: Plan) -> Files:
    subnet = plan.subnet
    assert subnet is not None, "an InfiniBand plan has a subnet"
    yield "mlnxsm-overlay.conf", "\n".join(_overlay(plan, subnet)) + "\n"
    yield "ufm.md", "\n".join(_points(plan, subnet)) + "\n"


def _overlay(plan: Plan, subnet: Subnet) -> Iterator[str]:
    yield header(plan, "what NVIDIA's subnet manager (MLNXSM, UFM) has beyond opensm.conf")
    yield "# To be merged into UFM's opensm.conf. OpenSM itself knows no adaptive routing."
    for name, one in (
        ("routing_engine", subnet.adaptive_overlay),
        ("ar_sl_mask", subnet.adaptive_sl_mask),
    ):
        yield from (f"# {one.reason}", f"{name} {one.text()}")
    yield from ("# on switches that can", "enable_ar_by_device_cap TRUE")
    if subnet.m_key is not None:
        managers = [
            plan.guids.get(name, f"{PLACEHOLDER}GUID_OF_{name.upper().replace('-', '_')}")
            for name in subnet.managers.text().split(", ")
        ]
        yield "# port GUIDs that may become master; any other manager is ignored"
        yield f"allowed_sm_guids {','.join(managers)}"


def _points(plan: Plan, subnet: Subnet) -> Iterator[str]:
    link = plan.link
    assert link.path_mtu_bytes is not None, "an InfiniBand plan has a path MTU"
    adaptive = f"every SL (mask {subnet.adaptive_sl_mask.text()})"
    yield f"# UFM for {plan.names.cluster.text()}"
    yield ""
    yield "What the plan wants of UFM, point by point. Written from documents: look at each"
    yield "value in UFM's own pages before and after."
    yield ""
    yield "| point | value | why |"
    yield "|---|---|---|"
    for point, value, why in (
        ("subnet manager", "UFM's own, one master and one standby", subnet.managers.reason),
        ("routing engine", subnet.adaptive_overlay.text(), subnet.adaptive_overlay.reason),
        ("adaptive routing on", adaptive, subnet.adaptive_sl_mask.reason),
        ("default partition", f"{subnet.p_key.text()}, {_membership(subnet)}",
         subnet.p_key.reason),
        *((f"partition {name}", f"{key.text()}, full members, index 0", key.reason)
          for name, key in subnet.tenants.items()),
        ("MTU of the IPoIB group", f"{link.path_mtu_bytes.text()} B", subnet.mtu_code.reason),
        ("operational virtual lanes", subnet.max_vls.text(), subnet.max_vls.reason),
        ("NCCL's service level", subnet.sl.text(), subnet.sl.reason),
        ("SHARP", "on" if subnet.sharp.value else "off", subnet.sharp.reason),
    ):  # fmt: skip
        yield f"| {point} | {value} | {why} |"
    yield from ("", *_sharp(subnet))


def _membership(subnet: Subnet) -> str:
    return "hosts limited, switches and manager full" if subnet.tenants else "all full members"


def _sharp(subnet: Subnet) -> tuple[str, ...]:
    if not subnet.sharp.value:
        return (
            "SHARP is off: set fabric.in_network_reduction in the cluster document to plan it.",
        )
    return (
        "SHARP, step by step:",
        "",
        "1. One aggregation manager, beside the master subnet manager: UFM starts it (gv.cfg,",
        "   section Sharp), or sharp_am runs as a service. Two of them fight over the trees.",
        "2. Cables by rail: all NICs of one rail on the same leaves. A switch holds two",
        "   streaming trees, so a rail that shares its leaf with others gets no tree.",
        "3. On the hosts the plug-in of HPC-X, and NCCL_COLLNET_ENABLE=1, which the target",
        "   nccl writes.",
        "4. Look for SHARP in NCCL's log of the first run (NCCL_DEBUG=INFO): without a tree",
        "   NCCL falls back to rings and trees and does not stop.",
    )


ufm = Target(
    title="UFM: what to set, adaptive routing, SHARP",
    supports=frozenset({Feature.SUBNET, Feature.RACK}),
    needs=frozenset({Feature.SUBNET}),
    files=_files,
    proofs={"mlnxsm-overlay.conf": Proof.GOLDEN, "ufm.md": Proof.GOLDEN},
)

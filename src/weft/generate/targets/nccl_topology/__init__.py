"""NCCL's topology of a virtual machine: which GPU and which NIC lie together.

A hypervisor hides the PCIe switches, so NCCL cannot see that a NIC is a GPU's neighbour. The
addresses of devices are known on the machine alone: the script reads them there, and puts
together what the cluster's description says is together.
"""

from typing import Final

from weft import catalogue
from weft.generate.plan import Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of

SCRIPT: Final = "/usr/local/sbin/weft-nccl-topology"
XML: Final = "/etc/weft/nccl-topology.xml"
LANE_SPEED: Final = {3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
"""GT/s of a lane by generation of PCIe, as the kernel and NCCL write it."""
SOCKETS: Final = 2
"""Of a host with eight GPUs; the first half of the GPUs is on the first."""


def _files(plan: Plan) -> Files:
    host = plan.cluster.host
    gpu = catalogue.find("gpus", host.gpu)
    together = min(host.gpus, host.nics)
    infiniband = plan.cluster.fabric.kind == "infiniband"
    yield "weft-nccl-topology", text_of(
        "nccl_topology/weft-nccl-topology.j2", head=header(plan, SCRIPT), xml=XML, host=host,
        layer="InfiniBand" if infiniband else "Ethernet", together=together,
        nic_class="0x020700" if infiniband else "0x020000", speed=LANE_SPEED[gpu.pcie_gen],
        sockets=SOCKETS, each_socket=-(-together // SOCKETS),
    )  # fmt: skip


def _refuses(plan: Plan) -> str | None:
    host = plan.cluster.host
    if plan.host.acs.text() != "kept":
        return "nccl_topology is for virtual machines; elsewhere NCCL reads PCIe itself"
    gpu = catalogue.find("gpus", host.gpu)
    if gpu.vendor != "NVIDIA" or gpu.pcie_gen not in LANE_SPEED:
        return f"nccl_topology does not know the PCIe of {host.gpu}"
    if host.nics == 0 or max(host.gpus, host.nics) % min(host.gpus, host.nics):
        return f"nccl_topology cannot pair {host.gpus} GPUs with {host.nics} NICs"
    if plan.cluster.host.cpu == "arm":
        return "nccl_topology writes the CPUs of x86 hosts"
    return None


nccl_topology = declared("nccl_topology", files=_files, refuses=_refuses)

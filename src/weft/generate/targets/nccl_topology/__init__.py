"""NCCL's topology of a virtual machine: which GPU and which NIC lie together.

A hypervisor hides the PCIe switches, so NCCL cannot see that a NIC is a GPU's neighbour. The
addresses of devices are known on the machine alone: the script reads them there, and puts
together what the cluster's description says is together.
"""

from collections.abc import Iterator
from typing import Final

from weft import catalogue
from weft.catalogue.devices import Gpu
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header

SCRIPT: Final = "/usr/local/sbin/weft-nccl-topology"
XML: Final = "/etc/weft/nccl-topology.xml"
LANE_SPEED: Final = {3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
"""GT/s of a lane by generation of PCIe, as the kernel and NCCL write it."""
SOCKETS: Final = 2
"""Of a host with eight GPUs; the first half of the GPUs is on the first."""


def _files(plan: Plan) -> Files:
    yield "weft-nccl-topology", "\n".join(_script(plan)) + "\n"


def _script(plan: Plan) -> Iterator[str]:
    host = plan.cluster.host
    yield "#!/bin/sh"
    yield header(plan, SCRIPT)
    yield f"# Writes {XML}: set NCCL_TOPO_FILE to it. Where the image brings"
    yield "# a file of its own for the machine, take that one."
    yield f"# {host.gpus} GPUs and {host.nics} NICs: each GPU with the NICs of its rail, half"
    yield "# of them on each socket, in the order of their addresses. That order is usual and"
    yield "# assumed: compare ib_write_bw between neighbours and strangers before you trust it."
    yield "set -eu"
    yield "sys=${SYSFS:-/sys}; out=${1:-" + XML + "}"
    yield from _devices(plan)
    yield from _WRITER_HEAD
    yield from _groups(plan)
    yield from _WRITER_TAIL


def _devices(plan: Plan) -> Iterator[str]:
    yield "# Addresses as 0000:1b:00.0, one a line, in order."
    yield (
        "gpus=$(nvidia-smi --query-gpu=pci.bus_id --format=csv,noheader | "
        "tr '[:upper:]' '[:lower:]' | sed 's/^0000\\(....:\\)/\\1/' | sort)"
    )
    yield "nics=$("
    yield '    for device in "$sys/class/infiniband/"*; do'
    layer = "InfiniBand" if plan.cluster.fabric.kind == "infiniband" else "Ethernet"
    yield f'        grep -q {layer} "$device/ports/1/link_layer" || continue'
    yield '        basename "$(readlink -f "$device/device")"'
    yield "    done | sort"
    yield ")"
    yield 'count() { printf "%s\\n" "$1" | grep -c .; }'
    host = plan.cluster.host
    for kind, wanted in (("gpus", host.gpus), ("nics", host.nics)):
        yield f'[ "$(count "${kind}")" = {wanted} ] || {{'
        yield f'    echo "found $(count "${kind}") {kind}, planned {wanted}" >&2; exit 1; }}'
    yield 'nth() { printf "%s\\n" "$1" | sed -n "$2p"; }'


_LINK: Final = 'link_speed=\\"$%d GT/s PCIe\\" link_width=\\"16\\"'
_CPU: Final = (
    'arch=\\"x86_64\\" vendor=\\"$(cpu vendor_id)\\" familyid=\\"$(cpu "cpu family")\\" '
    'modelid=\\"$(cpu model)\\" affinity=\\"$map\\"'
)
_WRITER_HEAD: Final = (
    'cpu() { sed -n "s/^$1[[:space:]]*: //p" "${CPUINFO:-/proc/cpuinfo}" | head -n 1; }',
    "socket() {",
    '    map=$(cat "$sys/devices/system/node/node$1/cpumap")',
    f'    echo "  <cpu numaid=\\"$1\\" {_CPU}>"',
    "}",
    f'device() {{ echo "      <pci busid=\\"$1\\" class=\\"$2\\" {_LINK % 3}/>"; }}',
    "# A switch that nobody sees: its address is none that a machine has.",
    "bridge() {",
    f'    echo "    <pci busid=\\"ffff:ff:$1.0\\" class=\\"0x060400\\" {_LINK % 2}>"',
    "}",
    "write() {",
    "    echo '<system version=\"1\">'",
)
_WRITER_TAIL: Final = (
    "    echo '</system>'",
    "}",
    'mkdir -p "$(dirname "$out")"',
    "# Whole or not at all.",
    'write >"$out.new"',
    'mv "$out.new" "$out"',
)


def _groups(plan: Plan) -> Iterator[str]:
    """Yield one bridge for every set of GPUs and NICs that lie together."""
    host, speed = plan.cluster.host, _speed(plan)
    together = min(host.gpus, host.nics)
    for group in range(together):
        if group % -(-together // SOCKETS) == 0:
            if group:
                yield "    echo '  </cpu>'"
            yield f"    socket {group * SOCKETS // together}"
        yield f"    bridge {group + 1:02x} {speed}"
        for kind, count, code in (("gpus", host.gpus, "0x030200"),
                                  ("nics", host.nics, _code(plan))):  # fmt: skip
            each = count // together
            for number in range(group * each, (group + 1) * each):
                yield f'    device "$(nth "${kind}" {number + 1})" {code} {speed}'
        yield "    echo '    </pci>'"
    yield "    echo '  </cpu>'"


def _code(plan: Plan) -> str:
    """Return the PCI class of a NIC: InfiniBand or Ethernet."""
    return "0x020700" if plan.cluster.fabric.kind == "infiniband" else "0x020000"


def _speed(plan: Plan) -> str:
    gpu = catalogue.find("gpus", plan.cluster.host.gpu)
    assert isinstance(gpu, Gpu)
    return LANE_SPEED[gpu.pcie_gen]


def _refuses(plan: Plan) -> str | None:
    host = plan.cluster.host
    if plan.host.acs.text() != "kept":
        return "nccl_topology is for virtual machines; elsewhere NCCL reads PCIe itself"
    gpu = catalogue.find("gpus", host.gpu)
    if not isinstance(gpu, Gpu) or gpu.vendor != "NVIDIA" or gpu.pcie_gen not in LANE_SPEED:
        return f"nccl_topology does not know the PCIe of {host.gpu}"
    if host.nics == 0 or max(host.gpus, host.nics) % min(host.gpus, host.nics):
        return f"nccl_topology cannot pair {host.gpus} GPUs with {host.nics} NICs"
    if plan.cluster.host.cpu == "arm":
        return "nccl_topology writes the CPUs of x86 hosts"
    return None


nccl_topology = Target(
    title="NCCL: topology of a virtual machine",
    supports=frozenset(Feature) - {Feature.RACK},
    refuses=_refuses,
    files=_files,
    proofs={"weft-nccl-topology": Proof.GOLDEN},
)

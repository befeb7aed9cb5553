"""Slurm: topology.conf, gres.conf and, of several tenants, their partitions.

Jobs are placed on neighbouring hosts by topology/tree; racks of one NVLink domain are blocks of
topology/block, whose trays are the nodes.
"""

from collections.abc import Iterator
from typing import Final

from weft import catalogue
from weft.generate import names
from weft.generate.host import server_of
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header
from weft.network import naming
from weft.network.network import layout

DETECTION: Final = {"NVIDIA": "nvml", "AMD": "rsmi"}
"""Library through which slurmd finds a vendor's GPUs with their cores and links."""


def _files(plan: Plan) -> Files:
    lines = _blocks(plan) if Feature.RACK in plan.features else _tree(plan)
    yield "topology.conf", "\n".join([header(plan, "topology.conf"), *lines]) + "\n"
    yield "gres.conf", "\n".join([header(plan, "gres.conf"), *_gpus(plan)]) + "\n"
    if plan.cluster.tenants:
        head = header(plan, "partitions of the tenants")
        yield "tenants.conf", "\n".join([head, *_tenants(plan)]) + "\n"


def _machines(plan: Plan) -> int:
    """Return how many nodes of Slurm a host is."""
    server = server_of(plan.cluster)
    return (server.machines if server is not None else None) or 1


def _nodes(plan: Plan, first: int, stop: int) -> str:
    """Return hosts as Slurm writes them, racks tray by tray."""
    hosts, trays = names.hosts_list(first, stop, plan.cluster.hosts), _machines(plan)
    return f"{hosts}-tray-[00-{trays - 1:02d}]" if trays > 1 else hosts


def _gpus(plan: Plan) -> Iterator[str]:
    host = plan.cluster.host
    gpus, vendor = host.gpus // _machines(plan), catalogue.find("gpus", host.gpu).vendor
    yield "# slurm.conf needs GresTypes=gpu, and of each node the rest of what slurmd -C says"
    nodes = _nodes(plan, 0, plan.cluster.hosts)
    yield f"# NodeName={nodes} Gres=gpu:{gpus}"
    if vendor in DETECTION:
        yield "# cores and NVLinks of each GPU, so that a task gets CPUs beside its GPU"
        yield f"AutoDetect={DETECTION[vendor]}"
    if vendor == "NVIDIA":
        devices = f"[0-{gpus - 1}]" if gpus > 1 else "0"
        yield f"NodeName={nodes} Name=gpu File=/dev/nvidia{devices}"


def _tenants(plan: Plan) -> Iterator[str]:
    yield "# slurm.conf: Include tenants.conf, and no other partition with these nodes"
    for tenant, hosts in plan.cluster.groups():
        nodes = _nodes(plan, hosts.start, hosts.stop)
        yield f"PartitionName={tenant} Nodes={nodes} AllowAccounts={tenant} State=UP"


def _blocks(plan: Plan) -> Iterator[str]:
    """Yield a block a rack: a job that fits into one stays in its NVLink domain."""
    network, hosts, trays = layout(plan.cluster), plan.cluster.hosts, _machines(plan)
    yield "# slurm.conf: TopologyPlugin=topology/block; a block is one NVLink domain"
    for number in range(hosts):
        yield f"BlockName={naming.host(number, hosts)} Nodes={_nodes(plan, number, number + 1)}"
    unit = min(network.hosts_per_unit, hosts)
    yield "# a rack, and the largest power of two of racks on the same leaves"
    sizes = dict.fromkeys((trays, trays << (unit.bit_length() - 1)))
    yield f"BlockSizes={','.join(map(str, sizes))}"


def _tree(plan: Plan) -> Iterator[str]:
    """Yield units of hosts on the same leaves, pods of units, and what joins the pods."""
    network, hosts = layout(plan.cluster), plan.cluster.hosts
    units = _ranges(0, hosts, network.hosts_per_unit)
    yield "# a unit is the hosts that hang on the same leaves, one leaf a rail"
    for number, (first, stop) in enumerate(units):
        yield f"SwitchName={_one('unit', number)} Nodes={names.hosts_list(first, stop, hosts)}"
    if len(units) == 1:
        return
    pods = _pods(units, network.hosts_per_pod)
    for number, (first, stop) in enumerate(pods):
        yield f"SwitchName={_one('pod', number)} Switches={_listed('unit', first, stop)}"
    if len(pods) > 1:
        yield f"SwitchName=fabric Switches={_listed('pod', 0, len(pods))}"


def _ranges(first: int, stop: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, stop)) for start in range(first, stop, size)]


def _pods(units: list[tuple[int, int]], hosts_per_pod: int) -> list[tuple[int, int]]:
    """Return the ranges of units that make a pod."""
    per_pod = max(1, hosts_per_pod // (units[0][1] - units[0][0]))
    return _ranges(0, len(units), per_pod)


def _listed(stem: str, first: int, stop: int) -> str:
    """Return a range of switches as Slurm writes it."""
    return _one(stem, first) if stop - first == 1 else f"{stem}[{first:04d}-{stop - 1:04d}]"


def _one(stem: str, number: int) -> str:
    return f"{stem}{number:04d}"


def _refuses(plan: Plan) -> str | None:
    if Feature.RACK in plan.features and _machines(plan) == 1:
        return (
            "slurm places the trays of hosts that are racks of several machines; name the "
            "rack as host.server (gb200_nvl72, gb300_nvl72)"
        )
    return None


slurm = Target(
    title="Slurm: topology (tree, or block of NVL72 racks), GPUs, partitions of tenants",
    supports=frozenset(Feature),
    refuses=_refuses,
    files=_files,
    proofs={
        "topology.conf": Proof.SOFTWARE,
        "gres.conf": Proof.GOLDEN,
        "tenants.conf": Proof.SOFTWARE,
    },
)

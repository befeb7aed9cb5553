"""Slurm: topology.conf, gres.conf and, of several tenants, their partitions.

Jobs are placed on neighbouring hosts by topology/tree; racks of one NVLink domain are blocks of
topology/block, whose trays are the nodes.
"""

from collections.abc import Mapping
from typing import Final

from weft import catalogue
from weft.design.bom import server_of
from weft.generate import names
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, declared, header
from weft.generate.template import text_of
from weft.network import naming
from weft.network.network import layout

DETECTION: Final = {"NVIDIA": "nvml", "AMD": "rsmi"}
"""Library through which slurmd finds a vendor's GPUs with their cores and links."""


def _files(plan: Plan) -> Files:
    shape = _blocks(plan) if Feature.RACK in plan.features else _tree(plan)
    yield _file(plan, "topology.conf", shape)
    yield _file(plan, "gres.conf", _gpus(plan))
    if plan.cluster.tenants:
        groups = plan.cluster.groups()
        listed = [(name, _nodes(plan, hosts.start, hosts.stop)) for name, hosts in groups]
        yield _file(plan, "tenants.conf", {"tenants": listed}, "partitions of the tenants")


def _file(
    plan: Plan, name: str, values: Mapping[str, object], what: str = ""
) -> tuple[str, str]:
    return name, text_of(f"slurm/{name}.j2", head=header(plan, what or name), **values)


def _machines(plan: Plan) -> int:
    """Return how many nodes of Slurm a host is."""
    server = server_of(plan.cluster)
    return (server.machines if server is not None else None) or 1


def _nodes(plan: Plan, first: int, stop: int) -> str:
    """Return hosts as Slurm writes them, racks tray by tray."""
    hosts, trays = names.hosts_list(first, stop, plan.cluster.hosts), _machines(plan)
    return f"{hosts}-tray-[00-{trays - 1:02d}]" if trays > 1 else hosts


def _gpus(plan: Plan) -> dict[str, object]:
    host = plan.cluster.host
    vendor = catalogue.find("gpus", host.gpu).vendor
    return {
        "nodes": _nodes(plan, 0, plan.cluster.hosts), "gpus": host.gpus // _machines(plan),
        "vendor": vendor, "detection": DETECTION.get(vendor, ""),
    }  # fmt: skip


def _blocks(plan: Plan) -> dict[str, object]:
    """Return a block a rack: a job that fits into one stays in its NVLink domain."""
    network, hosts, trays = layout(plan.cluster), plan.cluster.hosts, _machines(plan)
    unit = min(network.hosts_per_unit, hosts)
    racks = [
        (naming.host(number, hosts), _nodes(plan, number, number + 1))
        for number in range(hosts)
    ]
    sizes = dict.fromkeys((trays, trays << (unit.bit_length() - 1)))
    return {"racks": racks, "sizes": list(sizes)}


def _tree(plan: Plan) -> dict[str, object]:
    """Return units of hosts on the same leaves, pods of units, and what joins the pods."""
    network, hosts = layout(plan.cluster), plan.cluster.hosts
    units = _ranges(0, hosts, network.hosts_per_unit)
    pods = _pods(units, network.hosts_per_pod) if len(units) > 1 else []
    switches = [(_one("pod", n), _listed("unit", *below)) for n, below in enumerate(pods)]
    if len(pods) > 1:
        switches.append(("fabric", _listed("pod", 0, len(pods))))
    lowest = [(_one("unit", n), names.hosts_list(*unit, hosts)) for n, unit in enumerate(units)]
    return {"racks": (), "units": lowest, "switches": switches}


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


slurm = declared("slurm", files=_files, refuses=_refuses)

"""GPU and fabric texts of published tables, and the clusters that they stand for."""

import re
from dataclasses import dataclass
from typing import Final

from weft import units
from weft.accuracy.rows.words import meant
from weft.spec.cluster import Cluster, FabricChoice, Host


@dataclass(frozen=True, slots=True)
class Machine:
    """A standard host: its GPU in the catalogue, GPUs, and NICs of so many Gb/s."""

    gpu: str
    gpus: int
    nvlink_gbyte_per_s: float
    nics: int
    nic_gbit_per_s: float
    cpu: str = "intel"


NIC_NAMES: Final = {100: "connectx5", 200: "connectx6", 400: "connectx7", 800: "connectx8"}
RACK_GPUS: Final = 32
"""A scale-up domain of at least this many GPUs is a rack, with one NIC for each GPU."""


def machine_of(gpu: str) -> Machine | str:
    """Return the standard host of a GPU text, or why there is none."""
    host = meant("machines", gpu)
    if host is None:
        return f"accelerator {gpu!r} is not in the catalogue"
    return Machine(*host) if host else f"accelerator {gpu!r} is not one that weft models"


def host_gbit_per_s(fabric: str, machine: Machine) -> float:
    """Return the Gb/s of all NICs of one host, as stated or as such hosts have it.

    >>> host_gbit_per_s("InfiniBand HDR 8x200G per node", Machine("x", 8, 300, 8, 100))
    1600.0
    >>> host_gbit_per_s("InfiniBand, 800 Gb/s per node", Machine("x", 8, 300, 8, 200))
    800.0
    >>> host_gbit_per_s("RoCEv2 400G per GPU", Machine("x", 8, 300, 8, 200))
    3200.0
    """
    standard = float(machine.nics * machine.nic_gbit_per_s)
    if machine.gpus >= RACK_GPUS:
        return standard
    for_gpu = re.search(r"(\d+)\s*(?:Gb/s|Gbps|G)[\w -]*per GPU", fabric)
    if for_gpu:
        return float(for_gpu.group(1)) * machine.gpus
    for_nics = re.search(r"(?:Compute: )?(\d{1,2})\s*x[ \w-]*?(\d{2,3})\s?G", fabric)
    if for_nics:
        return float(for_nics.group(1)) * float(for_nics.group(2))
    for_host = re.search(r"(\d{3,4})\s*(?:Gb/s|Gbps|G) per node", fabric)
    return float(for_host.group(1)) if for_host else standard


def cluster_of(machine: Machine, fabric: str, gpus: int) -> Cluster:
    """Return the cluster of a row: enough standard hosts, on the stated fabric."""
    compute = re.search(r"Compute: ([^,|]*)", fabric)
    total = host_gbit_per_s(compute.group(1) if compute else fabric, machine)
    nics = machine.nics if total >= machine.nics * 100 else max(1, round(total / 100))
    each = total / nics
    nic = NIC_NAMES[min(NIC_NAMES, key=lambda gbit: abs(gbit - each))]
    kind = meant("fabrics_of_training", fabric, re.NOFLAG) or "infiniband"
    if kind in {"efa", "tcpx", "tcpxo"}:
        nic = ""  # the one that this cloud has at the rate
    rate = units.show_rate(units.rate_from_gbit(each)).replace(" ", "")
    host = Host.model_validate({
        "gpu": machine.gpu, "gpus": machine.gpus, "nic": nic, "nics": nics,
        "nic_bytes_per_s": rate, "cpu": machine.cpu,
        "scale_up": {
            "kind": "xgmi" if machine.gpu.startswith("mi") else "nvlink",
            "gpus": machine.gpus, "bytes_per_s": f"{machine.nvlink_gbyte_per_s}GB/s",
            "in_network_reduction": machine.gpu[0] in "hgb",
        },
    })  # fmt: skip
    return Cluster(hosts=-(-gpus // machine.gpus), host=host, fabric=FabricChoice(kind=kind))

"""GPU and fabric texts of published tables, and the clusters that they stand for."""

import re
from dataclasses import dataclass
from typing import Final

from weft import units
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


# First match wins; Jean Zay and DGX names come before the bare GPU.
MACHINES: Final = (
    (r"TPU|gaudi|ascend|trainium|xeon|910b", None),
    (r"V100.*Jean Zay|Jean Zay.*V100", Machine("v100", 4, 150, 4, 100)),
    (r"DGX-2|DGX2", Machine("v100", 16, 150, 8, 100)),
    (r"DGX-1|V100.*16", Machine("v100_16", 8, 150, 4, 100)),
    (r"V100", Machine("v100", 8, 150, 4, 100)),
    (r"A100.*40|40.*A100", Machine("a100_sxm_40", 8, 300, 8, 200, "amd")),
    (r"A100.*Jean Zay", Machine("a100_sxm_80", 8, 300, 4, 100, "amd")),
    (r"A100|p4de|Ampere", Machine("a100_sxm_80", 8, 300, 8, 200, "amd")),
    (r"p4d\b", Machine("a100_sxm_40", 8, 300, 4, 100)),
    (r"GB300", Machine("gb300", 72, 900, 72, 800, "arm")),
    (r"GB200", Machine("gb200", 72, 900, 72, 400, "arm")),
    (r"B300|Blackwell Ultra", Machine("b300", 8, 900, 8, 800)),
    (r"B200|Blackwell", Machine("b200", 8, 900, 8, 400)),
    (r"H800", Machine("h800_sxm", 8, 200, 8, 400)),
    (r"H20\b", Machine("h20", 8, 450, 8, 400)),
    (r"H200|p5en|p5e", Machine("h200_sxm", 8, 450, 8, 400)),
    (r"H100.*500 ?W", Machine("h100_sxm_96_500w", 8, 450, 8, 400)),
    (r"H100|Hopper|p5\b", Machine("h100_sxm", 8, 450, 8, 400)),
    (r"MI300", Machine("mi300x", 8, 448, 8, 400, "amd")),
    (r"MI325", Machine("mi325x", 8, 448, 8, 400, "amd")),
    (r"MI35", Machine("mi355x", 8, 535, 8, 400, "amd")),
    (r"L40S", Machine("l40s", 8, 31, 2, 100, "amd")),
)
NIC_NAMES: Final = (
    (100, "connectx5"),
    (200, "connectx6"),
    (400, "connectx7"),
    (800, "connectx8"),
)
FABRICS: Final = (
    (r"TCPXO|FasTrak", "tcpxo"),
    (r"TCPX", "tcpx"),
    (r"\bEFA\b|\bSRD\b|AWS p\d", "efa"),
    (r"slingshot", "slingshot"),
    (r"RoCE|ROCE|RDMA|eRDMA", "roce"),
    (r"infiniband|\bIB\b|\b[EHNX]DR\b|omni-?path", "infiniband"),
    (r"\bTCP\b", "tcp"),
    (r"ethernet", "roce"),
)
RACK_GPUS: Final = 32
"""A scale-up domain of at least this many GPUs is a rack, with one NIC for each GPU."""


def machine_of(gpu: str) -> Machine | str:
    """Return the standard host of a GPU text, or why there is none."""
    for pattern, machine in MACHINES:
        if re.search(pattern, gpu, re.IGNORECASE):
            return machine or f"accelerator {gpu!r} is not one that weft models"
    return f"accelerator {gpu!r} is not in the catalogue"


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
    nic = min(NIC_NAMES, key=lambda pair: abs(pair[0] - each))[1]
    kind = next((k for p, k in FABRICS if re.search(p, fabric)), "infiniband")
    if kind in {"efa", "tcpx", "tcpxo"}:
        nic = ""  # the one that this cloud has at the rate
    host = Host.model_validate(
        {
            "gpu": machine.gpu,
            "gpus": machine.gpus,
            "nic": nic,
            "nics": nics,
            "nic_bytes_per_s": _rate(each),
            "cpu": machine.cpu,
            "scale_up": {
                "kind": "xgmi" if machine.gpu.startswith("mi") else "nvlink",
                "gpus": machine.gpus,
                "bytes_per_s": f"{machine.nvlink_gbyte_per_s}GB/s",
                "in_network_reduction": machine.gpu[0] in "hgb",
            },
        }
    )
    return Cluster(
        hosts=-(-gpus // machine.gpus),
        host=host,
        fabric=FabricChoice(kind=kind),
    )


def _rate(gbit_per_s: float) -> str:
    return units.show_rate(units.rate_from_gbit(gbit_per_s)).replace(" ", "")

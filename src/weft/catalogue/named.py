"""The name a driver prints for a GPU or a NIC, and its name in the catalogue."""

import re
from typing import Final

_GPUS: Final = (
    (r"GB300", "gb300"), (r"GB200", "gb200"), (r"GH200", "gh200"), (r"GB10\b", "gb10"),
    (r"B300", "b300"), (r"B200", "b200"), (r"H200", "h200_sxm"), (r"H800", "h800_sxm"),
    (r"H20\b", "h20"), (r"H100.*PCIe", "h100_pcie"), (r"H100", "h100_sxm"),
    (r"A[18]00.*PCIE.*40", "a100_pcie_40"), (r"A[18]00.*PCI", "a100_pcie_80"),
    (r"A[18]00.*40", "a100_sxm_40"), (r"A[18]00", "a100_sxm_80"),
    (r"V100.*16", "v100_16"), (r"V100", "v100"), (r"L40S", "l40s"), (r"\bL4\b", "l4"),
    (r"\bT4\b", "t4"), (r"MI355", "mi355x"), (r"MI325", "mi325x"), (r"MI300", "mi300x"),
)  # fmt: skip
"""As the driver prints the GPU -> name in the catalogue; the first that fits."""

_NICS: Final = (
    (r"BlueField-?4", "bluefield4"), (r"BlueField-?3|15b3:a2dc", "bluefield3"),
    (r"ConnectX-9|CX-?9\b", "connectx9"), (r"ConnectX-8|CX-?8\b|15b3:1023", "connectx8"),
    (r"ConnectX-7|CX-?7\b|15b3:1021", "connectx7"),
    (r"ConnectX-6 Dx|15b3:101d", "connectx6_dx"),
    (r"ConnectX-6|CX-?6\b|15b3:101b", "connectx6"),
    (r"ConnectX-5|CX-?5\b|15b3:101[789a]", "connectx5"),
    (r"BCM57608|Thor-?2|14e4:1760", "thor2"), (r"Thor Ultra", "thor_ultra"),
    (r"Pollara", "pollara"), (r"Vulcano", "vulcano"), (r"E830", "intel_e830"),
    (r"1d0f:efa0", "efa_v1"), (r"1d0f:efa1", "efa_v2"), (r"1d0f:efa2", "efa_v3"),
    (r"1d0f:efa3", "efa_v4"), (r"Slingshot|Cassini", "slingshot11"),
)  # fmt: skip
"""As lspci prints the NIC, or its PCI vendor and device [pci.ids] -> name in the catalogue."""


def gpu_of(name: str) -> str | None:
    """Return the catalogue's name of a GPU as drivers print it.

    >>> gpu_of("NVIDIA A100-SXM4-80GB"), gpu_of("a toaster")
    ('a100_sxm_80', None)
    """
    return _first(_GPUS, name)


def nic_of(name: str) -> str | None:
    """Return the catalogue's name of a NIC as lspci prints it.

    >>> nic_of("MT2910 Family [ConnectX-7]"), nic_of("15b3:1017"), nic_of("a modem")
    ('connectx7', 'connectx5', None)
    """
    return _first(_NICS, name)


def _first(rows: tuple[tuple[str, str], ...], name: str) -> str | None:
    return next((slug for text, slug in rows if re.search(text, name, re.IGNORECASE)), None)

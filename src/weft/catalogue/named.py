"""The name a driver prints for a GPU, and the device of the catalogue that it means."""

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


def gpu_of(name: str) -> str | None:
    """Return the catalogue's name of a GPU as drivers print it.

    >>> gpu_of("NVIDIA A100-SXM4-80GB"), gpu_of("a toaster")
    ('a100_sxm_80', None)
    """
    return next(
        (slug for pattern, slug in _GPUS if re.search(pattern, name, re.IGNORECASE)), None
    )

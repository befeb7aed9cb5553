"""NVIDIA AICR: the floor of its check nccl-all-reduce-bw, as an overlay of a recipe."""

from typing import Final

import yaml

from weft.generate.gate import Asked, Gate

_TOLERANCE: Final = 0.9
"""Share of the stated floor from which the check passes."""


def _write(asked: Asked) -> str:
    found = asked.threshold()
    document = {
        "spec": {
            "base": "base",
            "validation": {
                "performance": {
                    "checks": ["nccl-all-reduce-bw"],
                    "constraints": [
                        {
                            "name": "nccl-all-reduce-bw",
                            "value": f">= {found.least_gb_per_s / _TOLERANCE:.0f}",
                        }
                    ],
                }
            },
        }
    }
    return (
        f"# {found.derivation(asked.day)}\n"
        f"# AICR passes from {_TOLERANCE} of the value: {found.least_gb_per_s:.1f} GB/s.\n"
        + str(yaml.safe_dump(document, sort_keys=False))
    )


aicr = Gate(
    title="AICR: overlay with the floor of nccl-all-reduce-bw",
    source="https://github.com/NVIDIA/aicr/issues/2787",
    write=_write,
)

"""NVIDIA AICR: the floor of its check nccl-all-reduce-bw, as an overlay of a recipe."""

from typing import Final

from weft.generate.gate import Asked, Gate

_TOLERANCE: Final = 0.9
"""Share of the stated floor from which the check passes."""


_OVERLAY: Final = """\
# {derivation}
# AICR passes from {tolerance} of the value: {least:.1f} GB/s.
spec:
  base: base
  validation:
    performance:
      checks:
      - nccl-all-reduce-bw
      constraints:
      - name: nccl-all-reduce-bw
        value: '>= {stated:.0f}'
"""


def _write(asked: Asked) -> str:
    found = asked.threshold()
    least = found.least_gb_per_s
    return _OVERLAY.format(
        derivation=found.derivation(asked.day), tolerance=_TOLERANCE, least=least,
        stated=least / _TOLERANCE,
    )  # fmt: skip


aicr = Gate(
    title="AICR: overlay with the floor of nccl-all-reduce-bw",
    source="https://github.com/NVIDIA/aicr/issues/2787",
    write=_write,
)

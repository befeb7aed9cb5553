"""A GPU as the user has measured it: the roofline of its kind, moved by an overlay."""

from dataclasses import replace

from weft.engines.analytic.step.compute import Device
from weft.spec.overlay import Overlay


def as_measured(on: Device, overlay: Overlay | None, precision: str) -> Device:
    """Return the rates of a GPU with the ratios of an overlay, if there is one."""
    if overlay is None:
        return on
    return replace(
        on,
        flop_per_s=on.flop_per_s * overlay.matrix(precision),
        half_flop_per_s=on.half_flop_per_s * overlay.matrix("bf16"),
        attention_flop_per_s=on.attention_flop_per_s * overlay.attention_ratio,
        memory_bytes_per_s=on.memory_bytes_per_s * overlay.memory_ratio,
    )

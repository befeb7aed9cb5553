"""Values of an inventory as a report writes them, with their units."""

from typing import Final

from weft.inventory.entity import attribute
from weft.inventory.values import Value
from weft.units import BITS_PER_BYTE

_SCALES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def shown(path: str, value: Value) -> str:
    """Return the value of ``kind.attribute`` as text.

    >>> shown("port.rate", 50e9), shown("priority.pause_share", 0.9), shown("gpu.mig", True)
    ('400 Gb/s', '90 %', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | tuple):
        return value if isinstance(value, str) else ", ".join(value)
    return _number(path, value)


def _number(path: str, value: float) -> str:
    unit = attribute(path).unit
    if unit == "bytes/s":
        busbw = path.endswith("bw")
        return _scaled(value, "B/s") if busbw else _scaled(value * BITS_PER_BYTE, "b/s")
    if unit == "ratio":
        return f"{value * 100:.3g} %"
    if unit in {"Hz", "bytes"} and not path.endswith("mtu"):
        return _scaled(value, "Hz" if unit == "Hz" else "B")
    return f"{value:,.12g} {unit}".strip() if value < 1e6 else f"{value:,.0f} {unit}".strip()  # noqa: PLR2004


def _scaled(value: float, unit: str) -> str:
    scale, letter = next((pair for pair in _SCALES if abs(value) >= pair[0]), (1.0, ""))
    return f"{value / scale:.3g} {letter}{unit}"

"""Texts of tools as values of attributes: the one place of conversions; none of them raises.

A number is finite or it is no number: digits without end, ``1e999`` and ``nan`` are what a
damaged or a hostile file holds.
"""

import math
from typing import Final

from weft.inventory.entity import attribute

Value = str | float | bool | tuple[str, ...]
_FLAGS: Final = {
    **dict.fromkeys(("1", "yes", "true", "on", "enabled", "active", "up", "ok", "y"), True),
    **dict.fromkeys(("0", "no", "false", "off", "disabled", "inactive", "down", "n"), False),
}
_SCALES: Final = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_LONGEST_NUMBER: Final = 60


def typed(path: str, text: str, factor: float = 1.0) -> Value | None:
    """Return a text as the value of an attribute, or None where it is no such value.

    >>> typed("port.rate", "200", 125e6)
    25000000000.0
    """
    kind_of_value = attribute(path).type
    if kind_of_value == "text":
        return text.strip() or None
    if kind_of_value == "list":
        return tuple(part for part in text.replace(",", " ").split() if part) or None
    if kind_of_value == "flag":
        return _FLAGS.get(text.strip().lower())
    return number(text, factor)


def number(said: object, factor: float = 1.0) -> float | None:
    """Return what is said as a finite number, or None: with ``k``, ``M``, ``G``, hexadecimal.

    >>> number("1,024"), number("0x10"), number("2k"), number("412.."), number("1e999")
    (1024.0, 16.0, 2000.0, None, None)
    """
    plain = str(said).strip().replace(",", "")
    if not plain.isascii() or len(plain) > _LONGEST_NUMBER:
        return None
    scale = _SCALES.get(plain[-1:], 1.0)
    try:
        base = float(int(plain, 16)) if plain.startswith("0x") else float(plain.rstrip("kKMG"))
    except ValueError:
        return None
    value = base * scale * factor
    return value if math.isfinite(value) else None


def whole(said: object) -> int | None:
    """Return what is said as a whole number, or None.

    >>> whole("12"), whole("-3"), whole("1.5"), whole("²"), whole("9" * 5000)
    (12, -3, None, None, None)
    """
    plain = str(said).strip()
    digits = plain.removeprefix("-")
    fits = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    return int(plain) if fits else None

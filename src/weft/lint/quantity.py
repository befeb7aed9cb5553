"""Sizes and counts as Kubernetes, Docker and switches write them."""

from typing import Final

import re2

_SUFFIX: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 1 << 10,
    "mi": 1 << 20,
    "gi": 1 << 30,
    "ti": 1 << 40,
}
_DOCKER: Final = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "": 1}
_SWITCH: Final = {
    "": 1,
    "b": 1,
    "bytes": 1,
    "kb": 10**3,
    "kbytes": 10**3,
    "mb": 10**6,
    "mbytes": 10**6,
    "gb": 10**9,
    "gbytes": 10**9,
}
_NUMBER: Final = re2.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]*)")


def _size(text: str, suffixes: dict[str, int]) -> int | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match[2].lower() not in suffixes:
        return None
    return int(float(match[1]) * suffixes[match[2].lower()])


def kubernetes_bytes(text: str) -> int | None:
    """Read a quantity of memory.

    >>> kubernetes_bytes("16Gi"), kubernetes_bytes("1G"), kubernetes_bytes("much")
    (17179869184, 1000000000, None)
    """
    return _size(text, _SUFFIX)


def docker_bytes(text: str) -> int | None:
    """Read a size as Docker writes it.

    >>> docker_bytes("1g"), docker_bytes("64m")
    (1073741824, 67108864)
    """
    return _size(text.lower().removesuffix("b") or "b", _DOCKER)


def switch_bytes(text: str) -> int | None:
    """Read a size as switches write it, kilobytes of 1000.

    >>> switch_bytes("150 kbytes"), switch_bytes("9216")
    (150000, 9216)
    """
    return _size(text, _SWITCH)

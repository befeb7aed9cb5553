"""Sizes and counts as Kubernetes, Docker and switches write them."""

from typing import Final

import re2

_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_DECIMAL: Final = {letter: 1000**power for letter, power in _POWERS.items()}
_BINARY: Final = {letter: 1024**power for letter, power in _POWERS.items()}
_KUBERNETES: Final = _DECIMAL | {f"{text}i": size for text, size in _BINARY.items() if text}
_DOCKER: Final = _BINARY | {"b": 1}
_SWITCH: Final = {"": 1} | {
    f"{letter}{unit}": size for letter, size in _DECIMAL.items() for unit in ("b", "bytes")
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
    return _size(text, _KUBERNETES)


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

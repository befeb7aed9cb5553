"""Numbers and words as tools write them."""

import re

from weft import units
from weft.observe.facts.base import LinkLayer, PhysicalState, PortState

LONGEST_WITH_ERRNO = 1024
_NUMBER = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F]{1,32}|\d[\d,]{0,40}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,3})?)"
)
_SCALES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_SIZE = re.compile(r"([\d.,]{1,24})\s*([KMGTP]?)(i?)B?", re.IGNORECASE)
_LANE_GBIT = {
    "SDR": 2.5,
    "DDR": 5.0,
    "QDR": 10.0,
    "FDR10": 10.3125,
    "FDR": 14.0625,
    "EDR": 25.78125,
    "HDR": 53.125,
    "NDR": 106.25,
    "XDR": 212.5,
}
PCIE_TRANSFERS_PER_S = {1: 2.5e9, 2: 5e9, 3: 8e9, 4: 16e9, 5: 32e9, 6: 64e9}
"""Transfers a second of a lane, by generation [PCI Express Base Specification]."""
_SPEED = re.compile(r"(\d{1,5}(?:\.\d{1,6})?)\s*(?:Gbps|Gb/s(?:ec)?|GT/s)")


def integer(value: object) -> int | None:
    """Return the whole number a text begins with, or None.

    >>> integer("90,750"), integer("0x1f"), integer("N/A"), integer("12 bank(s)")
    (90750, 31, None, 12)
    """
    if isinstance(value, int):
        return value
    found = _NUMBER.match(str(value).strip()) if value is not None else None
    if not found:
        return None
    text = found[0].replace(",", "")
    try:
        return int(text, 16) if "x" in text else int(float(text)) if "." in text else int(text)
    except (ValueError, OverflowError):
        return None


def real(value: object) -> float | None:
    """Return the number a text begins with, or None."""
    if isinstance(value, int | float):
        return float(value)
    found = _NUMBER.match(str(value).strip()) if value is not None else None
    if not found or "x" in found[0]:
        return None
    try:
        return float(found[0].replace(",", ""))
    except ValueError:
        return None


def count(text: str) -> int | None:
    """Return a number that may be grouped or scaled.

    >>> count("1,024"), count("2.5M"), count("N/A")
    (1024, 2500000, None)
    """
    value = real(text)
    if value is None:
        return None
    scale = _SCALES.get(text.strip()[-1:].upper(), 1)
    return round(value * scale)


def size(text: str) -> int | None:
    """Return a size in bytes; K, M and G are powers of 1024 as the kernel and shells mean them.

    >>> size("64M"), size("130396328Ki"), size("503G"), size("-")
    (67108864, 133525839872, 540092137472, None)
    """
    found = _SIZE.match(text.strip())
    value = real(found[1]) if found else None
    if not found or value is None:
        return None
    return round(value * _BINARY[found[2].upper()])


def rate(gbit: object) -> float | None:
    """Return a rate written in Gbit/s as bytes a second."""
    value = real(gbit)
    return None if value is None else units.rate_from_gbit(value)


def speeds(text: str) -> list[float]:
    """Return the lane rates a text lists, in bytes a second."""
    return [units.rate_from_gbit(float(one)) for one in _SPEED.findall(text)]


def lane_rate(generation: str) -> float | None:
    """Return the rate of a lane of an InfiniBand generation in bytes a second."""
    gbit = _LANE_GBIT.get(generation.upper())
    return None if gbit is None else units.rate_from_gbit(gbit)


_STATES = (
    ("ACTIVE", PortState.ACTIVE),
    ("ARMED", PortState.ARMED),
    ("ARM", PortState.ARMED),
    ("INIT", PortState.INIT),
    ("DOWN", PortState.DOWN),
)
_PHYSICAL = (
    ("RECOVERY", PhysicalState.ERROR_RECOVERY),
    ("POLLING", PhysicalState.POLLING),
    ("DISABLED", PhysicalState.DISABLED),
    ("SLEEP", PhysicalState.SLEEP),
    ("TRAINING", PhysicalState.TRAINING),
    ("LINK_UP", PhysicalState.LINK_UP),
    ("LINKUP", PhysicalState.LINK_UP),
    ("LINK UP", PhysicalState.LINK_UP),
)


def state(text: str) -> PortState:
    """Return the logical state a word of some tool means."""
    upper = text.upper()
    return next((s for word, s in _STATES if word in upper), PortState.UNKNOWN)


def physical(text: str) -> PhysicalState:
    """Return the physical state a word of some tool means."""
    upper = text.upper()
    return next((s for word, s in _PHYSICAL if word in upper), PhysicalState.UNKNOWN)


def layer(text: str) -> LinkLayer:
    """Return the link layer a word of some tool means."""
    word = text.strip().upper()
    if word in {"IB", "INFINIBAND"}:
        return LinkLayer.INFINIBAND
    return LinkLayer.ETHERNET if word in {"ETHERNET", "ROCE", "ETH"} else LinkLayer.UNKNOWN


def yes(text: str | None) -> bool | None:
    """Return what yes, on, true, enabled and their opposites mean."""
    word = (text or "").strip().lower()
    if word in {"yes", "on", "true", "enabled", "active", "1", "up"}:
        return True
    return (
        False if word in {"no", "off", "false", "disabled", "not active", "0", "down"} else None
    )


_ERRNOS = {
    "Operation not permitted": 1,
    "No such file or directory": 2,
    "Input/output error": 5,
    "Cannot allocate memory": 12,
    "Permission denied": 13,
    "Bad address": 14,
    "No such device": 19,
    "Invalid argument": 22,
    "No space left on device": 28,
    "No data available": 61,
    "Protocol not supported": 93,
    "Operation not supported": 95,
    "Address already in use": 98,
    "Network is unreachable": 101,
    "Software caused connection abort": 103,
    "Connection reset by peer": 104,
    "Connection timed out": 110,
    "Connection refused": 111,
    "No route to host": 113,
    "Remote I/O error": 121,
}


_FEWEST_LETTERS = 8


def errno_of(text: str) -> int | None:
    """Return the number of the system error that a text begins with, or that it is cut within.

    >>> errno_of("Cannot allocate memory"), errno_of("unknown"), errno_of("Cannot alloc")
    (12, None, 12)
    """
    for words, code in _ERRNOS.items():
        if text.startswith(words):
            return code
    cut = text.rstrip(" .…>")
    begun = [code for words, code in _ERRNOS.items() if words.startswith(cut)]
    return begun[0] if len(cut) >= _FEWEST_LETTERS and len(begun) == 1 else None


_NUMBERED = re.compile(
    r"(?:\berrno\b[ :=]{1,3}|\[|\bret(?:urned)?(?: is)?[ :=]{0,3}|\brc[ :=]{1,3}|\berror=|"
    r"\(|: )-?(?P<code>\d{1,3})(?=[\]\s,;:.)]|$)"
)
_LIKELY = frozenset({1, 2, 5, 12, 13, 14, 19, 22, 28, 61, 93, 95, 101, 110, 111, 113, 121})


def errno_within(text: str) -> tuple[int | None, str]:
    """Return the system error a line names anywhere, and its words.

    >>> errno_within("E0115 reg.cpp:202] registering 4096 bytes: Cannot allocate memory [12]")
    (12, 'Cannot allocate memory')
    >>> errno_within("fi_mr_reg failed, ret is:-12")
    (12, '')
    """
    low = text.lower()
    for words, code in _ERRNOS.items():
        if words.lower() in low:
            return code, words
    codes = (int(one["code"]) for one in _NUMBERED.finditer(text[:LONGEST_WITH_ERRNO]))
    return next((code for code in codes if code in _LIKELY), None), ""


_ADVISES = re.compile(r"\b(?:[Ii]f|[Ww]hen|[Yy]ou|[Cc]heck|may|might|means|indicates|e\.g\.)\b")
_REPORTS = re.compile(r"NVRM|Xid \(|NVML|[Ee]rror:|handle|ERROR|WARN|\d\d:\d\d:\d\d")


def is_prose(text: str) -> bool:
    """Return whether a line is about a fault rather than of one: notes, help and articles.

    >>> is_prose("Check dmesg when a GPU has fallen off the bus"), is_prose("GPU is lost")
    (True, False)
    """
    if "grep " in text:
        return True
    return bool(_ADVISES.search(text)) and not _REPORTS.search(text)

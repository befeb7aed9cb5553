"""The units of weft, and the only file that knows a byte has eight bits.

Inside, every quantity is a plain number in one unit, and its name ends with it:

    _bytes         sizes, buffers, messages
    _bytes_per_s   rates
    _s             time;  _ps (int) inside the packet engine
    _flops         floating-point operations;  _flop_per_s their rate
    _usd  _w  _m   money, power, length
    _ratio         0 to 1, never per cent

Outside (files, command line, reports) every quantity is text with its unit.
"""

import math
import re
from typing import Final

from weft.errors import UnitError

BITS_PER_BYTE: Final = 8

_DECIMAL: Final = {
    "": 1,
    "k": 10**3,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
}
_BINARY: Final = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_NUMBER: Final = r"([+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_RATE: Final = re.compile(rf"{_NUMBER}\s*([kKMGT]i?|)(b|B|bit|bits|bytes?)(?:ps|/s)")
_SIZE: Final = re.compile(rf"{_NUMBER}\s*([kKMGT]i?|)B")
_BENCHMARK_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG]?)")
_TIME: Final = re.compile(rf"{_NUMBER}\s*(ps|ns|us|µs|ms|s|min|h|d|days?|years?)")
_POWER: Final = re.compile(rf"{_NUMBER}\s*([kMG]?)W")
_LENGTH: Final = re.compile(rf"{_NUMBER}\s*(mm|cm|m|km)")
_MONEY: Final = re.compile(rf"(?:USD|\$)?\s*{_NUMBER}\s*([kMB]?)\s*(?:USD|\$)?")
_FLOPS: Final = re.compile(rf"{_NUMBER}\s*([MGTP])FLOP/?[sS]")

SECONDS: Final = {
    "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0,
    "h": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0,
    "year": 31536000.0, "years": 31536000.0,
}  # fmt: skip


LONG_S: Final = 1000.0
"""From here on three figures would round away seconds."""


def _finite(number: str) -> float:
    value = float(number)
    if value == math.inf:
        raise UnitError("is too large a number")
    return value


def _scale(prefix: str) -> int:
    return _BINARY.get(prefix) or _DECIMAL[prefix]


def parse_rate(text: str) -> float:
    """Read a rate; return bytes per second.

    >>> parse_rate("400Gb/s") == parse_rate("50GB/s") == 50e9
    True
    >>> parse_rate("400G")
    Traceback (most recent call last):
    weft.errors.UnitError: '400G' is not a rate; write bits as 400Gb/s or bytes as 50GB/s
    """
    match = _RATE.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a rate; write bits as 400Gb/s or bytes as 50GB/s")
    number, prefix, unit = match.groups()
    per_s = _finite(number) * _scale(prefix)
    return per_s if unit.startswith(("B", "byte")) else per_s / BITS_PER_BYTE


def parse_size(text: str) -> int:
    """Read a size; return bytes.

    >>> parse_size("1GiB"), parse_size("1 GB")
    (1073741824, 1000000000)
    """
    match = _SIZE.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a size; write 512MiB or 1GB")
    number, prefix = match.groups()
    return round(_finite(number) * _scale(prefix))


def parse_benchmark_size(text: str) -> int:
    """Read a size as nccl-tests writes it (8, 64M, 2G: binary), or with a unit; return bytes.

    >>> parse_benchmark_size("8"), parse_benchmark_size("2G") == parse_size("2GiB")
    (8, True)
    """
    match = _BENCHMARK_SIZE.fullmatch(str(text).strip())
    if match is None:
        return parse_size(text)
    number, prefix = match.groups()
    return round(_finite(number) * (_BINARY[f"{prefix.upper()}i"] if prefix else 1))


def parse_time(text: str) -> float:
    """Read a duration; return seconds.

    >>> parse_time("1.5us"), parse_time("2h")
    (1.5e-06, 7200.0)
    """
    match = _TIME.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a time; write 1.5us, 30s or 4h")
    number, unit = match.groups()
    return _finite(number) * SECONDS[unit]


def parse_power(text: str) -> float:
    """Read a power; return watts.

    >>> parse_power("10.2kW")
    10200.0
    """
    match = _POWER.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a power; write 700W or 10.2kW")
    number, prefix = match.groups()
    return _finite(number) * _scale(prefix)


def parse_length(text: str) -> float:
    """Read a length; return metres.

    >>> parse_length("30m")
    30.0
    """
    match = _LENGTH.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a length; write 30m")
    number, unit = match.groups()
    return _finite(number) * {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3}[unit]


def parse_money(text: str) -> float:
    """Read an amount of money; return US dollars.

    >>> parse_money("38000USD"), parse_money("$3.4M")
    (38000.0, 3400000.0)
    """
    match = _MONEY.fullmatch(str(text).strip())
    if match is None or not re.search(r"USD|\$", str(text)):
        raise UnitError(f"{text!r} is not an amount of money; write 38000USD or $38k")
    number, prefix = match.groups()
    return _finite(number) * {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9}[prefix]


def parse_flop_rate(text: str) -> float:
    """Read a rate of floating-point operations; return FLOP/s.

    >>> parse_flop_rate("989TFLOP/s")
    989000000000000.0
    """
    match = _FLOPS.fullmatch(str(text).strip())
    if match is None:
        raise UnitError(f"{text!r} is not a compute rate; write 989TFLOP/s")
    number, prefix = match.groups()
    return _finite(number) * _scale(prefix)


def rate_from_gbit(gbit_per_s: float) -> float:
    """Turn a published figure in Gb/s into bytes per second.

    >>> rate_from_gbit(400)
    50000000000.0
    """
    return gbit_per_s * 1e9 / BITS_PER_BYTE


def gbit_from_rate(rate_bytes_per_s: float) -> float:
    """Turn bytes per second into Gb/s, for tables that print it."""
    return rate_bytes_per_s * BITS_PER_BYTE / 1e9


def bytes_from_bits(bits: float) -> float:
    """Turn a width in bits (of a number format) into bytes.

    >>> bytes_from_bits(16)
    2.0
    """
    return bits / BITS_PER_BYTE


def show_rate(rate_bytes_per_s: float) -> str:
    """Show a link rate the way the field writes it, in bits.

    >>> show_rate(50e9)
    '400 Gb/s'
    """
    return f"{gbit_from_rate(rate_bytes_per_s):g} Gb/s"


def show_size(size_bytes: float) -> str:
    """Show a message size in powers of two where it is one.

    >>> show_size(64 * 2**20), show_size(1500)
    ('64 MiB', '1500 B')
    """
    for prefix in ("Ti", "Gi", "Mi", "Ki"):
        scale = _BINARY[prefix]
        if size_bytes >= scale and size_bytes % (scale // 16) == 0:
            return f"{size_bytes / scale:g} {prefix}B"
    return f"{size_bytes:g} B"


def show_time(time_s: float) -> str:
    """Show a duration with three significant figures and the unit that suits it.

    >>> show_time(0.0000152), show_time(4.2)
    ('15.2 us', '4.2 s')
    """
    if abs(time_s) >= LONG_S:
        return f"{time_s:.0f} s"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(time_s) >= scale:
            return f"{time_s / scale:.3g} {unit}"
    return f"{time_s / 1e-9:.3g} ns"

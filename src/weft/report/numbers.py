"""The only rounding there is: three significant figures, a band, the unit of the field."""

from enum import Enum
from math import isfinite
from typing import Final

from weft.results import Estimate
from weft.units import SECONDS, show_rate, show_size, show_time

__all__ = [
    "amount", "band", "binary_size", "by_unit", "collective_rate", "count", "figures", "money",
    "noise", "percent", "seconds", "show_rate", "show_size", "show_time", "shown",
    "signed_percent", "size_unit", "tokens_per_s", "unit_of",
]  # fmt: skip

_STEPS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SIZES: Final = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
_BINARY_SIZES: Final = (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10))
_EXACT_BELOW_BYTES: Final = 10_000
_MONEY_STEPS: Final = ((1e9, "B"), (1e6, "M"), (1e3, "k"))


def figures(value: float) -> str:
    """Round to three significant figures, never in powers of ten that a reader must decode.

    >>> figures(1234.5), figures(0.041234), figures(2.0), figures(0)
    ('1230', '0.0412', '2.00', '0')
    """
    if value == 0:
        return "0"
    if not isfinite(value):
        return "-"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 100:  # noqa: PLR2004 - three figures
        return f"{rounded:.0f}"
    if abs(rounded) < 1e-4:  # noqa: PLR2004 - zeros that nobody counts
        return f"{value:.2e}"
    return f"{value:#.3g}".rstrip(".")


def _scaled(value: float, steps: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    for scale, prefix in steps:
        # 999.9 k would round to 1000 k: the next prefix begins a rounding earlier.
        if abs(value) >= scale * 0.9995:
            return scale, prefix
    return 1.0, ""


def band(estimate: Estimate, unit: str = "", scale: float = 1.0) -> str:
    """Show a value with its band.

    >>> band(Estimate(4.11, 3.98, 4.3), "s")
    '4.11 [3.98–4.30] s'
    """  # noqa: RUF002 - a range takes an en dash
    ends = f"[{figures(estimate.low / scale)}–{figures(estimate.high / scale)}]"  # noqa: RUF001 - a range takes an en dash
    return f"{figures(estimate.value / scale)} {ends} {unit}".rstrip()


def percent(ratio: Estimate | float) -> str:
    """Show a ratio in per cent.

    >>> percent(0.4312), percent(Estimate(0.43, 0.41, 0.45))
    ('43.1 %', '43.0 [41.0–45.0] %')
    """  # noqa: RUF002 - a range takes an en dash
    if isinstance(ratio, Estimate):
        return band(ratio, "%", 0.01)
    return f"{figures(ratio * 100)} %"


def signed_percent(ratio: float) -> str:
    """Show a change in per cent with its sign.

    >>> signed_percent(0.19), signed_percent(-0.07), signed_percent(-0.0000072)
    ('+19.0 %', '-7.00 %', '0 %')
    """
    if abs(ratio) < 0.01:  # noqa: PLR2004 - below a per cent no figure is worth more than one
        small = round(ratio * 100, 1)
        return f"{small:+.1f} %" if small else "0 %"
    return f"{'+' if ratio > 0 else ''}{figures(ratio * 100)} %"


def noise(ratio: float) -> str:
    """Show how far repeated measurements lie apart.

    >>> noise(0.0123)
    '±1.2 %'
    """
    return f"±{ratio * 100:.1f} %"


def seconds(time: Estimate | float) -> str:
    """Show a duration in the unit that suits it.

    >>> seconds(Estimate(0.0042, 0.004, 0.005)), seconds(90000.0)
    ('4.20 [4.00–5.00] ms', '1.04 days')
    """  # noqa: RUF002 - a range takes an en dash
    value = abs(time.value if isinstance(time, Estimate) else time)
    unit = next(
        (u for u, least in (("days", 86400), ("h", 7200), ("s", 1), ("ms", 1e-3), ("us", 1e-6))
         if value >= least),
        "ns" if value else "s",
    )  # fmt: skip
    scale = SECONDS[unit]
    if isinstance(time, Estimate):
        return band(time, unit, scale)
    return f"{figures(time / scale)} {unit}"


def count(value: Estimate | float, unit: str = "") -> str:
    """Show a large number with a prefix.

    >>> count(16384.0, "GPUs"), count(Estimate(2.51e6, 2.4e6, 2.6e6), "tokens/s")
    ('16.4k GPUs', '2.51 [2.40–2.60] M tokens/s')
    """  # noqa: RUF002 - a range takes an en dash
    if isinstance(value, Estimate):
        scale, prefix = _scaled(value.value, _STEPS)
        return band(value, f"{prefix} {unit}".strip(), scale)
    scale, prefix = _scaled(value, _STEPS)
    return f"{figures(value / scale)}{prefix} {unit}".rstrip()


def amount(size_bytes: float) -> str:
    """Show an amount of buffer in powers of ten, as switches count it.

    >>> amount(1_234_567), amount(0)
    ('1.23 MB', '0 B')
    """
    if size_bytes < _EXACT_BELOW_BYTES:
        return f"{size_bytes:.0f} B"
    unit, scale = size_unit(size_bytes)
    return f"{figures(size_bytes / scale)} {unit}"


def size_unit(size_bytes: float) -> tuple[str, float]:
    """Return the power of ten that suits an amount, and its scale."""
    return next((step for step in _SIZES if size_bytes >= step[1]), ("B", 1.0))


def binary_size(size_bytes: float) -> str:
    """Show a size of memory or of a message in powers of two, rounded.

    >>> binary_size(3_000_000), binary_size(12)
    ('2.86 MiB', '12 B')
    """
    for unit, scale in _BINARY_SIZES:
        if size_bytes >= scale:
            return f"{figures(size_bytes / scale)} {unit}"
    return f"{size_bytes:.0f} B"


def tokens_per_s(rate: Estimate | float) -> str:
    """Show a training rate."""
    return count(rate, "tokens/s")


def money(amount: Estimate | float) -> str:
    """Show US dollars.

    >>> money(71_000_000.0), money(Estimate(412_300.0, 398_000.0, 430_000.0))
    ('$71.0M', '$412k [398–430]')
    """  # noqa: RUF002 - a range takes an en dash
    value = amount.value if isinstance(amount, Estimate) else amount
    scale, prefix = _scaled(value, _MONEY_STEPS)
    shown = f"${figures(value / scale)}{prefix}"
    if isinstance(amount, Estimate):
        return f"{shown} [{figures(amount.low / scale)}–{figures(amount.high / scale)}]"  # noqa: RUF001 - as above
    return shown


def unit_of(name: str) -> tuple[str, float]:
    """Return the unit that a field is shown in, by the end of its name, and its scale.

    >>> unit_of("busbw_bytes_per_s"), unit_of("step_s"), unit_of("mfu_ratio")
    (('GB/s', 1000000000.0), ('s', 1.0), ('%', 0.01))
    """
    units = (
        ("_bytes_per_s", "GB/s", 1e9), ("_per_s", "/s", 1.0), ("_s", "s", 1.0),
        ("_ratio", "%", 0.01), ("_bytes", "GiB", 2.0**30), ("_usd", "USD", 1.0),
        ("_w", "W", 1.0),
    )  # fmt: skip
    return next(((unit, scale) for end, unit, scale in units if name.endswith(end)), ("", 1.0))


def by_unit(name: str, value: Estimate | float) -> str:
    """Show a number by the end of its field's name; dollars by its beginning too.

    >>> by_unit("busbw_bytes_per_s", 380e9), by_unit("time_s", 1.5e-05), by_unit("switches", 12)
    ('380 GB/s', '15.0 us', '12.0')
    """
    if name.startswith("usd_") or name.endswith("usd"):
        return money(value)
    if name.endswith("_s") and not name.endswith("_per_s"):
        return seconds(value)
    unit, scale = unit_of(name)
    if isinstance(value, Estimate):
        return band(value, unit.removeprefix("/s"), scale)
    return f"{figures(value / scale)} {unit}".rstrip()


def shown(name: str, value: object) -> str:  # noqa: PLR0911 - one return a kind of value
    """Show any value by its type and by the unit that its name ends with.

    >>> shown("step_s", 2.0), shown("mfu_ratio", 0.4), shown("size_bytes", 1 << 20)
    ('2.00 s', '40.0 %', '1 MiB')
    >>> shown("hosts", ("a", "b")), shown("kept", True), shown("fabric", None)
    ('a, b', 'yes', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ", ".join(shown(name, part) for part in value)
    if name.endswith("_bytes") and isinstance(value, int | float):
        return show_size(value)
    if isinstance(value, Estimate | float):
        return by_unit(name, value)
    return str(value)


def collective_rate(rate_bytes_per_s: Estimate | float) -> str:
    """Show the bandwidth of a collective as nccl-tests does, in GB/s.

    >>> collective_rate(380e9)
    '380 GB/s'
    """
    if isinstance(rate_bytes_per_s, Estimate):
        return band(rate_bytes_per_s, "GB/s", 1e9)
    return f"{figures(rate_bytes_per_s / 1e9)} GB/s"

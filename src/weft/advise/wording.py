"""How advice writes its numbers inside sentences; the exact ones stand beside the text."""

from collections.abc import Sequence

from weft.units import show_time

SMALL, TEN = 0.05, 10
"""Per cent: below the first one figure is shown, from the second on no decimals."""


def percent(ratio: float) -> str:
    """Write a ratio as a percentage with as many digits as it deserves.

    >>> percent(0.123), percent(0.0123), percent(-0.004), percent(3.2)
    ('12 %', '1.2 %', '-0.4 %', '320 %')
    >>> percent(0.997), percent(0.0000042)
    ('99.7 %', '0.0004 %')
    """
    size = abs(ratio) * 100
    if 0 < size < SMALL:
        return f"{ratio * 100:.1g} %"
    exact = size < TEN or 0 < abs(size - 100) < TEN / 2
    return f"{ratio * 100:.{int(exact)}f}".removesuffix(".0") + " %"


def money(usd: float) -> str:
    """Write an amount of US dollars with three figures.

    >>> money(1234.5), money(2.5e6), money(1.2e9)
    ('$1,234', '$2.5M', '$1.2B')
    >>> money(366_982)
    '$367k'
    """
    for letter, scale in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(usd) >= scale and (letter != "k" or abs(usd) >= 10 * scale):
            return f"${usd / scale:.3g}{letter}"
    return f"${usd:,.0f}" if abs(usd) >= 100 else f"${usd:.3g}"  # noqa: PLR2004 - cents matter


def count(number: float) -> str:
    """Write a whole number with its thousands apart.

    >>> count(16384)
    '16,384'
    """
    return f"{number:,.0f}"


def figure(value: float, unit: str) -> str:
    """Write a number with its unit, by the unit's manner.

    >>> figure(0.05, "USD/kWh"), figure(2e-6, "s"), figure(0.4, "ratio"), figure(512, "GPUs")
    ('0.05 USD/kWh', '2 us', '40 %', '512 GPUs')
    >>> figure(1, "NICs"), figure(1, "Gb/s")
    ('1 NIC', '1 Gb/s')
    """
    if unit == "s":
        return show_time(value)
    if unit == "ratio":
        return percent(value)
    if unit == "USD":
        return money(value)
    if value == 1 and unit.isalpha():
        unit = unit.removesuffix("s")
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:.3g} {unit}"  # noqa: PLR2004


def capital(text: str) -> str:
    """Begin a sentence with a text."""
    return text[:1].upper() + text[1:]


def joined(words: Sequence[str]) -> str:
    """Join words as a sentence does.

    >>> joined(["a"]), joined(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

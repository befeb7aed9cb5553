"""What load balancing is: a hook that picks one link of an equal-cost group.

``pick(state, group, flow, link)`` returns a link of the group; ``link`` is the row of the
arriving link, whose random stream it may use.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.kernel import inner


@dataclass(frozen=True, slots=True, kw_only=True)
class Balancing:
    """A way to spread packets over equal-cost links."""

    title: str
    in_order: bool
    """Whether packets of one flow keep their order."""
    pick: Callable[..., Any]


THIRTY_BITS = 1 << 30


@inner
def scramble(x):
    """Mix the bits of a 64-bit integer by shifts alone (xorshift), which never overflow."""
    x ^= x << 13
    x ^= (x >> 7) & 0x01FFFFFFFFFFFFFF
    x ^= x << 17
    return x


@inner
def top_bits(x):
    """Return 30 bits of a mixed integer, never negative."""
    return (x >> 33) & 0x3FFFFFFF


@inner
def next_random(row):
    """Draw 30 random bits from a link's stream, as the switch that it ends at."""
    row.random = scramble(row.random)
    return top_bits(row.random)


@inner
def next_random_out(row):
    """Draw 30 random bits from a link's other stream, as the sender of the link."""
    row.random_out = scramble(row.random_out)
    return top_bits(row.random_out)


@inner
def choose(bits, count):
    """Turn 30 random bits into a number below ``count``, by a product: faster than modulo."""
    return (bits * count) >> 30

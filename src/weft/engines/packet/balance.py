"""What load balancing is: a hook that picks one link of an equal-cost group.

``pick(state, group, packet, link)`` returns a link of the group; ``link`` is the row of the
arriving link, whose random stream it may use.

Where hosts balance, switches hash the entropy of a packet (``pick_by_entropy``), and there are
two more hooks, on the row of ``choices`` of a flow at its sender:

* ``choose(choice, entropies, row)``: the entropy of the next packet; ``row`` is the host's
  uplink, whose random stream it may use
* ``learn(choice, entropies, entropy, news)``: a packet of that entropy was answered: ``GOOD``,
  ``MARKED`` or ``CUT`` (trimmed on the way)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.kernel import inner

GOOD, MARKED, CUT = 0, 1, 2
"""What the answer to a packet says of its path."""


@inner
def choose_nothing(choice, entropies, row):
    """Leave balancing to the switches."""
    return 0


@inner
def learn_nothing(choice, entropies, entropy, news):
    """Balance as if nothing were known of the paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balancing:
    """A way to spread packets over equal-cost links."""

    title: str
    in_order: bool
    """Whether packets of one flow keep their order."""
    pick: Callable[..., Any]
    by_host: bool = False
    """Whether the sender chooses, by the entropy that it writes into packets."""
    choose: Callable[..., Any] = choose_nothing
    learn: Callable[..., Any] = learn_nothing


THIRTY_BITS = 1 << 30
LOW_31_BITS = 0x7FFFFFFF
GROUP_STEP, SPREAD = 0x61C88647, 0x4F1BBCDD
"""Odd numbers of 31 bits: products stay within 63, so nothing overflows."""


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


@inner
def hashed_link(state, group, value):
    """Mix a value with the switch by a product, whose carries tie no tier to another.

    With shifts and exclusive or alone, flows that share a link in one tier would share one in
    the next too (polarisation).
    """
    first = state.group_start[group]
    count = state.group_start[group + 1] - first
    here = (np.int64(group + 1) * GROUP_STEP) & LOW_31_BITS
    mixed = (((value & LOW_31_BITS) ^ here) * SPREAD) & LOW_31_BITS
    return state.group_links[first + choose(mixed >> 1, count)]


@inner
def pick_by_entropy(state, group, packet, link):
    """Hash the flow and the entropy of a packet, as switches do that see it as a UDP port."""
    value = scramble(state.flows[packet.flow].hash ^ (np.int64(packet.entropy) << 40))
    return hashed_link(state, group, top_bits(value))

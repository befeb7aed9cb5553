"""Oblivious spraying by the host: all entropies in turn, each round in another order.

[ultraethernet/uet-htsim, sim/uec_mp.cpp]
"""

from weft.engines.packet.balance import Balancing, next_random_out, pick_by_entropy
from weft.kernel import inner


@inner
def next_in_turn(choice, entropies, row):
    """Return the entropy whose turn it is, of a power of two; a random mask orders a round."""
    entropy = (choice.turn ^ choice.mask) & (entropies - 1)
    choice.turn += 1
    if choice.turn == entropies:
        choice.turn = 0
        choice.mask = next_random_out(row) & (entropies - 1)
    return entropy


oblivious = Balancing(
    title="oblivious spraying by the host: all entropies in turn",
    in_order=False,
    pick=pick_by_entropy,
    by_host=True,
    choose=next_in_turn,
)

"""Spraying by the host that leaves out entropies whose packets came marked or trimmed.

A mark costs an entropy one turn, a trimmed packet four, and no more than fifteen in all. A
packet finds the first entropy without such a debt; only the first that it passes pays.
[Ultra Ethernet Specification 1.0; ultraethernet/uet-htsim, sim/uec_mp.cpp]
"""

from weft.engines.packet.balance import CUT, MARKED, Balancing, pick_by_entropy
from weft.engines.packet.balancing.oblivious import next_in_turn
from weft.kernel import inner

MARKED_TURNS, CUT_TURNS, MOST_TURNS = 1, 4, 15


@inner
def next_without_debt(choice, entropies, row):
    """Return the next entropy that owes no turn; after a round of debtors, the next at all."""
    entropy = next_in_turn(choice, entropies, row)
    if choice.penalty[entropy] == 0:
        return entropy
    choice.penalty[entropy] -= 1
    for _ in range(entropies):
        entropy = next_in_turn(choice, entropies, row)
        if choice.penalty[entropy] == 0:
            break
    return entropy


@inner
def note_debt(choice, entropies, entropy, news):
    """Note the turns that an answer costs its entropy."""
    turns = 0
    if news == MARKED:
        turns = MARKED_TURNS
    elif news == CUT:
        turns = CUT_TURNS
    choice.penalty[entropy] = min(MOST_TURNS, choice.penalty[entropy] + turns)


bitmap = Balancing(
    title="spraying by the host, without entropies of marked and trimmed packets",
    in_order=False,
    pick=pick_by_entropy,
    by_host=True,
    choose=next_without_debt,
    learn=note_debt,
)

"""Spraying by the host: entropies that proved good first, then those that owe no turn.

[ultraethernet/uet-htsim, sim/uec_mp.cpp: its default]
"""

from weft.engines.packet.balance import GOOD, Balancing, pick_by_entropy
from weft.engines.packet.balancing.bitmap import next_without_debt, note_debt
from weft.engines.packet.balancing.reps import NONE_KEPT, keep, take_kept
from weft.engines.packet.tables import ENTROPIES
from weft.kernel import inner


@inner
def _choose(choice, entropies, row):
    entropy = take_kept(choice)
    return next_without_debt(choice, entropies, row) if entropy == NONE_KEPT else entropy


@inner
def _learn(choice, entropies, entropy, news):
    note_debt(choice, entropies, entropy, news)
    if news == GOOD:
        keep(choice, entropy, ENTROPIES)


mixed = Balancing(
    title="spraying by the host: good entropies again, else those without debt",
    in_order=False,
    pick=pick_by_entropy,
    by_host=True,
    choose=_choose,
    learn=_learn,
)

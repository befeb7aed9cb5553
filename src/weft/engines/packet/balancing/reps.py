"""REPS: an entropy whose packet came without a mark is used again, once.

A sender keeps the last eight of them; where it has none it draws one at random. Timeouts, after
which the original goes on with what it has, do not happen where full queues trim.
[Bonato et al., REPS: Recycled Entropy Packet Spraying, arXiv:2407.21625]
"""

from weft.engines.packet.balance import (
    GOOD,
    Balancing,
    choose,
    next_random_out,
    pick_by_entropy,
)
from weft.engines.packet.tables import ENTROPIES
from weft.kernel import inner

MOST_KEPT = 8
NONE_KEPT = -1


@inner
def keep(choice, entropy, most):
    """Keep an entropy behind the others, of which the first goes where there are too many."""
    if choice.count_kept == most:
        take_kept(choice)
    choice.kept[(choice.first_kept + choice.count_kept) % ENTROPIES] = entropy
    choice.count_kept += 1


@inner
def take_kept(choice):
    """Take the entropy that has been kept longest; -1: there is none."""
    if choice.count_kept == 0:
        return NONE_KEPT
    entropy = int(choice.kept[choice.first_kept])
    choice.first_kept = (choice.first_kept + 1) % ENTROPIES
    choice.count_kept -= 1
    return entropy


@inner
def _choose(choice, entropies, row):
    entropy = take_kept(choice)
    return choose(next_random_out(row), entropies) if entropy == NONE_KEPT else entropy


@inner
def _learn(choice, entropies, entropy, news):
    if news == GOOD:
        keep(choice, entropy, MOST_KEPT)


reps = Balancing(
    title="REPS: entropies whose packets came without a mark are used again",
    in_order=False,
    pick=pick_by_entropy,
    by_host=True,
    choose=_choose,
    learn=_learn,
)

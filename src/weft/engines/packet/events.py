"""The next event: a winner tree with one leaf for each (link, kind of event).

Every entity has at most one pending event, so the tree never grows and an event can be moved
earlier in place. A key is time and leaf in one integer; equal times resolve by leaf number,
so the order is total and the same on every machine.
"""

import numpy as np
import numpy.typing as npt

from weft.kernel import inner

LEAF_BITS = 20
"""A million leaves (262,144 links); 42 bits remain for time: 4.4 s in picoseconds."""
LEAF_MASK = (1 << LEAF_BITS) - 1
NEVER = 1 << 62


def make_tree(leaves: int) -> npt.NDArray[np.int64]:
    """Make an empty tree; slot 0 holds the number of leaves, slot 1 the winner."""
    width = 2
    while width < leaves:
        width *= 2
    tree = np.full(2 * width, NEVER, np.int64)
    tree[0] = width
    return tree


@inner
def _set(tree, leaf, key):
    place = tree[0] + leaf
    tree[place] = key
    while place > 1:
        sibling = tree[place ^ 1]
        key = min(sibling, key)
        place >>= 1
        tree[place] = key


@inner
def schedule(tree, leaf, time):
    """Set the event of an idle leaf, or move it earlier."""
    key = (time << LEAF_BITS) | leaf
    place = tree[0] + leaf
    tree[place] = key
    while place > 1:
        place >>= 1
        if tree[place] <= key:
            break
        tree[place] = key


@inner
def replace_first(tree, time):
    """Give the leaf of the first event its next time."""
    leaf = tree[1] & LEAF_MASK
    _set(tree, leaf, (time << LEAF_BITS) | leaf)


@inner
def drop_first(tree):
    """Take the first event away."""
    _set(tree, tree[1] & LEAF_MASK, NEVER)

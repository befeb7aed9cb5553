"""The next event: a winner tree with one leaf for each (link, kind of event).

Every entity has at most one pending event, so the tree never grows and an event can be moved
earlier in place. A key is time and leaf in one integer; equal times resolve by leaf number,
so the order is total and the same on every machine.
"""

import numpy as np
import numpy.typing as npt

from weft.kernel import inner, prefetch

LEAF_BITS = 20
"""A million leaves (262,144 links); 42 bits remain for time: 4.4 s in picoseconds."""
LEAF_MASK = (1 << LEAF_BITS) - 1
NEVER = 1 << 62
DEEP = 13
"""From 2,048 links on the tables outgrow the nearest caches, and looking ahead pays."""
SOON_LEVEL, NEXT_LEVEL = 4, 2
"""The winner of one of 16 parts of the tree comes some 16 events from now; of 4, some 4."""


def make_tree(leaves: int) -> npt.NDArray[np.int64]:
    """Make an empty tree; slot 0 holds the number of leaves, slot 1 the winner."""
    width = 1 << SOON_LEVEL
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


@inner
def look_ahead(state, leaf):
    """Ask for what the events that come soon will read; on a large network half the time.

    The part of the tree that an event has just left holds the next winner of that part.
    """
    tree = state.tree
    depth = state.settings[0].tree_depth
    if depth < DEEP:
        return
    place = tree[0] + leaf
    soon = tree[place >> (depth - SOON_LEVEL)]
    if soon < NEVER:
        prefetch(state.links, (soon & LEAF_MASK) >> 2)
    key = tree[place >> (depth - NEXT_LEVEL)]
    if key < NEVER:
        link = state.links[(key & LEAF_MASK) >> 2]
        packet = link.data_head if key & 3 else link.wire_head
        prefetch(state.packets, max(packet, 0))

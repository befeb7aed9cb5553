"""The next event: a winner tree with one leaf for each (link, kind of event).

A node has four children, 4n to 4n + 3: half as many levels as with two, and what an update
compares at one of them lies in one cache line.

Every entity has at most one pending event, so the tree never grows and an event can be moved
earlier in place. A key is time, link and kind in one integer; equal times resolve by link and
kind, so the order is total and the same on every machine.

Where a leaf has its place is another matter: what happens in one part of the network (see
``parts``) has a subtree of its own, and while a part takes its turn nothing above the root of
its subtree is touched.
"""

import numpy as np
import numpy.typing as npt

from weft.kernel import inner

LEAF_BITS = 20
"""A million leaves (262,144 links); 42 bits remain for time: 4.4 s in picoseconds."""
LEAF_MASK = (1 << LEAF_BITS) - 1
NEVER = 1 << 62


def make_tree(slots: int) -> npt.NDArray[np.int64]:
    """Make an empty tree; slot 1 holds the winner."""
    return np.full(slots, NEVER, np.int64)


@inner
def schedule(state, link_id, kind, time):
    """Set the event of an idle leaf, or move it earlier."""
    tree = state.tree
    key = (time << LEAF_BITS) | (link_id * 4 + kind)
    place = np.int64(state.links[link_id].place[kind])
    tree[place] = key
    while place > 1:
        place >>= 2
        if tree[place] <= key:
            break
        tree[place] = key


@inner
def schedule_no_later(state, link_id, kind, time):
    """Set the event of a leaf, unless one that comes sooner is pending."""
    if (time << LEAF_BITS) < state.tree[state.links[link_id].place[kind]]:
        schedule(state, link_id, kind, time)


@inner
def replace(state, link_id, kind, time):
    """Give a leaf of the part whose turn it is its next time."""
    _set(state, link_id, kind, (time << LEAF_BITS) | (link_id * 4 + kind))


@inner
def drop(state, link_id, kind):
    """Take the event of a leaf of the part whose turn it is away."""
    _set(state, link_id, kind, NEVER)


@inner
def _set(state, link_id, kind, key):
    place = np.int64(state.links[link_id].place[kind])
    state.tree[place] = key
    _climb(state.tree, place, state.counts[0].root)


@inner
def _climb(tree, place, root):
    key = tree[place]
    while place > root:
        key = min(tree[place ^ 1], tree[place ^ 2], tree[place ^ 3], key)
        place >>= 2
        tree[place] = key


@inner
def part_of(state, key):
    """Return the part of the network in which an event happens."""
    leaf = key & LEAF_MASK
    return np.int64(state.links[leaf >> 2].part[min(leaf & 3, 1)])


@inner
def close_turn(state, root):
    """Tell the rest of the tree what the next event of a part is."""
    state.counts[0].root = 1
    _climb(state.tree, root, 1)
